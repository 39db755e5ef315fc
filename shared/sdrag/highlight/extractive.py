"""
A highlighter over an extractive question-answering model that the application passes.

Section 4.1 of the paper, H&S DeBERTaV3: a model of the BERT family marks the start and
the end of the answer in a passage. One trained on SQuAD marks a few words, and the
pipeline "is best served by a tool that outputs longer span passages", so what is
highlighted are the sentences around the marked words. A long passage is read in
windows of whole sentences that share some; a window in which the model prefers no
answer, as SQuAD 2 trains it to, adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sdrag.effects.prompts import Labelled
from sdrag.errors import HostError
from sdrag.highlight.exchange import Context
from sdrag.text.sentences import around, sentences
from sdrag.vocabulary import Confidential, Span


@dataclass(frozen=True, slots=True, repr=False)
class ExtractiveHighlighter(Confidential):
    """
    Highlight with a model of spans.

    Example:
        ```python
        name = "deepset/deberta-v3-base-squad2"
        model = mark_spans(
            AutoModelForQuestionAnswering.from_pretrained(name),
            AutoTokenizer.from_pretrained(name),
        )
        hook = HighlightAndSummarize(highlighter=ExtractiveHighlighter(model))
        ```

    Args:
        model: `pipeline("question-answering")` of transformers 4, `mark_spans` or a
            function like it: it takes `question=`, `context=` and
            `handle_impossible_answer=True`, and returns `{"score": ..., "start": ...,
            "end": ...}` or a list of them; `start` equals `end` if there is no answer.
        min_score: The least score of an answer.
        most: The most answers, over all passages, the likeliest first.
        characters: Of a window; a longer sentence is a window of its own.
        shared: Sentences that neighbouring windows share.
    """

    model: Callable[..., Any]
    min_score: float = 0.0
    most: int = 1
    characters: int = 1_200
    shared: int = 2

    def __call__(self, question: Labelled, context: Context) -> list[str]:
        """
        Propose the sentences around the answers that the model marks.

        Raises:
            HostError: The model gives something else.
        """
        answers = [
            (score, at, span)
            for at, passage in enumerate(context.passages)
            for window in self._windows(passage.text)
            for score, span in self._mark(question.text, passage.text, window)
            if score >= self.min_score
        ]
        answers.sort(key=lambda answer: (-answer[0], *answer[1:]))
        texts = [passage.text for passage in context.passages]
        extracts = (around(texts[at], span).of(texts[at]) for _, at, span in answers)
        return list(dict.fromkeys(extracts))[: self.most]

    def _windows(self, text: str) -> Iterator[Span]:
        """Yield stretches of whole sentences; each begins within the one before it."""
        spans, first = sentences(text), 0
        while first < len(spans):
            last = first
            while (
                last + 1 < len(spans)
                and spans[last + 1].end - spans[first].start <= self.characters
            ):
                last += 1
            yield Span(spans[first].start, spans[last].end)
            if last + 1 == len(spans):
                return
            first = max(first + 1, last + 1 - self.shared)

    def _mark(
        self, question: str, text: str, window: Span
    ) -> Iterator[tuple[float, Span]]:
        """Yield the likeliest answer of a window, in the passage's offsets, if any."""
        given = self.model(
            question=question,
            context=window.of(text),
            handle_impossible_answer=True,
        )
        answers = given if isinstance(given, list) else [given]
        try:
            score, start, end = max(
                (float(each["score"]), int(each["start"]), int(each["end"]))
                for each in answers
            )
        except (KeyError, TypeError, ValueError):
            raise HostError(
                "The model of spans gave no score, start and end."
            ) from None
        if 0 <= start < end <= len(window):
            yield score, Span(window.start + start, window.start + end)


def mark_spans(
    model: Any, tokenizer: Any, *, tokens: int = 512, longest: int = 120
) -> Callable[..., dict[str, float]]:
    """
    Return a function like the pipeline that transformers 5 no longer has.

    Its score is by how much an answer beats no answer, at the first token.

    Args:
        model: Of `AutoModelForQuestionAnswering`, in evaluation mode.
        tokenizer: Its fast tokenizer.
        tokens: The most tokens that the model reads; what is beyond is left out.
        longest: The most tokens of an answer.
    """

    def mark(question: str, context: str, **_: Any) -> dict[str, float]:
        import torch  # noqa: PLC0415 -- heavy; whoever passes a model has it

        read = tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=tokens,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        places = read.pop("offset_mapping")[0].tolist()
        inside = [at for at, side in enumerate(read.sequence_ids(0)) if side == 1]
        with torch.inference_mode():
            out = model(**read)
        starts, ends = out.start_logits[0].tolist(), out.end_logits[0].tolist()
        none = (starts[0] + ends[0], 0, 0)
        score, first, last = max(
            (
                (starts[first] + ends[last], first, last)
                for at, first in enumerate(inside)
                for last in inside[at : at + longest]
            ),
            default=none,
        )
        if score <= none[0]:
            return {"score": 0.0, "start": 0, "end": 0}
        return {
            "score": score - none[0],
            "start": places[first][0],
            "end": places[last][1],
        }

    return mark
