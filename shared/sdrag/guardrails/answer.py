"""
The guard after generation: what may be said of an answer, and what is left of it.

An answer passes, in this order: it is readable at all; its context was released to the
one it answers; it holds nothing that redaction withheld, and no guess of it; what it
affirms or denies of the question is in its context; nothing only an injection would
have put there; every claim is grounded; no passage contradicts it; every claim is
rightly cited; and where the policy wants it, it says how fresh its sources are.
Whatever cannot be checked is said to be unchecked: an answer has the status `checked`
only if every check that the policy asks for was made and passed.

What was located in a document is in its register as keyed hashes, which say nothing in
a dump. A released passage names its document by an opaque handle, and the constraints
that took something out of it. The answer is read for the forms that these withhold
there, as they are and as runs of words whatever separates them (`AnnaKarlsson`), and
decoded (base64, letters apart or of other scripts).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sdrag.detectors.generalise import generalise
from sdrag.effects.steps import Steps
from sdrag.guardrails import staleness
from sdrag.guardrails.answer_work import AnswerWork, Draft, Guarded, Status
from sdrag.guardrails.grounding.check import check_yes_or_no
from sdrag.guardrails.notices import sources
from sdrag.guardrails.results import evidence
from sdrag.guardrails.statements.claims import find_citations, is_wordless
from sdrag.placeholders import Placeholders
from sdrag.policy import GUARDS, Policy
from sdrag.state import State
from sdrag.state.keys import DOCUMENT_BYTES, PROCESS_KEYS
from sdrag.text.readings import readings
from sdrag.text.spans import SpanUnion, merge, splice, subtract
from sdrag.vocabulary import Passage, Principal, Span

MOST_CHARACTERS = 40_000
_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"\w[\w\u0300-\u036f\u00ad\u200b-\u200d]*(?:['\u2019-]\w+)*")
_SIGNS = re.compile(r"[%&\\{}=+#_@<>|~^$]")
_EDGES = ".,;:!?()[]*'\"\u2018\u2019\u201c\u201d \n"
_INITIALS = re.compile(r"(?:(?<!\w)[^\W\d_]\.[ \u00a0]?)+\Z")
_LONGEST_INITIALS = 12
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


def open_answer(
    draft: Draft,
    policy: Policy,
    placeholders: Placeholders,
    state: State | None,
    principal: Principal | None,
) -> AnswerWork | Guarded:
    """
    Begin to check an answer, as `sdrag.pipeline.check_answer` says.

    Returns:
        The work, with where the register knows what was withheld; or the refusal of
        what cannot be read, or was made from what was released to another.
    """
    draft = replace(draft, passages=sources(draft.passages))
    work = AnswerWork(draft, policy, placeholders, draft.answer)
    if _is_malformed(draft.answer):
        return work.decline("answer", "malformed")
    is_of_another, work.is_unchecked = _compare_audience(
        draft.passages, principal, state
    )
    if is_of_another:
        return work.decline("withheld", "other-audience")
    if state:
        found = _find_withheld(draft.passages, draft.answer, policy, state)
        work.withheld, is_known = found
        work.is_unchecked |= not is_known
    return work


def guard(work: AnswerWork, *, now: datetime) -> Steps[Guarded]:
    """Check an answer that was opened."""
    if refusal := _cut_withheld(work):
        return refusal
    if work.policy.rules and (refusal := (yield from check_yes_or_no(work))):
        return refusal
    for entry in GUARDS:
        section = entry.settings(work.policy)
        if entry.stage == "answer" and section is not None:
            refused: Guarded | None = yield from entry.load()(work, section)
            if refused:
                return refused
    return _finish(work, now)


def _is_malformed(answer: object) -> bool:
    """Say whether an answer is nothing that can be checked."""
    if not isinstance(answer, str) or is_wordless(answer):
        return True
    broken = (
        unicodedata.category(item) in {"Cc", "Cs", "Co"} and item not in "\n\r\t"
        for item in answer
    )
    return len(answer) > MOST_CHARACTERS or any(broken)


def _cut_withheld(work: AnswerWork) -> Guarded | None:
    """
    Cut what was withheld, and every guess of it, so that nothing tells them apart.

    What is no longer known of was not looked for.
    """
    text, disclosure = work.text, work.policy.disclosure
    cited = SpanUnion(_find_known_citations(work))
    spans = [span for span in work.withheld if not cited.contains(span)]
    standing = work.placeholders.find(text)
    spans = [part for span in spans for part in subtract(span, standing)]
    if spans:
        if disclosure.on_guess == "decline":
            return work.decline("withheld", "not-in-context")
        cuts = _widen(text, merge(spans))
        work.text = splice(text, cuts, lambda _: disclosure.mark)
        work.note("withheld", "not-in-context", "redacted", len(cuts))
    if work.is_unchecked:
        work.note("withheld", "unchecked", "flagged")
    return None


def _find_withheld(
    passages: Sequence[Passage], answer: str, policy: Policy, state: State
) -> tuple[tuple[Span, ...], bool]:
    """
    Return where an answer holds a form that was withheld from its passages.

    Returns:
        The spans, and whether it is known of each passage what was cut out of it. It
        is not where the state knows nothing of the document, where the policy has not
        got the constraint, or in other words, and where it leaves the evidence out.
    """
    cut = list(_cut(passages))
    registers = state.findings.registers({handle for handle, _ in cut})
    hiding: dict[bytes, set[bytes]] = {}
    is_known = not (passages and policy.metadata.evidence is None and policy.rules)
    for handle, names in cut:
        rules, recorded = _rules(names, policy, state), set(registers[handle].rules())
        is_known = is_known and rules is not None and rules <= recorded
        hiding.setdefault(handle, set()).update(recorded if rules is None else rules)
    read = readings(answer)
    coarse = {state.keys.rule(rule): rule.instead for rule in policy.rules}
    spans = {
        span
        for handle, register in registers.items()
        for rules, span in register.find_forms(read, loose=True)
        if any(
            generalise(span.of(answer), coarse.get(rule, ())) != span.of(answer)
            for rule in hiding[handle].intersection(rules)
        )
    }
    return tuple(sorted(spans)), is_known


def _compare_audience(
    passages: Iterable[Passage], principal: Principal | None, state: State | None
) -> tuple[bool, bool]:
    """Say if passages were released for another principal, and if that is not known."""
    wanted = (state.shared_keys if state else PROCESS_KEYS).audience(principal)
    tags = {str(tag) for item in passages if (tag := evidence(item).get("audience"))}
    others = {tag for tag in tags if tag[:4] != wanted[:4]}  # under another key
    return any(tag != wanted for tag in tags - others), bool(others)


def _rules(names: Iterable[str], policy: Policy, state: State) -> set[bytes] | None:
    """Return the keys of constraints; none, where the policy lacks one."""
    known = {rule.id: state.keys.rule(rule) for rule in policy.rules}
    return {known[name] for name in names} if set(names) <= set(known) else None


def _cut(passages: Iterable[Passage]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield the handle of each passage that says it was cut, and by what."""
    for passage in passages:
        facts = evidence(passage)
        if facts.get("spans") or "document" in facts:
            yield _handle(facts.get("document")), list(facts.get("constraints") or ())


