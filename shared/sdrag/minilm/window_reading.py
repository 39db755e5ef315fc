"""
Many texts read by a trained network, window by window.

Windows of one length are read side by side, and what reads alike is read once: chunks
overlap, and headings come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sdrag.engine.deadlines import check_time
from sdrag.minilm.sentence_windows import Tokens

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.minilm.trained_layers import Trained

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Window", "means", "read"]

_BATCH = 2048
"""So many tokens are read at once."""


class Window(NamedTuple):
    """
    What is read in one go.

    Args:
        ids: Of the tokens.
        sentences: The number of each one's sentence, from 0.
    """

    ids: tuple[int, ...]
    sentences: tuple[int, ...]


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
    places = _windows(texts) if rows else {}
    for batch in _batches(places):
        check_time()
        parts = chances(batch).split_with_sizes(
            [len(window.ids) for window in batch], dim=1
        )
        for window, own in zip(batch, parts, strict=True):
            for place, start in places[window]:
                there = slice(start, start + len(window.ids))
                sums[place][:, there] += own.numpy()
                times[place][there] += 1
    return [
        np.divide(own, np.maximum(count, 1), out=own)
        for own, count in zip(sums, times, strict=True)
    ]


def read(network: Trained, tokenizer: Any, windows: Sequence[Window]) -> Tensor:
    """Return a vector for each token of windows: (tokens, 384)."""
    import torch  # noqa: PLC0415 -- see means

    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = [(first, *window.ids, last) for window in windows]
    states = network.read(rows).split_with_sizes([len(row) for row in rows])
    return torch.cat([own[1:-1] for own in states])


def _windows(texts: Sequence[Tokens]) -> dict[Window, list[tuple[int, int]]]:
    """Return windows, and of which texts, and from which token on, each is a part."""
    places: dict[Window, list[tuple[int, int]]] = {}
    for place, text in enumerate(texts):
        for own in text.windows() if text.ids else ():
            numbers = text.sentences[own.start : own.stop]
            window = Window(
                tuple(text.ids[own.start : own.stop]),
                tuple(number - numbers[0] for number in numbers),
            )
            places.setdefault(window, []).append((place, own.start))
    return places


def _batches(windows: Iterable[Window]) -> Iterator[list[Window]]:
    """Yield windows in batches, those of one length side by side."""
    batch: list[Window] = []
    tokens = 0
    for window in sorted(windows, key=lambda one: len(one.ids)):
        if batch and tokens + len(window.ids) > _BATCH:
            yield batch
            batch, tokens = [], 0
        batch.append(window)
        tokens += len(window.ids)
    if batch:
        yield batch
