"""
Citations: an answer says where it has each claim from, and says it rightly.

The source's four checks. Presence: every claim has a citation. Validity: what is cited
was retrieved. Accuracy: the cited passage supports the claim. Completeness: a passage
that contradicts the claim is cited too, or one that supports it where none is. Marks
are `[1]`, by the passage's place, `[doc-id]`, or data next to the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, Guarded
from sdrag.guardrails.claims import Claim
from sdrag.guardrails.contradictions import Conflict, find_contradicted
from sdrag.guardrails.grounding import supports
from sdrag.policy import CitationsSection, ContradictionsSection, GroundingSection
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Passage

RULE = "citations"

Fault = Literal["presence", "validity", "accuracy", "completeness"]

_INSTRUCTIONS = {
    "number": "After each factual statement, cite the numbers of the sources that"
    " support it in square brackets, such as [1] or [2][3].",
    "id": "After each factual statement, cite the ids of the sources that support it in"
    " square brackets, such as [source-id]. The id of a source stands after its number"
    " in its first line: [[BEGIN SOURCE number source-id code]].",
    "structured": 'Answer with a JSON object: {"answer": "...", "citations": [{"quote":'
    ' "the statement of your answer, word for word", "source": "the id of the source'
    ' that supports it"}]}. The id of a source stands after its number in its first'
    " line: [[BEGIN SOURCE number id code]].",
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


@dataclass(frozen=True, slots=True)
class CitationFault:
    """
    What is wrong with a claim's citations.

    Args:
        claim: The claim's place.
        fault: Which check it fails.
        unchecked: The check could not be made, which is no better.
    """

    claim: int
    fault: Fault
    unchecked: bool = False


def instruction(section: CitationsSection) -> str:
    """Word what the prompt asks for, in the policy's format."""
    return _INSTRUCTIONS[section.format] + _RULES


def structured(citations: object, found: Sequence[Claim]) -> list[list[str]] | None:
    """
    Sort citations that came as data by the claim whose words they quote.

    Args:
        citations: A list of mappings of `quote` and `source`.
        found: The answer's claims.

    Returns:
        The sources cited for each claim, or None where the data is malformed.
    """
    if not isinstance(citations, Sequence) or isinstance(citations, str):
        return None
    cited: list[list[str]] = [[] for _ in found]
    texts = [fold_text(claim.text) for claim in found]
    for entry in citations:
        if not isinstance(entry, Mapping):
            return None
        quote, source = entry.get("quote"), entry.get("source")
        if not isinstance(quote, str) or not isinstance(source, (str, int)):
            return None
        words = fold_text(quote).rstrip(".")
        for index, text in enumerate(texts):
            if _quotes(words, text.rstrip(".")):
                cited[index].append(str(source))
    return cited


def _quotes(words: str, text: str) -> bool:
    """Say whether words hold a claim, or most of it; a scrap of it quotes nothing."""
    return bool(text) and (
        text in words or (words in text and 2 * len(words) >= len(text))
    )


def check(
    found: Sequence[Claim],
    passages: Sequence[Passage],
    section: CitationsSection,
    *,
    judge: GroundingSection,
    conflicts: Sequence[Conflict] = (),
    data: Any = None,
) -> Steps[tuple[CitationFault, ...]]:
    """
    Check the citations of every claim.

    Args:
        found: The answer's claims.
        passages: What it was made from, in the order of their numbers.
        section: The format, and the checks that count.
        judge: How support is judged.
        conflicts: Between passages (`left`) and claims (`right`).
        data: The citations, where their format is `structured`.
    """
    cited = cited_places(found, passages, section, data)
    faults: list[CitationFault] = []
    for index, names in enumerate(cited):
        if not names:
            faults.append(CitationFault(index, "presence"))
        elif None in names:
            faults.append(CitationFault(index, "validity"))
    faults += yield from _inaccurate(found, passages, cited, section, judge)
    faults += yield from _uncited(found, passages, cited, section, judge)
    faults += [
        CitationFault(conflict.right, "completeness", conflict.reason == "unchecked")
        for conflict in conflicts
        if conflict.left not in cited[conflict.right]
    ]
    return tuple(fault for fault in faults if fault.fault in section.require)