def _handle(value: object) -> bytes:
    """Read a handle; what is none is one that nothing is known of."""
    try:
        handle = bytes.fromhex(str(value))
    except ValueError:
        return b""
    return handle if len(handle) == DOCUMENT_BYTES else b""


def _find_known_citations(work: AnswerWork) -> list[Span]:
    """Return the citations of an answer that hold the number or id of a passage."""
    ids = {passage.id for passage in work.draft.passages}
    ids |= {str(number) for number in range(1, len(work.draft.passages) + 1)}
    marks = find_citations(work.text, work.placeholders, ids)
    return [mark for mark in marks if mark.of(work.text)[1:-1].strip() in ids]


def _widen(text: str, spans: Sequence[Span]) -> list[Span]:
    """
    Widen cuts to whole words or codes and their initials, and join neighbours.

    Where a cut begins and ends would tell what was known from what was guessed.
    """
    units = list(_units(text))
    joined: list[Span] = []
    for span in spans:
        start, end = span.start, span.end
        first = bisect_right(units, start, key=lambda unit: unit.end)
        last = bisect_left(units, end, key=lambda unit: unit.start)
        if first < last:
            start = min(start, units[first].start)
            end = max(end, units[last - 1].end)
        cut = text[start:end]
        start += len(cut) - len(cut.lstrip(_EDGES))
        end -= len(cut) - len(cut.rstrip(_EDGES))
        before = _INITIALS.search(text, max(0, start - _LONGEST_INITIALS), start)
        start = before.start() if before else start
        if joined and not any(map(str.isalnum, text[joined[-1].end : start])):
            start = joined.pop().start
        if start < end:
            joined.append(Span(start, end))
    return joined


def _units(text: str) -> Iterator[Span]:
    """Yield the words of a text, and whole what has signs in it, as codes have."""
    for chunk in _CHUNK.finditer(text):
        if _SIGNS.search(chunk.group()):
            yield Span(*chunk.span())
        else:
            for word in _WORD.finditer(text, *chunk.span()):
                yield Span(*word.span())


def _finish(work: AnswerWork, now: datetime) -> Guarded:
    """Write the annotations, drop what is to be dropped, add the date."""
    annotated: dict[Span, str] = {}
    for index, note in work.annotations.items():
        span = work.claims[index].span
        kept = "" if index in work.dropped else f"{span.of(work.text)} [{note}]"
        annotated[span] = kept
    text = splice(work.text, annotated, annotated.__getitem__).strip()
    if work.dropped:
        text = _GAP.sub(" ", text)
    actions = {decision.action for decision in work.decisions}
    is_changed = annotated or not actions.isdisjoint({"flagged", "redacted"})
    if work.policy.staleness and work.draft.passages:
        section = work.policy.staleness
        fresh = staleness.disclaimer(work.sources_used(), section, now=now)
        text = f"{text}\n\n{fresh}" if fresh else text
    status: Status = "annotated" if is_changed else "checked"
    if not is_changed:
        work.note("answer", "checked", "released")
    return work.conclude(text, status)
