"""
A highlighter over an extractive question-answering model that the host hands in.

Section 4.1, H&S DeBERTaV3: a model of the BERT family marks the start and the end of
the answer in a passage. Models trained on SQuAD mark a few words, and the pipeline "is
best served by a tool that outputs longer span passages", so the highlight is the whole
sentence or sentences around what was marked, mid-sentence answers included. A long
passage is read in overlapping windows; the model's score for no answer, at its first
token, is what an answer has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Steps
from sdrag.errors import require_extra
from sdrag.highlight.exchange import Context, Proposal
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span


@dataclass(frozen=True, slots=True, repr=False)
class Extractive(Confidential):
    """
    Highlight with an extractive question-answering model.

    Args:
        model: Of `AutoModelForQuestionAnswering`, in evaluation mode.
        tokenizer: Its fast tokenizer.
        margin: By how much an answer's score has to beat the score for no answer.
        most: The most answers, over all passages.
        length: Tokens of a window.
        stride: Tokens that neighbouring windows share.
        longest: The most tokens of an answer.
    """

    model: Any
    tokenizer: Any
    margin: float = 0.0
    most: int = 1
    length: int = 384
    stride: int = 128
    longest: int = 120

    def __call__(self, question: Labelled, context: Context) -> Steps[Proposal]:
        """Propose the sentences around the answers that the model marks."""
        texts = [passage.text for passage in context.passages]
        yield from ()
        answers = [
            (score, text, span)
            for text in texts
            for score, span in self._best(question.text, text)
            if score > self.margin
        ]
        answers.sort(key=lambda item: -item[0])
        best = answers[: self.most]
        extracts = (_widen(text, span).of(text) for _, text, span in best)
        return Proposal(tuple(extracts))

    def _best(self, question: str, text: str) -> list[tuple[float, Span]]:
        """Give the best answer of a passage and its score above no answer, if any."""
        with require_extra("local", "An extractive highlighter"):
            import torch  # noqa: PLC0415 -- heavy, and of an extra
        if not (question.strip() and text.strip()):
            return []
        windows = self.tokenizer(
            question,
            text,
            truncation="only_second",
            max_length=self.length,
            stride=self.stride,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping")
        sides = [windows.sequence_ids(index) for index in range(len(offsets))]
        with torch.inference_mode():
            out = self.model(**windows)
        scores = zip(out.start_logits.tolist(), out.end_logits.tolist(), strict=True)
        answers = [
            answer
            for (starts, ends), places, side in zip(scores, offsets, sides, strict=True)
            for answer in self._answers(starts, ends, places, side)
        ]
        return [max(answers, key=lambda item: item[0])] if answers else []

    def _answers(
        self,
        starts: list[float],
        ends: list[float],
        places: list[list[int]],
        side: list[int | None],
    ) -> Iterator[tuple[float, Span]]:
        """Yield the best span of one window; the first token means no answer."""
        none = starts[0] + ends[0]
        inside = [
            index
            for index, of in enumerate(side)
            if of == 1 and places[index][0] < places[index][1]
        ]
        pairs = (
            (starts[first] + ends[last] - none, first, last)
            for position, first in enumerate(inside)
            for last in inside[position : position + self.longest]
        )
        best = max(pairs, default=None)
        if best is not None:
            score, first, last = best
            yield score, Span(places[first][0], places[last][1])


def _widen(text: str, span: Span) -> Span:
    """Extend a span to the sentences it touches."""
    touched = [item for item in sentences(text) if item.overlaps(span)]
    if not touched:
        return span
    return Span(touched[0].start, touched[-1].end)
