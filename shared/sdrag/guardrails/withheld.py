"""
Checking the answer once more for what redaction withheld, without keeping it.

The forms that were withheld from a passage are remembered as keyed hashes: with a key
drawn at random in this process, never written anywhere, they cannot be guessed from
outside, and they say nothing in a dump. The store is bounded and forgets with time. An
answer is checked by hashing its runs of words of the lengths that are remembered.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

from sdrag.folding import fold, fold_text
from sdrag.sentences import words
from sdrag.vocabulary import Span

__all__ = ["WithheldForms"]

_SHORTEST = 3
_LONGEST_RUN = 24
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class _Remembered:
    digests: frozenset[bytes]
    lengths: frozenset[int]
    until: float


class WithheldForms:
    """
    What was withheld, as keyed hashes, for a while.

    Args:
        seconds: How long it is remembered.
        capacity: How many scopes; the oldest are forgotten first.
        clock: Gives seconds, never going back.
    """

    def __init__(
        self,
        *,
        seconds: float = 3600.0,
        capacity: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key = secrets.token_bytes(32)
        self._seconds = seconds
        self._capacity = capacity
        self._clock = clock
        self._held: OrderedDict[str, _Remembered] = OrderedDict()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"WithheldForms({len(self._held)} scopes)"

    def __len__(self) -> int:
        return len(self._held)

    def remember(self, scope: str, forms: Iterable[str]) -> None:
        """
        Remember the forms that were withheld under a scope.

        Args:
            scope: What the check will be asked for, such as a passage's id with the
                policy's hash; no text.
            forms: The words that were cut; shorter than three characters, they are
                too common to mean anything.
        """
        runs = [_folded_words(form) for form in forms]
        kept = [run for run in runs if run and len(" ".join(run)) >= _SHORTEST]
        cut = [tuple(run[:_LONGEST_RUN]) for run in kept]
        entry = _Remembered(
            frozenset(self._digest(run) for run in cut),
            frozenset(len(run) for run in cut),
            self._clock() + self._seconds,
        )
        with self._lock:
            self._forget()
            old = self._held.pop(scope, None)
            self._held[scope] = entry if old is None else _union(old, entry)
            while len(self._held) > self._capacity:
                self._held.popitem(last=False)

    def find(self, scopes: Iterable[str], answer: str) -> tuple[Span, ...]:
        """
        Return where an answer holds a form that was withheld under a scope.

        Args:
            scopes: Of the passages that the answer was made from.
            answer: What the model said.
        """
        with self._lock:
            self._forget()
            entries = [self._held[scope] for scope in scopes if scope in self._held]
        digests = frozenset().union(*(entry.digests for entry in entries))
        lengths = frozenset().union(*(entry.lengths for entry in entries))
        if not digests:
            return ()
        folded = fold(answer)
        places = words(folded.text)
        texts = [place.of(folded.text) for place in places]
        return tuple(
            folded.span(places[at].start, places[at + length - 1].end)
            for length in sorted(lengths)
            for at in range(len(places) - length + 1)
            if self._digest(tuple(texts[at : at + length])) in digests
        )

    def _digest(self, run: tuple[str, ...]) -> bytes:
        content = "\x1f".join(run).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, content, hashlib.sha256).digest()[:_DIGEST]

    def _forget(self) -> None:
        now = self._clock()
        for scope in [one for one, held in self._held.items() if held.until <= now]:
            del self._held[scope]


def _folded_words(form: str) -> list[str]:
    folded = fold_text(form)
    return [span.of(folded) for span in words(folded)]


def _union(left: _Remembered, right: _Remembered) -> _Remembered:
    return _Remembered(
        left.digests | right.digests, left.lengths | right.lengths, right.until
    )
