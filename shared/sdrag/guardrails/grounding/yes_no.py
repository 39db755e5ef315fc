"""
Yes/no answers: what they affirm or deny of the question.

*Yes, he did* holds nothing that a passage could support or a constraint could hide. The
statement stands in the question, and a user who asks twenty of them about a hidden
sum knows it. So such an answer is judged by its question's statement.
"""

from __future__ import annotations

import re

from sdrag.guardrails.statements.polarity import is_denied
from sdrag.guardrails.statements.words import (
    content_words,
    is_among,
    read_tokens,
    word_set,
)
from sdrag.text.sentences import sentences
from sdrag.text.stemming import stem

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
    asked = content_words(question)
    words = set(content_words(claim)) - _SAYS_SO
    return not all(is_among(word, asked) for word in words)
