"""
A text in windows of whole sentences, as the network reads it.

Windows overlap by half, so that nearly every sentence is read with what stands before
it and with what comes after. No token is left unread: a sentence longer than a window
is cut. What is read of the tokens is joined again to words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

__all__ = ["Tokens", "padded", "tokenized"]

_WINDOW = 256
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no tokenizer reads."""


@dataclass(frozen=True, slots=True, repr=False)
class Tokens(Confidential):
    """
    A text, tokenized.

    Args:
        text: Whole.
        ids: Of the tokens.
        spans: Where each stands.
        sentences: The number of each one's sentence.
    """

    text: str
    ids: Sequence[int]
    spans: Sequence[Span]
    sentences: Sequence[int]

    def windows(self) -> Iterator[range]:
        """Yield the windows: ranges of tokens that together cover them all."""
        edges = self._edges()
        start = 0
        while True:
            last = bisect_right(edges, edges[start] + _WINDOW) - 1
            yield range(edges[start], edges[last])
            if last == len(edges) - 1:
                return
            half = bisect_right(edges, (edges[start] + edges[last]) // 2)
            start = min(max(start + 1, half), last)

    def words(self) -> tuple[tuple[Span, ...], tuple[int, ...]]:
        """Return where the words stand, and which token each begins with."""
        starts: list[int] = []
        words: list[Span] = []
        for place, span in enumerate(self.spans):
            if words and words[-1].end == span.start and self._joined(span.start):
                words[-1] = Span(words[-1].start, span.end)
            else:
                starts.append(place)
                words.append(span)
        return tuple(words), tuple(starts)

    def _joined(self, place: int) -> bool:
        return _in_word(self.text[place - 1]) and _in_word(self.text[place])

    def _edges(self) -> list[int]:
        """Return where windows may begin or end: at sentences, and in long ones."""
        starts = [
            place
            for place, number in enumerate(self.sentences)
            if place == 0 or number != self.sentences[place - 1]
        ]
        edges: list[int] = []
        for start, end in zip(starts, [*starts[1:], len(self.ids)], strict=True):
            edges += range(start, end, _WINDOW)
        return [*edges, len(self.ids)]


def tokenized(text: str, tokenizer: PreTrainedTokenizerFast) -> Tokens:
    """Tokenize a text whole, however long."""
    readable = _HALF.sub("\ufffd", text)  # character for character
    coded = tokenizer(
        readable, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )
    starts = [sentence.start for sentence in sentences(text)]
    spans = [Span(*pair) for pair in coded["offset_mapping"]]
    return Tokens(
        text,
        coded["input_ids"],
        spans,
        [max(0, bisect_right(starts, span.start) - 1) for span in spans],
    )


def padded(rows: Sequence[Sequence[int]], filler: int = 0) -> tuple[Tensor, Tensor]:
    """Return rows as one tensor, and 1 where a row has something."""
    import torch  # noqa: PLC0415 -- `import sdrag` must not load it

    tensors = [torch.tensor(row) for row in rows]
    there = [torch.ones(len(row), dtype=torch.long) for row in rows]
    pad = torch.nn.utils.rnn.pad_sequence
    return (
        pad(tensors, batch_first=True, padding_value=filler),
        pad(there, batch_first=True),
    )


def _in_word(character: str) -> bool:
    """Say whether words are made of it: letters, digits and the marks on them."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
