"""
Texts in windows of whole sentences, read by a trained network.

Windows overlap by half, so that nearly every sentence is read with what comes before it
and after it. No token is left unread: a sentence longer than a window is cut. Windows
of one length are read together, and what reads alike is read once: chunks overlap, and
headings come back. What is read of the tokens is joined again to words.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sdrag.minilm import few_threads, readable
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer
    from torch import Tensor

    from sdrag.minilm.trained_layers import Trained

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = [
    "Tokens",
    "Window",
    "by_word",
    "joined",
    "means",
    "padded",
    "read",
    "tokenized",
    "windows_of",
]

_WINDOW = 256
_BATCH = 2048
"""So many tokens are read at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Tokens(Confidential):
    """
    A text, tokenized.

    Args:
        text: Whole.
        ids: Of the tokens.
        spans: Where each is.
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
        """Return where the words are, and which token each begins with."""
        starts: list[int] = []
        words: list[Span] = []
        for index, span in enumerate(self.spans):
            if words and words[-1].end == span.start and self._joined(span.start):
                words[-1] = Span(words[-1].start, span.end)
            else:
                starts.append(index)
                words.append(span)
        return tuple(words), tuple(starts)

    def _joined(self, index: int) -> bool:
        return _in_word(self.text[index - 1]) and _in_word(self.text[index])

    def _edges(self) -> list[int]:
        """Return where windows may begin or end: at sentences, and in long ones."""
        starts = [
            index
            for index, number in enumerate(self.sentences)
            if index == 0 or number != self.sentences[index - 1]
        ]
        edges: list[int] = []
        for start, end in zip(starts, [*starts[1:], len(self.ids)], strict=True):
            edges += range(start, end, _WINDOW)
        return [*edges, len(self.ids)]


def tokenized(text: str, tokenizer: Tokenizer) -> Tokens:
    """Tokenize a text whole, however long."""
    coded = tokenizer.encode(readable(text), add_special_tokens=False)
    starts = [sentence.start for sentence in sentences(text)]
    spans = [Span(*pair) for pair in coded.offsets]
    return Tokens(
        text,
        coded.ids,
        spans,
        [max(0, bisect_right(starts, span.start) - 1) for span in spans],
    )


def padded(rows: Sequence[Sequence[int]], filler: int = 0) -> tuple[Tensor, Tensor]:
    """Return rows as one tensor, and 1 where a row has something."""
    import torch  # noqa: PLC0415 -- `import sdrag` must not load it

    tensors = [torch.tensor(row) for row in rows]
    present = [torch.ones(len(row), dtype=torch.long) for row in rows]
    pad = torch.nn.utils.rnn.pad_sequence
    return (
        pad(tensors, batch_first=True, padding_value=filler),
        pad(present, batch_first=True),
    )


def _in_word(character: str) -> bool:
    """Say whether words are made of it: letters, digits and the marks on them."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


class Window(NamedTuple):
    """
    What is read in one go.

    Args:
        ids: Of the tokens.
        sentences: The number of each one's sentence, from 0.
    """

    ids: tuple[int, ...]
    sentences: tuple[int, ...]


def by_word(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    rows: int,
    chances: Callable[[Sequence[Window]], Tensor],
) -> list[tuple[tuple[Span, ...], Matrix]]:
    """
    Read texts and join tokens to words; a word is as sure as its surest token.

    Args:
        texts: Of any length. Each is read apart, in windows that overlap.
        tokenizer: Of the network.
        rows: How many things the network says of each token.
        chances: See `means`.

    Returns:
        For each text its words, and a matrix of shape (rows, words).
    """
    return joined([tokenized(text, tokenizer) for text in texts], rows, chances)


def joined(
    coded: Sequence[Tokens],
    rows: int,
    chances: Callable[[Sequence[Window]], Tensor],
) -> list[tuple[tuple[Span, ...], Matrix]]:
    """Do the same with texts that are tokenized."""
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it
    import torch  # noqa: PLC0415

    with torch.inference_mode(), few_threads(tokens.text for tokens in coded):
        found = means(coded, rows, chances)
    result: list[tuple[tuple[Span, ...], Matrix]] = []
    for tokens, by_token in zip(coded, found, strict=True):
        words, starts = tokens.words()
        values = np.maximum.reduceat(by_token, starts, axis=1) if words else by_token
        result.append((words, values))
    return result


def means(
    texts: Sequence[Tokens],
    rows: int,
    chances: Callable[[Sequence[Window]], Tensor],
) -> list[Matrix]:
    """
    Return what a network says of each token, the mean over its windows.

    Args:
        texts: Each is read apart from the others.
        rows: How many things it says.
        chances: Gives them for windows, of shape (rows, tokens of all windows).

    Returns:
        For each text a matrix of shape (rows, tokens).
    """
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    sums = [np.zeros((rows, len(text.ids)), dtype=np.float32) for text in texts]
    times = [np.zeros(len(text.ids), dtype=np.float32) for text in texts]
    occurrences = windows_of(texts) if rows else {}
    for batch in _batches(occurrences):
        parts = chances(batch).split_with_sizes(
            [len(window.ids) for window in batch], dim=1
        )
        for window, part in zip(batch, parts, strict=True):
            for index, start in occurrences[window]:
                present = slice(start, start + len(window.ids))
                sums[index][:, present] += part.numpy()
                times[index][present] += 1
    return [
        np.divide(part, np.maximum(count, 1), out=part)
        for part, count in zip(sums, times, strict=True)
    ]


def read(network: Trained, tokenizer: Any, windows: Sequence[Window]) -> Tensor:
    """
    Return a vector for each token of windows: (tokens, 384).

    Args:
        network: Loaded.
        tokenizer: Of the network.
        windows: Read together.
    """
    import torch  # noqa: PLC0415 -- see means

    first, last = map(tokenizer.token_to_id, ("[CLS]", "[SEP]"))
    rows = [(first, *window.ids, last) for window in windows]
    states = network.read(rows).split_with_sizes([len(row) for row in rows])
    return torch.cat([part[1:-1] for part in states])


def windows_of(texts: Sequence[Tokens]) -> dict[Window, list[tuple[int, int]]]:
    """Return windows, and of which texts, and from which token on, each is a part."""
    occurrences: dict[Window, list[tuple[int, int]]] = {}
    for index, text in enumerate(texts):
        for part in text.windows() if text.ids else ():
            numbers = text.sentences[part.start : part.stop]
            window = Window(
                tuple(text.ids[part.start : part.stop]),
                tuple(number - numbers[0] for number in numbers),
            )
            occurrences.setdefault(window, []).append((index, part.start))
    return occurrences


def _batches(windows: Iterable[Window]) -> Iterator[list[Window]]:
    """Yield windows in batches, those of one length together."""
    batch: list[Window] = []
    tokens = 0
    for window in sorted(windows, key=lambda item: len(item.ids)):
        if batch and tokens + len(window.ids) > _BATCH:
            yield batch
            batch, tokens = [], 0
        batch.append(window)
        tokens += len(window.ids)
    if batch:
        yield batch
