"""
The vectors of a text's tokens, as MiniLM was trained to embed it: its first 256.

Texts are read some at a time, and those of a length together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer

    from sdrag.minilm.bert import Bert

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["TokenStates", "token_states"]

T = TypeVar("T")
_MOST = 256
"""So many tokens are read, the one before and the one after the text among them."""
_BATCH = 2048
"""So many tokens are read at once."""


class TokenStates(NamedTuple):
    """
    A text that was read.

    Args:
        place: Of the text, among the texts.
        vectors: One for each token: (tokens, 384).
        offsets: Where each token is. What is no part of the text is nowhere: (0, 0).
    """

    place: int
    vectors: Matrix
    offsets: Sequence[tuple[int, int]]


def token_states(
    bert: Bert, tokenizer: Tokenizer, texts: Sequence[str]
) -> Iterator[TokenStates]:
    """Yield what was read of each text, the longest first."""
    coded = tokenizer.encode_batch([*texts])
    rows = [_first(one.ids) for one in coded]
    left = sorted(range(len(rows)), key=lambda index: len(rows[index]), reverse=True)
    while left:
        count = max(1, _BATCH // len(rows[left[0]]))
        some, left = left[:count], left[count:]
        lengths = [len(rows[index]) for index in some]
        with torch.inference_mode():
            read = bert.read([rows[index] for index in some]).split_with_sizes(lengths)
        for index, states in zip(some, read, strict=True):
            yield TokenStates(index, states.numpy(), _first(coded[index].offsets))


def _first(items: Sequence[T]) -> Sequence[T]:
    """Return what is read of a text; its last token is the one after it."""
    return items if len(items) <= _MOST else [*items[: _MOST - 1], items[-1]]
