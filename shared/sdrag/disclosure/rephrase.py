"""
Periphrastic redaction, verified (SD-RAG, section III-C2).

"To perform periphrastic redaction on a text, we iteratively rephrase it according to
each batch of constraints, and reassign it after each iteration." So there are as many
round trips as batches; blocks go side by side. The paper trusts the rephrasing. Here
whoever calls cuts out of it what the extractive operator found in the original and
what survives. A block that failed is in doubt, and doubt withholds.

A reply that keeps the marks of its passages, each once and in order, is given back per
passage; any other becomes one text that stands for all passages of its block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sdrag.disclosure.blocks import Block, blocks
from sdrag.disclosure.rephrase_prompt import passage_mark, rephrasing_prompt
from sdrag.engine.prompts import Labelled, sensitive
from sdrag.engine.steps import Failure, Outcome, Steps, complete
from sdrag.errors import ModelTimeoutError
from sdrag.policy import DisclosureSection
from sdrag.vocabulary import Confidential, Constraint, Passage

__all__ = ["Rephrased", "Source", "rephrase"]

_OUTER = re.compile(r"^==[0-9a-f]{16}==[ \t]*$", re.MULTILINE)
_MOST = 4
"""A reply longer than so many times its text is no rephrasing of it."""
_SPARE = 500


@dataclass(frozen=True, slots=True, repr=False)
class Source(Confidential):
    """Passages that the same constraints ask to rephrase, and their places."""

    places: tuple[int, ...]
    texts: tuple[Passage, ...]
    constraints: tuple[Constraint, ...]


@dataclass(slots=True)
class Rephrased(Confidential):
    """
    What came back, by the passages' places.

    Args:
        texts: The new texts.
        merged: Passages whose content stands in another one's text, and which.
        doubts: Why a constraint could not be enforced on a passage, as codes.
    """

    texts: dict[int, str] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    doubts: dict[tuple[int, str], str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Rephrased({len(self.texts)} texts)"


@dataclass(slots=True, repr=False)
class _Job(Confidential):
    """A block on its way through the batches."""

    source: Source
    block: Block
    marks: tuple[str, ...]
    text: Labelled
    doubt: str = ""

    def places(self) -> list[int]:
        return [self.source.places[index] for index in self.block.indices()]


def rephrase(
    sources: Sequence[Source],
    section: DisclosureSection,
    key: bytes,
) -> Steps[Rephrased]:
    """
    Say texts again without what their constraints protect.

    Args:
        sources: Texts in which other methods have done their work already.
        section: Gives the token budget and the batch size.
        key: Of the prompts' marks.
    """
    jobs = [
        _job(source, block, key)
        for source in sources
        for block in blocks(source.texts, section.token_budget)
    ]
    yield from _through_batches(jobs, section.batch_size, key)
    result = Rephrased()
    for job in jobs:
        _give_back(job, result)
    return result


def _job(source: Source, block: Block, key: bytes) -> _Job:
    parts = [
        (
            passage_mark(piece.offset, block.text, key),
            block.text[piece.offset : piece.offset + len(piece.span)],
        )
        for piece in block.pieces
    ]
    marked = "\n".join(f"{mark}\n{text}" for mark, text in parts)
    return _Job(source, block, tuple(mark for mark, _ in parts), sensitive(marked))


def _through_batches(jobs: Sequence[_Job], size: int, key: bytes) -> Steps[None]:
    """Reassign each text batch after batch; one round trip for all blocks."""
    longest = max((len(job.source.constraints) for job in jobs), default=0)
    for start in range(0, longest, size):
        asked = [
            job for job in jobs if not job.doubt and start < len(job.source.constraints)
        ]
        outcomes = yield from complete(
            rephrasing_prompt(
                job.text, job.source.constraints[start : start + size], key
            )
            for job in asked
        )
        for job, outcome in zip(asked, outcomes, strict=True):
            _reassign(job, outcome)


def _reassign(job: _Job, outcome: Outcome[Labelled]) -> None:
    if isinstance(outcome, Failure):
        late = isinstance(outcome.error, ModelTimeoutError)
        job.doubt = "model-timeout" if late else "model-failed"
        return
    text = _OUTER.sub("", outcome.value.text).strip()
    if not text or len(text) > _MOST * len(job.text.text) + _SPARE:
        job.doubt = "not-rephrased"
        return
    job.text = Labelled(text, outcome.value.labels)


def _give_back(job: _Job, result: Rephrased) -> None:
    if job.doubt:
        for place in job.places():
            for rule in job.source.constraints:
                result.doubts[place, rule.id] = job.doubt
        return
    parts = _parts(job.text.text, job.marks)
    if parts is None:
        first, *others = job.places()
        text = job.text.text
        for mark in job.marks:
            text = text.replace(mark, "")
        _append(result, first, text.strip())
        result.merged |= dict.fromkeys(others, first)
        return
    for piece, text in zip(job.block.pieces, parts, strict=True):
        _append(result, job.source.places[piece.index], text)


def _append(result: Rephrased, place: int, text: str) -> None:
    """Add a block's part; a long passage comes back in several."""
    known = result.texts.get(place)
    result.texts[place] = text if known is None else f"{known}\n{text}"


def _parts(text: str, marks: Sequence[str]) -> list[str] | None:
    """Cut a reply at its marks; `None` unless each stands once, in order, at first."""
    places = [text.find(mark) for mark in marks]
    if places[0] != 0 or places != sorted(places) or -1 in places:
        return None
    if any(text.count(mark) != 1 for mark in marks):
        return None
    ends = [*places[1:], len(text)]
    return [
        text[start + len(mark) : end].strip()
        for start, end, mark in zip(places, ends, marks, strict=True)
    ]
