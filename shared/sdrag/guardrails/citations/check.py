"""
Citations: an answer says where it has each claim from, and says it rightly.

The source's four checks. Presence: every claim has a citation. Validity: what is cited
was retrieved. Accuracy: the cited passage supports the claim. Completeness: a passage
that contradicts the claim is cited too, or one that supports it where none is. Marks
are `[1]`, by the passage's place, or `[doc-id]`. What a claim has in quotation marks is
accurate where a cited passage has it word for word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, CitationFault, Guarded
from sdrag.guardrails.citations import CitationsSection
from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions.check import find_contradicted
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.grounding.check import supports
from sdrag.guardrails.statements.claims import Claim, find_quotations, is_quoted_from
from sdrag.vocabulary import Passage

RULE = "citations"

Cited = list[list[int | None]]
"""The places of the passages that each claim cites; None for what is invented."""

_INSTRUCTIONS = {
    "number": "After each factual statement, cite the numbers of the sources that"
    " support it in square brackets, such as [1] or [2][3].",
    "id": "After each factual statement, cite the ids of the sources that support it in"
    " square brackets, such as [source-id]. The id of a source stands after its number"
    " in its first line: [[BEGIN SOURCE number source-id code]].",
}
_RULES = (
    " Cite only sources you were given. Where sources disagree, cite both. If no source"
    " supports a statement, leave it out."
)
_NUMBERS = re.compile(
    r"(?:(?:source|doc|document|passage|ref|reference)s?[ .:#]*)?[#^]?(\d{1,4})"
    r"(?: ?[-\u2013] ?(\d{1,4}))?",
    re.IGNORECASE,
)
_GENERIC = re.compile(r"source|L?\d[\dL-]*")
_MOST_IN_RANGE = 20


def instruction(section: CitationsSection) -> str:
    """Word what the prompt asks for, in the policy's format."""
    return _INSTRUCTIONS[section.format] + _RULES


def at_answer(work: AnswerWork, section: CitationsSection) -> Steps[Guarded | None]:
    """Mark the claims whose citations are missing or wrong, or decline."""
    if not work.claims:
        return None
    cited = find_cited_places(work.claims, work.draft.passages, section)
    work.faults = yield from _find_faults(work, cited, section)
    work.cited = frozenset(
        place for places in cited for place in places if place is not None
    )
    for fault in work.faults:
        reason = f"{fault.fault}-unchecked" if fault.unchecked else fault.fault
        work.note(RULE, reason)
        work.annotations.setdefault(fault.claim, f"citation: {reason}")
    if work.faults and section.action == "decline":
        return work.decline(RULE, work.faults[0].fault)
    return None


def find_cited_places(
    claims: Sequence[Claim], passages: Sequence[Passage], section: CitationsSection
) -> Cited:
    """Return the places of the passages that each claim cites."""
    names = [  # `[1, 2]` and `[1; 2]` are two citations
        [name.strip() for mark in claim.citations for name in re.split("[,;]", mark)]
        for claim in claims
    ]
    if section.format == "number":
        count = len(passages)
        return [
            [place for name in item for place in _read_numbers(name, count)]
            for item in names
        ]
    places = {passage.id: index for index, passage in enumerate(passages)}
    return [[places.get(_read_label(name)) for name in item] for item in names]


def _read_numbers(name: str, count: int) -> list[int | None]:
    """Read `1`, `Source 1`, `1-3` and `4:1\u2020source`; None for what is invented."""
    left, dagger, _ = name.partition("\u2020")
    match = _NUMBERS.fullmatch(left.rpartition(":")[2].strip() if dagger else left)
    if match is None:
        return [None]
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= count or last - first > _MOST_IN_RANGE:
        return [None]
    return list(range(first - 1, last))


def _read_label(name: str) -> str:
    """Return the id in `4:1\u2020id`, or all of it."""
    left, _, label = name.partition("\u2020")
    return left if not label or _GENERIC.fullmatch(label) else label


def _find_faults(
    work: AnswerWork, cited: Cited, section: CitationsSection
) -> Steps[tuple[CitationFault, ...]]:
    faults: list[CitationFault] = []
    for index, places in enumerate(cited):
        if not places:
            faults.append(CitationFault(index, "presence"))
        elif None in places:
            faults.append(CitationFault(index, "validity"))
    if "accuracy" in section.require:
        faults += yield from _inaccurate(work, cited, section)
    if "completeness" in section.require:
        faults += yield from _incomplete(work, cited, section)
    return tuple(fault for fault in faults if fault.fault in section.require)


def _inaccurate(
    work: AnswerWork, cited: Cited, section: CitationsSection
) -> Steps[list[CitationFault]]:
    """Judge each claim against the passages it cites, and nothing else."""
    judge = work.policy.grounding or GroundingSection()
    faults = []
    for index, places in enumerate(cited):
        known = [work.draft.passages[place] for place in places if place is not None]
        if not known and (not places or "validity" in section.require):
            continue
        claim = work.claims[index]
        if not _quotes_truly(claim.text, known):
            faults.append(CitationFault(index, "accuracy"))
            continue
        (support,) = yield from supports([claim], known, judge)
        if support.score is None or support.score < section.threshold:
            faults.append(CitationFault(index, "accuracy", support.score is None))
    return faults


def _quotes_truly(claim: str, passages: Sequence[Passage]) -> bool:
    """Say whether the cited passages have every quotation of a claim word for word."""
    texts = [passage.text for passage in passages]
    return all(is_quoted_from(span.of(claim), texts) for span in find_quotations(claim))


def _incomplete(
    work: AnswerWork, cited: Cited, section: CitationsSection
) -> Steps[list[CitationFault]]:
    """Return claims without a citation that a passage supports, or contradicts."""
    passages = work.draft.passages
    judge = work.policy.grounding or GroundingSection()
    bare = [index for index, places in enumerate(cited) if not places]
    claims = [work.claims[index] for index in bare]
    judged = yield from supports(claims, passages, judge)
    faults = [
        CitationFault(index, "completeness", support.score is None)
        for index, support in zip(bare, judged, strict=True)
        if support.score is None or support.score >= section.threshold
    ]
    conflicts = work.conflicts
    if work.policy.contradictions is None:
        texts = [claim.text for claim in work.claims]
        rules = ContradictionsSection()
        conflicts = yield from find_contradicted(texts, passages, rules)
    return faults + [
        CitationFault(conflict.right, "completeness", conflict.reason == "unchecked")
        for conflict in conflicts
        if conflict.left not in cited[conflict.right]
    ]
