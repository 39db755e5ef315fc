"""
A text in windows of whole sentences, as the network reads it.

Windows overlap by half, so that nearly every sentence is read with what stands before
it and with what comes after. No token is left unread: a sentence longer than a window
is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

__all__ = ["Tokens", "tokenized"]

_WINDOW = 256
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no tokenizer reads."""


@dataclass(frozen=True, slots=True, repr=False)
class Tokens(Confidential):
    """
    A text, tokenized.

    Args:
        ids: Of the tokens.
        spans: Where each stands.
        sentences: The number of each one's sentence.
    """

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
        coded["input_ids"],
        spans,
        [max(0, bisect_right(starts, span.start) - 1) for span in spans],
    )