def cited_places(
    found: Sequence[Claim],
    passages: Sequence[Passage],
    section: CitationsSection,
    data: Any,
) -> list[list[int | None]]:
    """Return the places of the passages each claim cites; None for what is invented."""
    if section.format == "structured":
        named = structured(data, found)
        if named is None:
            return [[None] for _ in found]
    else:
        named = [_split(claim.marks) for claim in found]
    places = {passage.id: index for index, passage in enumerate(passages)}
    if section.format == "number":
        return [
            [place for name in item for place in _numbered(name, len(passages))]
            for item in named
        ]
    return [[places.get(_labelled(name)) for name in item] for item in named]


def _split(marks: Sequence[str]) -> list[str]:
    """Take `[1, 2]` and `[1; 2]` for two citations."""
    return [name.strip() for mark in marks for name in re.split(r"[,;]", mark)]


def _numbered(name: str, count: int) -> list[int | None]:
    """Read `1`, `Source 1`, `1-3` and `4:1\u2020source`; None for what is invented."""
    left, dagger, _ = name.partition("\u2020")
    match = _NUMBERS.fullmatch(left.rpartition(":")[2].strip() if dagger else left)
    if match is None:
        return [None]
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= count or last - first > _MOST_IN_RANGE:
        return [None]
    return list(range(first - 1, last))


def _labelled(name: str) -> str:
    """Return the id in `4:1\u2020id`, or all of it."""
    left, _, label = name.partition("\u2020")
    return left if not label or _GENERIC.fullmatch(label) else label


def _inaccurate(
    found: Sequence[Claim],
    passages: Sequence[Passage],
    cited: Sequence[Sequence[int | None]],
    section: CitationsSection,
    judge: GroundingSection,
) -> Steps[list[CitationFault]]:
    """Judge each claim against the passages it cites, and nothing else."""
    if "accuracy" not in section.require:
        return []
    faults = []
    for index, names in enumerate(cited):
        known = [passages[name] for name in names if name is not None]
        if not known and (not names or "validity" in section.require):
            continue
        (support,) = yield from supports([found[index]], known, judge)
        if support.score is None or support.score < section.threshold:
            faults.append(CitationFault(index, "accuracy", support.score is None))
    return faults


def _uncited(
    found: Sequence[Claim],
    passages: Sequence[Passage],
    cited: Sequence[Sequence[int | None]],
    section: CitationsSection,
    judge: GroundingSection,
) -> Steps[list[CitationFault]]:
    """Return the claims without a citation that a passage supports."""
    if "completeness" not in section.require:
        return []
    bare = [index for index, names in enumerate(cited) if not names]
    judged = yield from supports([found[index] for index in bare], passages, judge)
    return [
        CitationFault(index, "completeness", support.score is None)
        for index, support in zip(bare, judged, strict=True)
        if support.score is None or support.score >= section.threshold
    ]


def at_answer(work: AnswerWork, section: CitationsSection) -> Steps[Guarded | None]:
    """Mark the claims whose citations are missing or wrong, or decline."""
    if section.format == "structured" and work.draft.citations is None:
        work.note(RULE, "malformed", "flagged")
    if not work.claims:
        return None
    conflicts = work.conflicts
    if "completeness" in section.require and work.policy.contradictions is None:
        texts = [claim.text for claim in work.claims]
        rules = ContradictionsSection()
        conflicts = yield from find_contradicted(texts, work.draft.passages, rules)
    faults = yield from check(
        work.claims,
        work.draft.passages,
        section,
        judge=work.policy.grounding or GroundingSection(),
        conflicts=conflicts,
        data=work.draft.citations,
    )
    work.faults = faults
    cited = cited_places(
        work.claims, work.draft.passages, section, work.draft.citations
    )
    work.cited = frozenset(
        place for places in cited for place in places if place is not None
    )
    for fault in faults:
        reason = f"{fault.fault}-unchecked" if fault.unchecked else fault.fault
        work.note(RULE, reason)
        work.marks.setdefault(fault.claim, f"citation: {reason}")
    if faults and section.action == "decline":
        return work.decline(RULE, faults[0].fault)
    return None
