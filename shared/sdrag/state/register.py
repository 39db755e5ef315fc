"""
The register of a document: what was located anywhere in it is known again everywhere.

Chunk nine says "Meyers", and chunk one says who Meyers is. So every surface form that
was located, and its shorter forms, is kept for the document as a keyed hash, and each
chunk is read for it by hashing the runs of words that could be one. Only words that
begin some form are looked at further, so a chunk costs one hash a word.

A word that a constraint on meaning hides ("lamp") is no form: elsewhere it is harmless.
It is known again by the words next to it, so that the same sentence, split elsewhere,
in a parent or in a window, hides it as well. For that no word more than its two
neighbours has to be in the text, and at an edge of the text one of them.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple, Self

from sdrag.text.folding import UNSPACED, Folded, fold_text, is_boundary, is_unspaced
from sdrag.text.phrase_matcher import in_its_case, needs_case
from sdrag.vocabulary import Confidential, Span

__all__ = ["DENSE", "Entries", "Hashes", "Register", "context_words", "dense"]

_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
_DENSE_WORD = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_SHORTEST_DENSE = 3
_SHORTEST_DENSE_UNSPACED = 2
DENSE = 6
"""Shorter forms, run together, are other words by accident."""
_LONGEST_PART = 400
_MOST_OFFSET = 255
_MOST_LENGTH = 65_535
_RULE_BYTES = 16
_COUNT = struct.Struct("<H")
_HEAD = struct.Struct("<HII")  # of rules, of their forms, of their contexts
_FORM = struct.Struct("<BBHQQ")  # as the fields of `Form`
_NOTHING: frozenset[bytes] = frozenset()
_LEFT_MISSING, _RIGHT_MISSING = 0x5BD1E995, 0x2545F491
"""Mixed into the hash of a word and one neighbour where the other was not there."""

_SPACED, _CASED, _UNSPACED_KIND, _RUN = range(4)


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

    def add_form(self, rule: bytes, surface: str, hashes: Hashes) -> None:
        """
        Add a surface form, in any spelling; a long one by its parts.

        Args:
            rule: The key of the rule that hides it.
            surface: As found in a text.
            hashes: Of the state.
        """
        for part in _parts(surface):
            for form in _forms(part, hashes):
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
        for context in _contexts(words, index, hashes):
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

    def __bool__(self) -> bool:
        return bool(self.forms or self.contexts)


@dataclass(frozen=True, slots=True, repr=False)
class Register(Confidential):
    """
    What is known of one document.

    Args:
        entries: All of it.
        hashes: Under which they were made.
        version: How often it has grown.
    """

    entries: Entries
    hashes: Hashes
    version: int = 0
    _by_probe: dict[int, list[Form]] = field(init=False, repr=False)
    _unspaced: dict[int, dict[int, Form]] = field(init=False, repr=False)
    _dense: dict[int, dict[int, Form]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_probe: dict[int, list[Form]] = {}
        unspaced: dict[int, dict[int, Form]] = {}
        dense_ones: dict[int, dict[int, Form]] = {}
        for form in self.entries.forms:
            if form.kind in {_SPACED, _CASED}:
                by_probe.setdefault(form.probe, []).append(form)
            else:
                into = unspaced if form.kind == _UNSPACED_KIND else dense_ones
                into.setdefault(form.length, {})[form.digest] = form
        object.__setattr__(self, "_by_probe", by_probe)
        object.__setattr__(self, "_unspaced", unspaced)
        object.__setattr__(self, "_dense", dense_ones)

    def __repr__(self) -> str:
        return f"Register(version={self.version})"

    def __bool__(self) -> bool:
        return bool(self.entries)

    def rules(self) -> frozenset[bytes]:
        """Return the keys of all rules it knows something for."""
        known = (*self.entries.forms.values(), *self.entries.contexts.values())
        return frozenset().union(*known)

    def find(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield the place of everything that is known again, and the rules."""
        yield from self.find_forms(folded)
        yield from self.find_dense(folded, DENSE)
        yield from self._known_words(folded)

    def find_forms(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield the place of every form that is at word boundaries."""
        text = folded.text
        for word in _WORD.finditer(text) if self._by_probe else ():
            met = self._by_probe.get(self.hashes.of("word", word.group()))
            for form in met or ():
                start = word.start() - form.offset
                end = start + form.length
                if start < 0 or not _apart(text, start, end):
                    continue
                if self._is(form, folded, start, end):
                    yield self.entries.forms[form], folded.span(start, end)
        for length, digests in self._unspaced.items():
            for start in range(len(text) - length + 1):
                if not _apart(text, start, start + length):
                    continue
                digest = self.hashes.of("form", text[start : start + length])
                if digest in digests:
                    rules = self.entries.forms[digests[digest]]
                    yield rules, folded.span(start, start + length)

    def find_dense(
        self, folded: Folded, least: int = 0
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield forms of so many letters whatever separates them: `Anna-Karlsson`."""
        indices = [match.span() for match in _DENSE_WORD.finditer(folded.text)]
        run = "".join(folded.text[start:end] for start, end in indices)
        lengths = [length for length in self._dense if length >= least]
        starts: list[int] = []
        ends: dict[int, int] = {}
        length_so_far = 0
        for start, end in indices:
            starts.append(length_so_far)
            length_so_far += end - start
            ends[length_so_far] = end
        for (start, _), first in zip(indices, starts, strict=True):
            for length in lengths:
                end_of_form = ends.get(first + length)
                if end_of_form is None:
                    continue
                if rules := self._of_run(run[first : first + length]):
                    yield rules, folded.span(start, end_of_form)

    def inside(self, run: str, least: int) -> frozenset[bytes]:
        """Return the rules of forms of at least so many letters anywhere in a run."""
        found: set[bytes] = set()
        for length in self._dense:
            if length >= least:
                for start in range(len(run) - length + 1):
                    found |= self._of_run(run[start : start + length])
        return frozenset(found)

    def _of_run(self, run: str) -> AbstractSet[bytes]:
        digests = self._dense.get(len(run))
        form = digests.get(self.hashes.of("dense", run)) if digests else None
        return self.entries.forms[form] if form else frozenset()

    def _is(self, form: Form, folded: Folded, start: int, end: int) -> bool:
        said = folded.text[start:end]
        if form.kind == _SPACED:
            return form.digest == self.hashes.of("form", said)
        span = folded.span_before(start, end)
        given = span.of(folded.original)
        return form.digest == self.hashes.of("cased", given) and in_its_case(
            folded.original, span
        )

    def _known_words(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield words that are hidden between the same neighbours."""
        contexts = self.entries.contexts
        if not contexts:
            return
        indices, words = context_words(folded)
        pairs = [
            self.hashes.short("pair", f"{one} {other}")
            for one, other in pairwise(words)
        ]
        rules: AbstractSet[bytes]
        for index, word in enumerate(words):
            if not pairs:
                rules = contexts.get(self.hashes.short("alone", word), _NOTHING)
            else:
                left = pairs[index - 1] if index else None
                right = pairs[index] if index < len(pairs) else None
                rules = _between(contexts, left, right)
                if left is None or right is None:  # there, its other neighbour was not
                    edge = "last" if left is None else "first"
                    known = contexts.get(self.hashes.short(edge, word), _NOTHING)
                    rules = rules | known
            if rules:
                yield rules, folded.span(*indices[index])

    def united(self, more: Entries) -> Self:
        """Return a register that knows more too; itself where that is nothing new."""
        grown = Entries(
            {form: set(rules) for form, rules in self.entries.forms.items()},
            {context: set(rules) for context, rules in self.entries.contexts.items()},
        )
        if not grown.add(more):
            return self
        return type(self)(grown, self.hashes, self.version + 1)

    def written(self) -> bytes:
        """Write it down; what was written tells nothing without the key."""
        rules = sorted(self.rules())
        indices = {rule: index for index, rule in enumerate(rules)}
        forms: dict[frozenset[bytes], list[Form]] = {}
        for form, hiding in self.entries.forms.items():
            forms.setdefault(frozenset(hiding), []).append(form)
        contexts: dict[frozenset[bytes], list[int]] = {}
        for context, hiding in self.entries.contexts.items():
            contexts.setdefault(frozenset(hiding), []).append(context)
        parts = [_COUNT.pack(len(rules)), *rules]
        # In an order that is the same in every process; that of a set is not.
        for shared in sorted(forms.keys() | contexts.keys(), key=sorted):
            own, known = forms.get(shared, []), contexts.get(shared, [])
            parts.append(_HEAD.pack(len(shared), len(own), len(known)))
            parts.append(array("H", sorted(indices[rule] for rule in shared)).tobytes())
            parts += [_FORM.pack(*form) for form in sorted(own)]
            parts.append(array("I", sorted(known)).tobytes())
        return b"".join(parts)

    @classmethod
    def read(cls, given: bytes, hashes: Hashes, version: int) -> Self:
        """
        Read what `written` wrote.

        Args:
            given: The bytes.
            hashes: Under which the entries were made.
            version: How often the register has grown.
        """
        (many,) = _COUNT.unpack_from(given)
        at = _COUNT.size
        end = at + many * _RULE_BYTES
        rules = [given[n : n + _RULE_BYTES] for n in range(at, end, _RULE_BYTES)]
        entries, at = Entries(), end
        while at < len(given):
            hiding, forms, contexts = _HEAD.unpack_from(given, at)
            at += _HEAD.size
            own = array("H", given[at : at + 2 * hiding])
            at += 2 * hiding
            end = at + forms * _FORM.size
            for fields in _FORM.iter_unpack(given[at:end]):
                entries.forms[Form(*fields)] = {rules[index] for index in own}
            at, end = end, end + 4 * contexts
            for context in array("I", given[at:end]):
                entries.contexts[context] = {rules[index] for index in own}
            at = end
        return cls(entries, hashes, version)


def context_words(folded: Folded) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the words of a folded text, and where each is in it."""
    indices = [match.span() for match in _WORD.finditer(folded.text)]
    return indices, [folded.text[start:end] for start, end in indices]


def dense(form: str) -> str:
    """Return the words of a form as one run, or nothing where it is too short."""
    run = "".join(_DENSE_WORD.findall(fold_text(form)))
    unspaced = any(map(is_unspaced, run))
    least = _SHORTEST_DENSE_UNSPACED if unspaced else _SHORTEST_DENSE
    return run if len(run) >= least else ""


def _parts(surface: str) -> Iterator[str]:
    """Part a long form between words: hashing it at every word would add up."""
    start = end = 0
    for word in _WORD.finditer(surface) if len(surface) > _LONGEST_PART else ():
        if word.end() - start > _LONGEST_PART and start < end:
            yield surface[start:end]
            start = word.start()
        end = word.end()
    yield surface[start:]


def _forms(surface: str, hashes: Hashes) -> Iterator[Form]:
    form = fold_text(surface)
    if not form or len(form) > _MOST_LENGTH:
        return
    first = _WORD.search(form)
    if first is None or first.start() > _MOST_OFFSET:
        digest = hashes.of("form", form)
        yield Form(_UNSPACED_KIND, 0, len(form), 0, digest)
    else:
        offset, probe = first.start(), hashes.of("word", first.group())
        if needs_case(form):
            digest = hashes.of("cased", surface.strip())
            yield Form(_CASED, offset, len(form), probe, digest)
        else:
            yield Form(_SPACED, offset, len(form), probe, hashes.of("form", form))
    if (run := dense(surface)) and not needs_case(form):
        yield Form(_RUN, 0, len(run), 0, hashes.of("dense", run))


def _contexts(words: Sequence[str], index: int, hashes: Hashes) -> Iterator[int]:
    word = words[index]
    yield hashes.short("alone", word)
    if not index:
        yield hashes.short("first", word)
    if index + 1 == len(words):
        yield hashes.short("last", word)
    left = right = None
    if index:
        left = hashes.short("pair", f"{words[index - 1]} {word}")
    if index + 1 < len(words):
        right = hashes.short("pair", f"{word} {words[index + 1]}")
    if left is not None:
        yield left ^ _RIGHT if right is not None else left ^ _RIGHT_MISSING
    if right is not None:
        yield right if left is not None else right ^ _LEFT_MISSING


_RIGHT = 0x9E3779B9
"""Tells a word with the one before it from the same two with the first one hidden."""


def _between(
    contexts: Mapping[int, AbstractSet[bytes]], left: int | None, right: int | None
) -> AbstractSet[bytes]:
    """Return the rules that hide a word between two others."""
    hidden: set[bytes] = set()
    both: list[AbstractSet[bytes]] = []
    if left is not None:
        hidden |= contexts.get(left ^ _RIGHT_MISSING, _NOTHING)
        both.append(contexts.get(left ^ _RIGHT, _NOTHING))
    if right is not None:
        hidden |= contexts.get(right ^ _LEFT_MISSING, _NOTHING)
        both.append(contexts.get(right, _NOTHING))
    return hidden | (both[0] & both[-1])


def _apart(text: str, start: int, end: int) -> bool:
    return is_boundary(text, start) and is_boundary(text, end)
