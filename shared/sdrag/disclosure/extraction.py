"""
Extraction: a model finds the spans that constraints withhold (SD-RAG, III-C2).

"We always perform the extraction on the original": every block is asked about every
batch of constraints, and all prompts go out in one round trip. Whatever is not a
readable verdict on spans that are in the text is doubt. What a reply leaves in doubt
is asked again once, with what was wrong, for the constraints concerned alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdrag.disclosure.documents import Block, blocks
from sdrag.disclosure.extraction_prompt import extraction_prompt
from sdrag.disclosure.model_replies import read_verdicts
from sdrag.disclosure.texts import Group
from sdrag.effects.prompts import Labelled, sensitive
from sdrag.effects.steps import Failure, Outcome, Steps, complete, compute
from sdrag.errors import ModelTimeoutError
from sdrag.policy import DisclosureSection
from sdrag.text.folding import fold
from sdrag.text.spans import locate
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

__all__ = ["Extraction", "extract", "extract_again"]

_WRONG = {
    "no-verdict": "it was not JSON of that form, or left out a constraint",
    "span-not-in-text": "it quoted what does not stand in the text, letter by letter",
}


@dataclass(frozen=True, slots=True)
class Extraction:
    """
    What the model found, by the text's index among all.

    Args:
        findings: Spans of the text's own characters.
        doubts: Why a constraint could not be decided on a text, as codes.
        again: What a reply left in doubt, to be asked again.
    """

    findings: Mapping[int, tuple[Finding, ...]]
    doubts: Mapping[tuple[int, str], str]
    again: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Question(Confidential):
    """
    One prompt: a block of a group's texts and a batch of its constraints.

    Args:
        group: Of texts.
        block: Some of them.
        batch: Of the constraints that hold for them.
        wrong: What was wrong with the last reply.
    """

    group: Group
    block: Block
    batch: tuple[Constraint, ...]
    wrong: str = ""

    def text_indices(self) -> list[int]:
        """Return the indices of the texts it asks about."""
        return [self.group.text_indices[index] for index in self.block.indices()]

    def about(self, names: Collection[str], code: str) -> Question:
        """Return what is asked again, about some of the constraints."""
        left = tuple(rule for rule in self.batch if rule.id in names)
        return replace(self, batch=left, wrong=_WRONG[code])


@dataclass(slots=True)
class _Tally:
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    doubts: dict[tuple[int, str], str] = field(default_factory=dict)
    again: list[Question] = field(default_factory=list)

    def ask_again(self, question: Question, names: Sequence[str], code: str) -> None:
        if names:
            self.doubt(question, names, code)
            self.again.append(question.about(names, code))

    def doubt(self, question: Question, names: Sequence[str], code: str) -> None:
        for text_index in question.text_indices():
            for name in names:
                self.doubts[text_index, name] = code

    def find(self, question: Question, name: str, spans: Sequence[Span]) -> None:
        for span in spans:
            for index, part in question.block.back(span):
                text_index = question.group.text_indices[index]
                self.findings.setdefault(text_index, []).append(
                    Finding(part, name, "model")
                )

    def add(self, other: _Tally) -> None:
        for text_index, found in other.findings.items():
            self.findings.setdefault(text_index, []).extend(found)
        self.doubts |= other.doubts
        self.again += other.again


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
        Question(group, block, group.constraints[start : start + size])
        for group in groups
        for block in blocks(group.texts, section.token_budget)
        for start in range(0, len(group.constraints), size)
    ]
    return (yield from _asked(questions, key))


def extract_again(first: Extraction, key: bytes) -> Steps[Extraction]:
    """
    Ask again what replies left in doubt; what is in doubt then stays so.

    Args:
        first: What came of the first round; what it found is kept.
        key: Of the prompts' marks.
    """
    second = yield from _asked(first.again, key)
    asked = {
        (text_index, rule.id)
        for question in first.again
        for text_index in question.text_indices()
        for rule in question.batch
    }
    left = {pair: code for pair, code in first.doubts.items() if pair not in asked}
    text_indices = dict.fromkeys((*first.findings, *second.findings))
    return Extraction(
        {
            text_index: (
                *first.findings.get(text_index, ()),
                *second.findings.get(text_index, ()),
            )
            for text_index in text_indices
        },
        {**left, **second.doubts},
    )


def _asked(questions: Sequence[Question], key: bytes) -> Steps[Extraction]:
    outcomes = yield from complete(
        extraction_prompt(
            sensitive(question.block.text), question.batch, key, question.wrong
        )
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
        {text_index: tuple(found) for text_index, found in tally.findings.items()},
        tally.doubts,
        tuple(tally.again),
    )


def _read(question: Question, outcome: Outcome[Labelled]) -> _Tally:
    tally = _Tally()
    names = [constraint.id for constraint in question.batch]
    if isinstance(outcome, Failure):
        late = isinstance(outcome.error, ModelTimeoutError)
        tally.doubt(question, names, "model-timeout" if late else "model-failed")
        return tally
    verdicts = read_verdicts(outcome.value.text, names)
    tally.ask_again(question, [n for n in names if n not in verdicts], "no-verdict")
    folded = fold(question.block.text)
    astray = []
    for name, quotations in verdicts.items():
        for quotation in quotations:
            spans = locate(quotation, folded)
            if not spans and name not in astray:
                astray.append(name)
            tally.find(question, name, spans)
    tally.ask_again(question, astray, "span-not-in-text")
    return tally
