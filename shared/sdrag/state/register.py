"""
The register of a document: what was located anywhere in it is known again everywhere.

Chunk nine says "Meyers", and chunk one says who Meyers is. So every surface form that
was located, and its shorter forms, is kept for the document as a keyed hash, and each
chunk is read for it by hashing the runs of words that could be one. Only words that
begin some form are looked at further, so a chunk costs one hash a word.

A word that is hidden for what it means is known again by the words next to it, so that
the same sentence, split elsewhere, in a parent or in a window, hides it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Self

from sdrag.state.entries import (
    CASED,
    DENSE_WORD,
    SPACED,
    UNSPACED_FORM,
    WORD,
    Entries,
    Form,
    Hashes,
    context_words,
    contexts,
)
from sdrag.state.entry_bytes import read_entries, written_entries
from sdrag.text.folding import Folded, is_boundary
from sdrag.text.phrase_matcher import in_its_case
from sdrag.vocabulary import Confidential, Span

__all__ = ["DENSE", "Register"]

DENSE = 6
"""Shorter forms, run together, are other words by accident."""
_NOTHING: frozenset[bytes] = frozenset()


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
            if form.kind in {SPACED, CASED}:
                by_probe.setdefault(form.probe, []).append(form)
            else:
                into = unspaced if form.kind == UNSPACED_FORM else dense_ones
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
        return self.entries.rules()

    def find(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield the place of everything that is known again, and the rules."""
        yield from self.find_forms(folded)
        yield from self.find_dense(folded, DENSE)
        yield from self._known_words(folded)

    def find_forms(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield the place of every form that is at word boundaries."""
        text = folded.text
        for word in WORD.finditer(text) if self._by_probe else ():
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
        indices = [match.span() for match in DENSE_WORD.finditer(folded.text)]
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
        if form.kind == SPACED:
            return form.digest == self.hashes.of("form", said)
        span = folded.span_before(start, end)
        given = span.of(folded.original)
        return form.digest == self.hashes.of("cased", given) and in_its_case(
            folded.original, span
        )

    def _known_words(self, folded: Folded) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield words that are hidden between the same neighbours."""
        known = self.entries.contexts
        if not known:
            return
        indices, words = context_words(folded)
        for index, word in enumerate(words):
            alone = next(contexts([word], 0, self.hashes, kept=True))
            if alone not in known:
                continue
            rules = _NOTHING.union(
                *(
                    known.get(context, _NOTHING)
                    for context in contexts(words, index, self.hashes, kept=False)
                )
            )
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
        return written_entries(self.entries)

    @classmethod
    def read(cls, given: bytes, hashes: Hashes, version: int) -> Self:
        """
        Read what `written` wrote.

        Args:
            given: The bytes.
            hashes: Under which the entries were made.
            version: How often the register has grown.
        """
        return cls(read_entries(given), hashes, version)


def _apart(text: str, start: int, end: int) -> bool:
    return is_boundary(text, start) and is_boundary(text, end)
