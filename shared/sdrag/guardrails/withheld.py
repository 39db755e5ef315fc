"""
Checking the answer once more for what redaction withheld, without keeping it.

The forms that were withheld from a passage are remembered as keyed hashes: with a key
drawn at random in this process, never written anywhere, they cannot be guessed from
outside, and they say nothing in a dump. So is the passage that they were cut out of,
by its id and by the text it was released with: another principal's release of the same
passage is another text, with other gaps. The store is bounded and forgets with time.

A form is a run of words joined without what separates them, so that `Anna-Karlsson`,
`AnnaKarlsson` and `Anna Karlsson's` hold the same one. An answer is checked by hashing
its runs of words of the lengths, in characters, that are remembered.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from sdrag.errors import UsageError
from sdrag.folding import UNSPACED, fold, fold_text, is_unspaced
from sdrag.guardrails.evidence import evidence
from sdrag.vocabulary import Passage, Span, is_unnamed

__all__ = ["WithheldForms"]

_WORD = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_SHORTEST = 3
_SHORTEST_UNSPACED = 2
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

    Give the same one to the retriever and to the guard of its answers.

    Args:
        seconds: How long it is remembered.
        capacity: For how many passages; those unused for longest are forgotten first.
        clock: Gives seconds, never going back.
    """

    def __init__(
        self,
        *,
        seconds: float = 3600.0,
        capacity: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if seconds <= 0 or capacity < 1:
            raise UsageError("What is withheld is remembered for a while, and some.")
        self._key = secrets.token_bytes(32)
        self._seconds = seconds
        self._capacity = capacity
        self._clock = clock
        self._held: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"WithheldForms({len(self._held)} passages)"

    def __len__(self) -> int:
        return len(self._held)

    def remember(self, passage: Passage, forms: Iterable[str]) -> None:
        """
        Remember what was cut out of a passage.

        Args:
            passage: As it was released.
            forms: The words that were cut; shorter than three characters, they are
                too common to mean anything.
        """
        runs = [_joined(form) for form in forms]
        entry = _Remembered(
            frozenset(self._digest(run) for run in runs if run),
            frozenset(len(run) for run in runs if run),
            self._clock() + self._seconds,
        )
        scope = self._scope(passage)
        with self._lock:
            self._forget()
            old = self._held.pop(scope, None)
            self._held[scope] = entry if old is None else _union(old, entry)
            while len(self._held) > self._capacity:
                self._held.popitem(last=False)

    def recall(self, passage: Passage) -> bool:
        """Say whether a released passage is known, and keep it for as long again."""
        scope = self._scope(passage)
        with self._lock:
            self._forget()
            old = self._held.pop(scope, None)
            if old is None:
                return False
            until = self._clock() + self._seconds
            self._held[scope] = _Remembered(old.digests, old.lengths, until)
            return True

    def forgotten(self, passages: Iterable[Passage]) -> int:
        """Count the passages that say something was cut, of which nothing is known."""
        cut = [one for one in passages if _says_cut(one)]
        with self._lock:
            self._forget()
            return sum(self._scope(one) not in self._held for one in cut)

    def find(self, passages: Iterable[Passage], answer: str) -> tuple[Span, ...]:
        """
        Return where an answer holds a form that was withheld from its passages.

        Args:
            passages: That the answer was made from, as they were released.
            answer: What the model said.
        """
        scopes = [self._scope(passage) for passage in passages]
        with self._lock:
            self._forget()
            entries = [self._held[scope] for scope in scopes if scope in self._held]
        digests = frozenset().union(*(entry.digests for entry in entries))
        lengths = frozenset().union(*(entry.lengths for entry in entries))
        if not digests:
            return ()
        folded = fold(answer)
        places = [Span(*match.span()) for match in _WORD.finditer(folded.text)]
        return tuple(
            folded.span(span.start, span.end)
            for span, run in _runs(places, folded.text, lengths)
            if self._digest(run) in digests
        )

    def _scope(self, passage: Passage) -> bytes:
        name = "" if is_unnamed(passage) else passage.id
        return self._digest(f"{len(name)}\x1f{name}\x1f{passage.text}")

    def _digest(self, said: str) -> bytes:
        content = said.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, content, hashlib.sha256).digest()[:_DIGEST]

    def _forget(self) -> None:
        """Drop what has expired; whatever was used last stands last."""
        now = self._clock()
        while self._held and next(iter(self._held.values())).until <= now:
            self._held.popitem(last=False)


def _joined(form: str) -> str:
    """Return the words of a form as one run, or nothing where it is too short."""
    words = _WORD.findall(fold_text(form))[:_LONGEST_RUN]
    run = "".join(words)
    unspaced = any(map(is_unspaced, run))
    return run if len(run) >= (_SHORTEST_UNSPACED if unspaced else _SHORTEST) else ""


def _runs(
    places: Sequence[Span], text: str, lengths: frozenset[int]
) -> Iterator[tuple[Span, str]]:
    """Yield the runs of words whose length, in characters, is one of the lengths."""
    longest = max(lengths)
    for first, start in enumerate(places):
        run = ""
        for place in places[first : first + _LONGEST_RUN]:
            run += place.of(text)
            if len(run) > longest:
                break
            if len(run) in lengths:
                yield Span(start.start, place.end), run


def _says_cut(passage: Passage) -> bool:
    return bool(evidence(passage).get("spans"))


def _union(left: _Remembered, right: _Remembered) -> _Remembered:
    return _Remembered(
        left.digests | right.digests, left.lengths | right.lengths, right.until
    )
