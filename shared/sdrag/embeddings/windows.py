"""
Texts of any length, read by a trained network in windows of whole sentences.

A sentence longer than a window is cut, and its windows overlap by half; where `around`
is asked for, all do, so that nearly every sentence is read with what comes before and
after it. No token is left unread. A token has the mean of its windows, and a word the
maximum of its tokens.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdrag.errors import InternalError
from sdrag.text.folding import replace_surrogates
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from sdrag.embeddings.runtime import Network

    Array = np.ndarray[Any, np.dtype[Any]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

CLS, SEP = 101, 102
_WINDOW = 256
_BATCH = 512
"""Tokens of a batch, padding included."""
_PADDED = 1.25
"""The longest row of a batch, as a multiple of its shortest."""


class Window(NamedTuple):
    """Tokens that are read together: the ids, and the number of each one's sentence."""

    start: int
    ids: tuple[int, ...]
    sentences: tuple[int, ...]


Reader = Callable[[Sequence[Window]], "Matrix"]
"""Reads windows, and gives a matrix of shape (outputs, tokens of all windows)."""


@dataclass(frozen=True, slots=True, repr=False)
class Tokens(Confidential):
    """A tokenized text: each token's id, span and number of its sentence."""

    text: str
    ids: Sequence[int]
    spans: Sequence[Span]
    sentences: Sequence[int]

    def windows(self, *, around: bool) -> Iterator[Window]:
        """Yield windows that together cover all tokens."""
        edges = self._edges()
        start = last = 0
        while last < len(edges) - 1:
            last = bisect_right(edges, edges[start] + _WINDOW) - 1
            part = slice(edges[start], edges[last])
            numbers = tuple(self.sentences[part])
            yield Window(part.start, tuple(self.ids[part]), numbers)
            half = bisect_right(edges, (edges[start] + edges[last]) // 2)
            at = edges[last]
            cut = at < len(self.ids) and self.sentences[at] == self.sentences[at - 1]
            start = min(max(start + 1, half), last) if around or cut else last

    def _edges(self) -> list[int]:
        """Return where windows may begin or end: at sentences, and in long ones."""
        count = len(self.ids)
        numbers = self.sentences
        starts = [i for i in range(count) if i == 0 or numbers[i] != numbers[i - 1]]
        pairs = zip(starts, [*starts[1:], count], strict=False)
        return [*(edge for pair in pairs for edge in range(*pair, _WINDOW)), count]

    def join(self, values: Array) -> tuple[tuple[Span, ...], Array]:
        """Return the spans of words, and the maximum of each one's tokens."""
        starts: list[int] = []
        words: list[Span] = []
        for index, span in enumerate(self.spans):
            if words and words[-1].end == span.start and self._in_word(span.start):
                words[-1] = Span(words[-1].start, span.end)
            else:
                starts.append(index)
                words.append(span)
        joined = np.maximum.reduceat(values, starts, axis=-1) if words else values
        return tuple(words), joined

    def _in_word(self, index: int) -> bool:
        """Return True if a word goes on at an index: letters, digits, their marks."""
        return all(
            character.isalnum() or unicodedata.category(character).startswith("M")
            for character in self.text[index - 1 : index + 1]
        )


def tokenize(text: str, tokenizer: Tokenizer) -> Tokens:
    """Tokenize a whole text, without [CLS] and [SEP]."""
    coded = tokenizer.encode(replace_surrogates(text), add_special_tokens=False)
    starts = [sentence.start for sentence in sentences(text)]
    spans = [Span(*pair) for pair in coded.offsets]
    numbers = [max(0, bisect_right(starts, span.start) - 1) for span in spans]
    return Tokens(text, coded.ids, spans, numbers)


def read_words(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    outputs: int,
    network: Reader,
    *,
    around: bool = False,
) -> list[tuple[tuple[Span, ...], Matrix]]:
    """
    Read texts word by word, each apart from the others; equal texts are read once.

    Args:
        texts: Of any length.
        tokenizer: The network's.
        outputs: How many numbers the network gives for a token.
        network: Reads batches of windows.
        around: Every sentence is read with those around it.

    Returns:
        For each text the spans of its words, and a matrix of shape (outputs, words).
    """
    coded = {text: tokenize(text, tokenizer) for text in texts}
    matrices = _read_tokens([*coded.values()], outputs, network, around=around)
    pairs = zip(coded.values(), matrices, strict=True)
    read = {tokens.text: tokens.join(matrix) for tokens, matrix in pairs}
    return [read[text] for text in texts]


def _read_tokens(
    texts: Sequence[Tokens], outputs: int, network: Reader, *, around: bool
) -> list[Matrix]:
    """Return the means of a network's outputs for each token: (outputs, tokens)."""
    sums = [np.zeros((outputs, len(text.ids)), dtype=np.float32) for text in texts]
    counts = [np.zeros(len(text.ids), dtype=np.float32) for text in texts]
    windows = [
        (index, window)
        for index, text in enumerate(texts if outputs else ())
        for window in text.windows(around=around)
    ]
    for batch in batches([len(window.ids) for _, window in windows]):
        read = [windows[at] for at in batch]
        outcome = network([window for _, window in read])
        ends = np.cumsum([len(window.ids) for _, window in read])
        parts = np.split(outcome, ends[:-1], axis=1)
        for (index, window), part in zip(read, parts, strict=True):
            place = slice(window.start, window.start + len(window.ids))
            sums[index][:, place] += part
            counts[index][place] += 1
    for matrix, count in zip(sums, counts, strict=True):
        np.divide(matrix, np.maximum(count, 1), out=matrix)
    return sums


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the indices of rows to read together: of about one length."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch:
            size = (len(batch) + 1) * lengths[index]
            if size > _BATCH or lengths[index] > _PADDED * lengths[batch[0]]:
                yield batch
                batch = []
        batch.append(index)
    if batch:
        yield batch


def pad(rows: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """Return rows as one matrix, and a mask: True where a row has something."""
    longest = max(map(len, rows), default=0)
    ids = np.array([[*row, *[0] * (longest - len(row))] for row in rows], np.int64)
    mask = np.array([[at < len(row) for at in range(longest)] for row in rows])
    return ids, mask


def read_between(network: Network, rows: Sequence[Sequence[int]]) -> Matrix:
    """
    Return the first output of a network for each token of rows, row after row.

    Each row is read with [CLS] and [SEP] around it, and these are left out.
    """
    ids, mask = pad([(CLS, *row, SEP) for row in rows])
    (read,) = network.run(ids=ids, mask=mask)
    parts = [part[1 : len(row) + 1] for part, row in zip(read, rows, strict=True)]
    joined: Matrix = np.concatenate(parts)
    return joined


def check_finite(logits: Array, feature: str) -> Array:
    """Return logits as they are; NaN would compare as harmless."""
    if not np.isfinite(logits).all():
        raise InternalError(f"{feature} gave something that is no number.")
    return logits


def to_probabilities(logits: Array) -> Array:
    """Return the logistic function of logits."""
    with np.errstate(over="ignore"):  # a probability of 0, then
        return np.float32(1) / (1 + np.exp(-logits))
