"""
Extraction: a model finds the spans that constraints withhold (SD-RAG, III-C2).

"We always perform the extraction on the original": every block is asked about every
batch of constraints, and all prompts go out in one round trip. Whatever is not a
readable verdict on spans that stand in the text is doubt, and doubt withholds the
passages it concerns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.disclosure.blocks import Block, blocks
from sdrag.disclosure.prompts import extraction_prompt
from sdrag.disclosure.texts import Group
from sdrag.disclosure.verdicts import read_verdicts
from sdrag.errors import ModelTimeoutError
from sdrag.folding import fold
from sdrag.policy import DisclosureSection
from sdrag.prompts import Labelled, sensitive
from sdrag.spans import locate
from sdrag.steps import Failure, Outcome, Steps, complete, compute
from sdrag.vocabulary import Constraint, Finding, Span

__all__ = ["Extraction", "extract"]


@dataclass(frozen=True, slots=True)
class Extraction:
    """
    What the model found, by the text's place among all.

    Args:
        findings: Spans of the text's own characters.
        doubts: Why a constraint could not be judged on a text, as codes.
    """

    findings: Mapping[int, tuple[Finding, ...]]
    doubts: Mapping[tuple[int, str], str]


@dataclass(frozen=True, slots=True)
class _Question:
    """One prompt: a block of a group's texts and a batch of its constraints."""

    group: Group
    block: Block
    batch: tuple[Constraint, ...]

    def places(self) -> list[int]:
        return [self.group.places[index] for index in self.block.indices()]


@dataclass(slots=True)
class _Tally:
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    doubts: dict[tuple[int, str], str] = field(default_factory=dict)

    def doubt(self, question: _Question, names: Sequence[str], code: str) -> None:
        for place in question.places():
            for name in names:
                self.doubts[place, name] = code

    def find(self, question: _Question, name: str, spans: Sequence[Span]) -> None:
        for span in spans:
            for index, part in question.block.back(span):
                place = question.group.places[index]
                self.findings.setdefault(place, []).append(Finding(part, name, "model"))

    def add(self, other: _Tally) -> None:
        for place, found in other.findings.items():
            self.findings.setdefault(place, []).extend(found)
        self.doubts |= other.doubts


def extract(
    groups: Sequence[Group], section: DisclosureSection, key: bytes
) -> Steps[Extraction]:
    """
    Ask the model for the spans of every text under every constraint that holds for it.

    Args:
        groups: Unredacted texts with their constraints.
        section: Gives the token budget and the batch size.
        key: Of the prompts' marks.
    """
    size = section.batch_size
    questions = [
        _Question(group, block, group.constraints[start : start + size])
        for group in groups
        for block in blocks(group.texts, section.token_budget)
        for start in range(0, len(group.constraints), size)
    ]
    outcomes = yield from complete(
        extraction_prompt(sensitive(question.block.text), question.batch, key)
        for question in questions
    )
    readings = yield from compute(
        lambda pair: _read(*pair), zip(questions, outcomes, strict=True)
    )
    tally = _Tally()
    for question, reading in zip(questions, readings, strict=True):
        if isinstance(reading, Failure):
            tally.doubt(question, [rule.id for rule in question.batch], "unreadable")
        else:
            tally.add(reading.value)
    return Extraction(
        {place: tuple(found) for place, found in tally.findings.items()}, tally.doubts
    )


def _read(question: _Question, outcome: Outcome[Labelled]) -> _Tally:
    tally = _Tally()
    names = [constraint.id for constraint in question.batch]
    if isinstance(outcome, Failure):
        late = isinstance(outcome.error, ModelTimeoutError)
        tally.doubt(question, names, "model-timeout" if late else "model-failed")
        return tally
    verdicts = read_verdicts(outcome.value.text, names)
    tally.doubt(question, [n for n in names if n not in verdicts], "no-verdict")
    folded = fold(question.block.text)
    for name, quotations in verdicts.items():
        for quotation in quotations:
            spans = locate(quotation, folded)
            if not spans:
                tally.doubt(question, [name], "span-not-in-text")
            tally.find(question, name, spans)
    return tally
