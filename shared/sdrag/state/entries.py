"""
What is to be known again of a document, as keyed hashes.

A surface form goes wherever it is, in any spelling and run together; a long one by its
parts. A word that a constraint on meaning hides ("lamp") is no form: elsewhere it is
harmless. It is an entry together with the two words on either side. A text that is cut
off nearer than that has to hold what is left of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from typing import NamedTuple

from sdrag.text.folding import UNSPACED, Folded, fold_text, is_unspaced
from sdrag.text.phrase_matcher import needs_case
from sdrag.vocabulary import Confidential

__all__ = [
    "CASED",
    "DENSE_WORD",
    "SPACED",
    "UNSPACED_FORM",
    "WORD",
    "Entries",
    "Form",
    "Hashes",
    "context_words",
    "contexts",
]

WORD = re.compile(rf"[^\W_{UNSPACED}]+")
DENSE_WORD = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_SHORTEST_DENSE = 3
_SHORTEST_DENSE_UNSPACED = 2
_LONGEST_PART = 400
_MOST_OFFSET = 255
_MOST_LENGTH = 65_535
_REACH = 2
"""So many words on either side of one make its context."""

SPACED, CASED, UNSPACED_FORM, _RUN = range(4)
"""The kinds of a form."""


class Hashes(Confidential):
    """
    Keyed hashes of words and forms.

    Args:
        secret: Of the state.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Hashes()"

    def of(self, kind: str, said: str) -> int:
        """Return 64 bits."""
        return int.from_bytes(self._digest(kind, said, 8), "little")

    def short(self, kind: str, said: str) -> int:
        """Return 32 bits."""
        return int.from_bytes(self._digest(kind, said, 4), "little")

    def _digest(self, kind: str, said: str, size: int) -> bytes:
        data = f"{kind}\x1f{said}".encode("utf-8", "surrogatepass")
        return blake2b(data, key=self._secret, digest_size=size).digest()


class Form(NamedTuple):
    """One form: how it is met in a text, and the hash that proves it."""

    kind: int
    offset: int
    length: int
    probe: int
    digest: int


@dataclass(slots=True)
class Entries:
    """
    What is to be known again, and the keys of the rules that hide it.

    Args:
        forms: What goes wherever it is.
        contexts: Words that go where the same words are next to them.
    """

    forms: dict[Form, set[bytes]] = field(default_factory=dict)
    contexts: dict[int, set[bytes]] = field(default_factory=dict)

    def add_form(
        self, rule: bytes, surface: str, hashes: Hashes, *, whole: bool = False
    ) -> None:
        """
        Add a surface form, in any spelling; a long one by its parts.

        Args:
            rule: The key of the rule that hides it.
            surface: As found in a text.
            hashes: Of the state.
            whole: It is known by its words alone, and not run together.
        """
        for part in _parts(surface):
            for form in _forms(part, hashes):
                if whole and form.kind == _RUN:
                    continue
                self.forms.setdefault(form, set()).add(rule)

    def add_word(
        self, rule: bytes, words: Sequence[str], index: int, hashes: Hashes
    ) -> None:
        """
        Add a word by its neighbours in a text.

        Args:
            rule: The key of the rule that hides it.
            words: Of the text, in order.
            index: Of the word among them.
            hashes: Of the state.
        """
        for context in contexts(words, index, hashes, kept=True):
            self.contexts.setdefault(context, set()).add(rule)

    def add(self, other: Entries) -> bool:
        """Add all of another's, and say whether any of it was new."""
        new = False
        for form, rules in other.forms.items():
            known = self.forms.setdefault(form, set())
            new |= not rules <= known
            known |= rules
        for context, rules in other.contexts.items():
            known = self.contexts.setdefault(context, set())
            new |= not rules <= known
            known |= rules
        return new

    def rules(self) -> frozenset[bytes]:
        """Return the keys of all rules that it has something of."""
        return frozenset().union(*self.forms.values(), *self.contexts.values())

    def __bool__(self) -> bool:
        return bool(self.forms or self.contexts)


def context_words(folded: Folded) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the words of a folded text, and where each is in it."""
    indices = [match.span() for match in WORD.finditer(folded.text)]
    return indices, [folded.text[start:end] for start, end in indices]


def _dense(form: str) -> str:
    """Return the words of a form as one run, or nothing where it is too short."""
    run = "".join(DENSE_WORD.findall(fold_text(form)))
    unspaced = any(map(is_unspaced, run))
    least = _SHORTEST_DENSE_UNSPACED if unspaced else _SHORTEST_DENSE
    return run if len(run) >= least else ""


def _parts(surface: str) -> Iterator[str]:
    """Part a long form between words: hashing it at every word would add up."""
    start = end = 0
    for word in WORD.finditer(surface) if len(surface) > _LONGEST_PART else ():
        if word.end() - start > _LONGEST_PART and start < end:
            yield surface[start:end]
            start = word.start()
        end = word.end()
    yield surface[start:]


def _forms(surface: str, hashes: Hashes) -> Iterator[Form]:
    form = fold_text(surface)
    if not form or len(form) > _MOST_LENGTH:
        return
    first = WORD.search(form)
    if first is None or first.start() > _MOST_OFFSET:
        digest = hashes.of("form", form)
        yield Form(UNSPACED_FORM, 0, len(form), 0, digest)
    else:
        offset, probe = first.start(), hashes.of("word", first.group())
        if needs_case(form):
            digest = hashes.of("cased", surface.strip())
            yield Form(CASED, offset, len(form), probe, digest)
        else:
            yield Form(SPACED, offset, len(form), probe, hashes.of("form", form))
    if (run := _dense(surface)) and not needs_case(form):
        yield Form(_RUN, 0, len(run), 0, hashes.of("dense", run))


def contexts(
    words: Sequence[str], index: int, hashes: Hashes, *, kept: bool
) -> Iterator[int]:
    """
    Yield the hashes of a word with the words beside it.

    Args:
        words: Of a text, in order.
        index: Of the word among them.
        hashes: Of the state.
        kept: Whether to keep them, with those of every text that is cut off sooner, or
            to look them up. The first one kept is of the word alone.
    """
    before = words[max(0, index - _REACH) : index]
    after = words[index + 1 : index + 1 + _REACH]
    for (left, cut_left), (right, cut_right) in product(
        _reaches(len(before), kept=kept), _reaches(len(after), kept=kept)
    ):
        beside = [*before[len(before) - left :], words[index], *after[:right]]
        kind = f"context {left} {cut_left:d} {cut_right:d}"
        yield hashes.short(kind, " ".join(beside))


def _reaches(there: int, *, kept: bool) -> Iterator[tuple[int, bool]]:
    """Yield how many words count on a side, and whether the text kept ends there."""
    if kept:
        yield from ((reach, False) for reach in range(there + 1))
        if there < _REACH:
            yield there, True
    else:
        yield there, False
        yield from ((reach, True) for reach in range(min(there + 1, _REACH)))
