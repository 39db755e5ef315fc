"""
Short documents read in one pass through the network.

A pass over a few tokens takes longer a token than one over some hundreds. A window is
the same in any company, in whole numbers to the last bit. So when a document is read,
windows of those whose turn comes next are read with it, and what several documents say
alike is read once. A document that cannot be read ahead fails in its own turn alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sdrag.minilm.sentence_windows import Tokens, Window, read, tokenized, windows_of
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from sdrag.minilm.trained_layers import Trained

__all__ = ["ReadAhead"]

_TOKENS = 512
"""So many tokens are read in one pass: more no longer stay near the processor."""
_SHORT = 4096
"""A document of more characters is read in its own turn alone."""


class ReadAhead(Confidential):
    """
    The documents whose turn comes, one after the other.

    Args:
        documents: The texts of each.
    """

    __slots__ = ("_coded", "_documents", "_next", "_states", "_turn")

    def __init__(self, documents: Sequence[Sequence[str]] = ()) -> None:
        self._documents = documents
        self._turn = self._next = 0
        self._coded: dict[tuple[str, ...], list[Tokens]] = {}
        self._states: dict[Window, Tensor] = {}

    def tokens(self, texts: Sequence[str], tokenizer: Tokenizer) -> list[Tokens]:
        """Tokenize the document whose turn it is, unless that was done."""
        self._turn += 1
        self._next = max(self._next, self._turn)
        coded = self._coded.pop(tuple(texts), None)
        return coded or [tokenized(text, tokenizer) for text in texts]

    def read(
        self, network: Trained, tokenizer: Any, windows: Sequence[Window]
    ) -> Tensor:
        """Return a vector for each token of windows, as `sentence_windows.read`."""
        import torch  # noqa: PLC0415 -- `import sdrag` must not load it

        if not self._states.keys() >= set(windows):
            try:
                self._read_on(network, tokenizer, windows)
            except Exception:  # noqa: BLE001 -- what comes next fails in its own turn
                return read(network, tokenizer, windows)
        return torch.cat([self._states[window] for window in windows])

    def _read_on(
        self, network: Trained, tokenizer: Any, windows: Sequence[Window]
    ) -> None:
        """Read windows with those that come next, and forget what was read before."""
        room = _TOKENS - _size(one for one in windows if one not in self._states)
        wanted = (*windows, *self._following(tokenizer, room))
        known = {one: self._states[one] for one in wanted if one in self._states}
        new = sorted({*wanted} - known.keys(), key=lambda window: len(window.ids))
        states = read(network, tokenizer, new)
        parts = states.split_with_sizes([len(window.ids) for window in new])
        self._states = {**known, **dict(zip(new, parts, strict=True))}

    def _following(self, tokenizer: Tokenizer, room: int) -> Iterator[Window]:
        """Yield the windows of the documents that come next, as far as they fit."""
        seen: set[Window] = set()
        while room > 0 and self._next < len(self._documents):
            texts = tuple(self._documents[self._next])
            if sum(map(len, texts)) > _SHORT:
                return
            self._next += 1
            coded = [tokenized(text, tokenizer) for text in texts]
            self._coded[texts] = coded
            own = windows_of(coded).keys() - seen
            room -= _size(own - self._states.keys())
            seen |= own
            yield from own


def _size(windows: Iterable[Window]) -> int:
    return sum(len(window.ids) for window in windows)
