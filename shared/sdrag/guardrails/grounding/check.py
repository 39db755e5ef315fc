"""
Groundedness: each claim of an answer against the passages it was made from.

A claim that is not supported is a hallucination until shown otherwise. The evidence is
kept with each claim: which passages, which sentences, how sure. A claim that could not
be checked counts as unsupported, with a code of its own.

*Yes, he did* holds nothing that a passage could support or a constraint could hide: the
statement stands in the question. So a yes or a no is judged by what it affirms or
denies of the question. Under constraints it is declined where the released text does
not support that, whatever the policy says of other claims: hidden values are never
consulted, so another one gives the same answer or is declined too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, ClaimSupport, Draft, Guarded
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.statements.claims import Claim, claims
from sdrag.guardrails.statements.judging import ask
from sdrag.guardrails.statements.polarity import is_denied
from sdrag.guardrails.statements.words import content_words, read_tokens
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy
from sdrag.text import word_set
from sdrag.text.sentences import sentences
from sdrag.text.stemming import stem
from sdrag.vocabulary import Passage, Span

RULE = "grounding"

_MOST_NOVEL = 0.6
_CERTAIN = frozenset({"missing", "figures", "bounds", "names"})
_MOST_EVIDENCE = 2_000
"""Characters of each passage that a judge reads at once."""


def supports(
    claims: Sequence[Claim], passages: Sequence[Passage], section: GroundingSection
) -> Steps[list[ClaimSupport]]:
    """Judge claims against the passages."""
    if not claims or not passages:
        return [ClaimSupport(claim, 0.0) for claim in claims]
    if section.method == "local":
        return _locally(claims, passages)
    pairs = [
        (passage.text[:_MOST_EVIDENCE], claim.text)
        for claim in claims
        for passage in passages
    ]
    values = yield from ask(pairs, "entailment", section.method)
    width = len(passages)
    return [
        _best(claim, passages, values[at * width : (at + 1) * width], section)
        for at, claim in enumerate(claims)
    ]


def _best(
    claim: Claim,
    passages: Sequence[Passage],
    values: Sequence[float | None],
    section: GroundingSection,
) -> ClaimSupport:
    """Take the best passage; a yes counts even where another judgment is missing."""
    known = [
        (value, passage.id)
        for value, passage in zip(values, passages, strict=True)
        if value is not None
    ]
    best = max((value for value, _ in known), default=None)
    if best is None or (best < section.threshold and len(known) < len(passages)):
        return ClaimSupport(claim, None)
    ranked = sorted(known, reverse=True)
    ids = tuple(name for value, name in ranked if value >= section.threshold)
    return ClaimSupport(claim, best, ids)


def _locally(
    claims: Sequence[Claim], passages: Sequence[Passage]
) -> list[ClaimSupport]:
    """Score each claim against the sentences of all passages together."""
    try:
        from sdrag.guardrails.grounding.support import support_each  # noqa: PLC0415 -- numpy

        evidence = [
            (passage.id, span.of(passage.text))
            for passage in passages
            for span in sentences(passage.text)
        ]
        supported = support_each(
            [claim.text for claim in claims], [sentence for _, sentence in evidence]
        )
    except Exception:  # noqa: BLE001 -- what could not be judged has no score
        return [ClaimSupport(claim, None) for claim in claims]
    return [
        ClaimSupport(
            claim,
            support.score,
            tuple(dict.fromkeys(evidence[at][0] for at in support.sentences)),
            support.novelty,
            support.faults,
        )
        for claim, support in zip(claims, supported, strict=True)
    ]


def at_answer(work: AnswerWork, section: GroundingSection) -> Steps[Guarded | None]:
    """Mark or drop the claims that no passage supports."""
    if not work.claims:
        return None
    if len(work.claims) > section.max_claims:
        return work.decline(RULE, "too-many-claims")
    parts = [split_claim(work.draft.question, claim.text) for claim in work.claims]
    read = [
        replace(claim, text=text)
        for claim, texts in zip(work.claims, parts, strict=True)
        for text in texts
    ]
    judged = iter((yield from supports(read, work.draft.passages, section)))
    work.supports = tuple(
        replace(min(islice(judged, len(texts)), key=_least), claim=claim)
        for claim, texts in zip(work.claims, parts, strict=True)
    )
    for index, support in enumerate(work.supports):
        if support.score is not None and support.score >= section.threshold:
            continue
        reason = "unchecked" if support.score is None else "unsupported"
        work.note(RULE, reason)
        if section.action == "drop":
            work.dropped.add(index)
        work.annotations.setdefault(index, reason)
    if section.action == "decline" and work.annotations:
        return work.decline(RULE, "unsupported")
    if work.dropped and len(work.dropped) == len(work.claims):
        return work.decline(RULE, "nothing-left")
    return None


def _least(support: ClaimSupport) -> float:
    return -1.0 if support.score is None else support.score


def find_unsupported(
    draft: Draft, policy: Policy, placeholders: Placeholders
) -> Steps[str]:
    """
    Say why a summary is not supported by what it was made of; nothing, if it is.

    All of it is in its few sentences, so the local scorer takes a word that is far from
    each of theirs for invented. It takes many a paraphrase for that, so where the
    policy names no method, the model is asked about what the scorer doubts. A figure,
    a bound or a name that is not there is no matter of doubt. Nor is what a yes or a no
    affirms: it is in the asker's words, which could tell the model what to say.
    """
    section = policy.grounding or GroundingSection()
    found = _read_claims(draft.answer, placeholders)
    if len(found) > section.max_claims:
        return "unsupported"
    read = [
        replace(claim, text=text)
        for claim in found
        for text in split_claim(draft.question, claim.text)
    ]
    own, doubted = "\n".join(claim.text for claim in found), []
    for support in (yield from supports(read, draft.passages, section)):
        if support.score is None:
            return "unchecked"
        if support.score < section.threshold or support.novelty > _MOST_NOVEL:
            doubted.append(support)
    if any(
        policy.grounding or _CERTAIN & {*each.faults} or each.claim.text not in own
        for each in doubted
    ):
        return "unsupported"
    whole = Passage("highlights", "\n".join(each.text for each in draft.passages))
    asked = [support.claim for support in doubted]
    confirmed = yield from supports(asked, [whole], GroundingSection(method="llm"))
    is_confirmed = all(_least(each) >= section.threshold for each in confirmed)
    return "" if is_confirmed else "unsupported"


def _read_claims(answer: str, placeholders: Placeholders) -> tuple[Claim, ...]:
    """Return the claims of an answer; a bare yes or no is one."""
    whole = Claim(Span(0, len(answer)), answer, ())
    found = claims(answer, placeholders=placeholders)
    return found or ((whole,) if is_bare_verdict(answer) else ())


def check_yes_or_no(work: AnswerWork) -> Steps[Guarded | None]:
    """
    Decline a yes or a no that the released text does not support.

    No yes or no to a question that asks for what is withheld can be supported, and
    other answers may be about somebody else.
    """
    question, answer = work.draft.question, work.draft.answer
    answered = _read_claims(answer, work.placeholders)
    statements = {
        text: replace(claim, text=text)
        for claim in answered
        for text in find_affirmed(question, claim.text)
    }
    if answered and work.asks_for_withheld:
        declines = work.policy.disclosure.on_guess == "decline"
        if statements or propositions(question) or declines:
            return work.decline("withheld", "not-in-context")
        work.note("withheld", "not-in-context", "flagged")
    section = work.policy.grounding or GroundingSection()
    judged = [*statements.values()]
    for support in (yield from supports(judged, work.draft.passages, section)):
        if support.score is None:
            return work.decline("withheld", "unchecked")
        if support.score < section.threshold:
            return work.decline("withheld", "unsupported")
    return None


_VERDICT = re.compile(
    r"\W*(?:yes|yeah|yep|yup|aye|no|nope|nay|correct|incorrect|right|wrong|true|false"
    r"|indeed|sure|surely|certainly|absolutely|definitely|exactly|precisely|affirmative"
    r"|negative|confirmed|agreed|likely|unlikely|probably|possibly|never|ok|okay"
    r"|of course|not at all|by no means|no way)\b(?! (?:one|man|body)\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\W*(?:no|nope|nay|incorrect|wrong|false|negative|unlikely|never|not at all"
    r"|by no means)\b",
    re.IGNORECASE,
)
_SAYS_SO = frozenset(
    stem(word)
    for word in word_set(
        "yes no correct incorrect right wrong true false indeed sure certain certainly"
        " absolutely definitely exactly precisely affirmative negative confirm"
        " answer statement claim say know think believe case"
    )
)
"""Stems of words that point at a statement and add nothing to it."""
_AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should"
    r"|may|might|must|won)(?:n?['\u2019]?t)?"
)
_LEAD = r"\W*(?:(?:and|but|so|or|then|also|please|ok|okay|now|well|tell me)\W+){0,3}"
_POLAR = re.compile(
    rf"{_LEAD}{_AUXILIARY}\s++(?!(?:you|we|i)\b)(.+)", re.IGNORECASE | re.DOTALL
)
_WHETHER = re.compile(r"\b(?:whether|if)\s++(.+)", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(
    rf"{_LEAD}(?:who|whom|whose|what|which|when|where|why|how|{_AUXILIARY})\b",
    re.IGNORECASE,
)


def is_bare_verdict(answer: str) -> bool:
    """Say whether an answer is a yes or a no and nothing else, such as *Of course!*."""
    verdict = _VERDICT.match(answer)
    return verdict is not None and not content_words(answer[verdict.end() :])


def propositions(question: str) -> list[str]:
    """Return what a question wants a yes or a no to; the whole, if it says *that*."""
    asked = []
    for span in sentences(question):
        sentence = span.of(question).strip().rstrip("?!. ")
        if match := _WHETHER.search(sentence) or _POLAR.match(sentence):
            asked.append(match[1])
        elif span.of(question).rstrip().endswith("?") and not _OPEN.match(sentence):
            asked.append(sentence)
    if any(_SAYS_SO.issuperset(content_words(text)) for text in asked):
        return [question]
    return asked


def find_affirmed(question: str, claim: str) -> list[str]:
    """
    Return what a claim affirms of its question, or denies with a *not*.

    Nothing, where the claim has words of its own and begins with no yes or no.
    """
    verdict, adds = _VERDICT.match(claim), _adds(question, claim)
    if adds and not verdict:
        return []
    asked = propositions(question)
    if not asked:
        return [] if adds else [f"{claim} {_OPEN.sub('', question)}"]
    if not verdict and content_words(claim) and " or " in question:
        return [claim]
    rest = claim[verdict.end() :] if verdict else claim
    denied = _DENIAL.match(claim) or is_denied(read_tokens([rest]))
    return [f"not {text}" if denied else text for text in asked]


def split_claim(question: str, claim: str) -> list[str]:
    """Return what a claim affirms of its question, and what it adds to that."""
    statements = find_affirmed(question, claim)
    if not statements:
        return [claim]
    verdict = _VERDICT.match(claim)
    rest = claim[verdict.end() :].strip(" ,.;:") if verdict else claim
    return [*statements, rest] if _adds(question, claim) else statements


def _adds(question: str, claim: str) -> bool:
    """Say whether a claim has words that its question has not."""
    words = set(content_words(claim)) - _SAYS_SO
    return not words <= set(content_words(question))
