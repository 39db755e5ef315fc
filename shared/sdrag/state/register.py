"""
What is to be known again of a document: its forms, as keyed hashes.

A form (a name, a code) goes wherever it is. It is known by its words, folded and run
together, so `Ann Lee`, `ANN-LEE`, `ann_lee` and `AnnLee` are one. A short one is known
only by as many words, since others make it by accident, and one of one or two letters
only in its own case. A word that a constraint on meaning hides ("lamp") is no form:
elsewhere it is harmless. It is known again between the same two words on either side. A
text that is cut off nearer than that has to hold what is left of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from sdrag.state.keys import DocumentKeys
from sdrag.text.folding import UNSPACED, Folded, fold, fold_text, is_boundary
from sdrag.text.phrase_matcher import in_its_case, needs_case
from sdrag.vocabulary import Confidential, Span

__all__ = ["DENSE", "WORD", "Form", "Forms", "Register", "make_forms", "make_word"]

WORD = re.compile(rf"[^\W_{UNSPACED}]+")
DENSE = 6
"""Shorter forms, run together, are other words by accident."""

_LETTERS = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_TOKEN = re.compile(rf"{_LETTERS.pattern}|[^\w\s.,;:!?'\"()\[\]{{}}<>/\\|*-]")
"""A word or a sign that tells something: `$5` is not 5."""
_APART = re.compile(r"[\s_.,;:!?'\"()\[\]{}<>/\\|*-]+")
_LONGEST_PART = 400
_EXACT = -1
_LEAST_DIGITS = 3
_WORD_BYTES, _SIDE_BYTES = 8, 4
_SIDES = ((-1,), (-2, -1), (1,), (1, 2))
"""The words beside one, nearest first, then two on that side."""


class Form(NamedTuple):
    """
    One thing to be known again, and how.

    Args:
        digest: Of its letters; or of a word and of what is beside it.
        length: In letters; 0 of a word that is known by what is beside it.
        words: How many it has to be; any number, where it is 0. Less, where it is
            signs, or a number that only signs make rare (`-5`): it goes as it is.
    """

    digest: bytes
    length: int
    words: int


Forms = dict[Form, set[bytes]]
"""What is to be known again, and the keys of the rules that hide it."""


def make_forms(
    surface: str, keys: DocumentKeys, *, whole: bool = False
) -> Iterator[Form]:
    """
    Yield what a surface form is known by; a long one by its parts.

    Args:
        surface: As found in a text.
        keys: Of the document.
        whole: It is known by as many words alone, however long it is.
    """
    for part in _parts(surface):
        folded = fold(part.strip())
        letters = _LETTERS.findall(folded.text)
        run = "".join(letters)
        if len(run) >= DENSE:
            words = len(letters) if whole else 0
            yield Form(keys.of("form", run), len(run), words)
            continue
        tokens = _TOKEN.findall(folded.text)
        run = "".join(tokens)
        if not run or (run.isdigit() and len(run) < _LEAST_DIGITS):
            if exact := folded.text.strip():
                yield Form(keys.of("exact", exact), len(exact), _EXACT)
            continue
        digest = keys.of("form", run)
        if needs_case(run):
            digest = keys.of("cased", _as_given(part))
        yield Form(digest, len(run), len(tokens))


def make_word(words: Sequence[str], index: int, keys: DocumentKeys) -> Form:
    """
    Return what a word is known by that is hidden for what it means there.

    Args:
        words: Of a text, folded, in order.
        index: Of the word among them.
        keys: Of the document.
    """
    digest = keys.of("word", words[index], _WORD_BYTES)
    for side in _SIDES:
        digest += _beside(words, index, side, keys)
    return Form(digest, 0, 0)


class Register(Confidential):
    """
    All that is to be known again of one document.

    Args:
        forms: With the keys of the rules that hide them.
        keys: Of the document.
        stamp: Differs where the forms do.
    """

    __slots__ = ("_exact", "_forms", "_keys", "_words", "stamp")

    def __init__(
        self,
        forms: Mapping[Form, AbstractSet[bytes]],
        keys: DocumentKeys,
        stamp: bytes = b"",
    ) -> None:
        self._keys, self.stamp = keys, stamp
        self._forms: dict[int, dict[bytes, list[tuple[int, frozenset[bytes]]]]] = {}
        self._words: dict[bytes, list[tuple[bytes, frozenset[bytes]]]] = {}
        self._exact: dict[int, dict[bytes, list[frozenset[bytes]]]] = {}
        for form, rules in forms.items():
            hiding = frozenset(rules)
            if form.words == _EXACT:
                exact = self._exact.setdefault(form.length, {})
                exact.setdefault(form.digest, []).append(hiding)
            elif form.length:
                known = self._forms.setdefault(form.length, {})
                known.setdefault(form.digest, []).append((form.words, hiding))
            else:
                word, beside = form.digest[:_WORD_BYTES], form.digest[_WORD_BYTES:]
                self._words.setdefault(word, []).append((beside, hiding))

    def __repr__(self) -> str:
        return "Register()"

    def __bool__(self) -> bool:
        return bool(self._forms or self._words or self._exact)

    def rules(self) -> frozenset[bytes]:
        """Return the keys of all rules that it knows something for."""
        known = [*self._words.values()]
        every = [rules for rows in known for _, rules in rows]
        for digests in self._forms.values():
            every += [rules for rows in digests.values() for _, rules in rows]
        for exact in self._exact.values():
            every += [rules for rows in exact.values() for rules in rows]
        return frozenset().union(*every)

    def find(self, folded: Folded) -> Iterator[tuple[frozenset[bytes], Span]]:
        """Yield the place of everything that is known again, and the rules."""
        yield from self.find_forms(folded)
        yield from self._find_words(folded)

    def find_forms(
        self, folded: Folded, *, least: int = 1, loose: bool = False
    ) -> Iterator[tuple[frozenset[bytes], Span]]:
        """
        Yield the place of every form that is at word boundaries.

        Args:
            folded: The text.
            least: Of so many letters.
            loose: A short form counts whatever separates its letters.
        """
        short = [n for n in self._forms if least <= n < DENSE]
        long = [n for n in self._forms if n >= max(least, DENSE)]
        for lengths, pattern in ((short, _TOKEN), (long, _LETTERS)):
            if not lengths:
                continue
            places = [match.span() for match in pattern.finditer(folded.text)]
            for run, first, last in _windows(folded.text, places, lengths):
                start, end = places[first][0], places[last][1]
                digest = self._digest(run, folded, start, end)
                for words, rules in self._forms[len(run)].get(digest, ()):
                    if loose or words in (0, last - first + 1):
                        yield rules, folded.span(start, end)
        if least == 1:
            yield from self._find_exact(folded)

    def _find_exact(self, folded: Folded) -> Iterator[tuple[frozenset[bytes], Span]]:
        text = folded.text
        for length, digests in self._exact.items():
            for start in range(len(text) - length + 1):
                end = start + length
                if is_boundary(text, start) and is_boundary(text, end):
                    digest = self._keys.of("exact", text[start:end])
                    for rules in digests.get(digest, ()):
                        yield rules, folded.span(start, end)

    def inside(self, run: str, least: int) -> frozenset[bytes]:
        """Return the rules of forms of at least so many letters anywhere in a run."""
        found: set[bytes] = set()
        for length, digests in self._forms.items():
            if length >= least:
                for start in range(len(run) - length + 1):
                    part = run[start : start + length]
                    digest = self._keys.of("form", part)
                    for _, rules in digests.get(digest, ()):
                        found |= rules
        return frozenset(found)

    def _digest(self, run: str, folded: Folded, start: int, end: int) -> bytes:
        if not needs_case(run):
            return self._keys.of("form", run)
        span = folded.span_before(start, end)
        if not in_its_case(folded.original, span):
            return b""
        given = _as_given(span.of(folded.original))
        return self._keys.of("cased", given)

    def _find_words(self, folded: Folded) -> Iterator[tuple[frozenset[bytes], Span]]:
        """Yield words that are hidden between the same neighbours."""
        if not self._words:
            return
        places, words = find_words(folded)
        for index, word in enumerate(words):
            digest = self._keys.of("word", word, _WORD_BYTES)
            if digest not in self._words:
                continue
            here = b"".join(_beside(words, index, side, self._keys) for side in _SIDES)
            for kept, rules in self._words[digest]:
                if _is_between(kept, here):
                    yield rules, folded.span(*places[index])


def find_words(folded: Folded) -> tuple[list[tuple[int, int]], list[str]]:
    """Return where the words of a folded text are, and the words."""
    places = [match.span() for match in WORD.finditer(folded.text)]
    return places, [folded.text[start:end] for start, end in places]


def _beside(
    words: Sequence[str], index: int, side: Sequence[int], keys: DocumentKeys
) -> bytes:
    """Return the hash of a word with those on one side; zeros where they are not."""
    places = [index + step for step in side]
    if min(places) < 0 or max(places) >= len(words):
        return bytes(_SIDE_BYTES)
    said = " ".join((words[index], *(words[place] for place in places)))
    return keys.of(f"beside {side}", said, _SIDE_BYTES)


def _is_between(kept: bytes, here: bytes) -> bool:
    """Compare each side as far as both texts go."""
    nothing = bytes(_SIDE_BYTES)
    for near in (0, 2 * _SIDE_BYTES):
        far = near + _SIDE_BYTES
        for at in (far, near):
            ours, theirs = kept[at : at + _SIDE_BYTES], here[at : at + _SIDE_BYTES]
            if nothing not in (ours, theirs):
                if ours != theirs:
                    return False
                break
    return True


def _windows(
    text: str, places: Sequence[tuple[int, int]], lengths: Sequence[int]
) -> Iterator[tuple[str, int, int]]:
    """Yield every run of whole words that has one of the lengths, and its words."""
    run = "".join(text[start:end] for start, end in places)
    starts: list[int] = []
    ends: dict[int, int] = {}
    size = 0
    for index, (start, end) in enumerate(places):
        starts.append(size)
        size += end - start
        ends[size] = index
    for first, offset in enumerate(starts):
        for length in lengths:
            last = ends.get(offset + length)
            if last is not None:
                yield run[offset : offset + length], first, last


def _as_given(surface: str) -> str:
    """Return a short form in its case, without what separates its letters."""
    return "".join(c for c in surface if fold_text(c) and not _APART.fullmatch(c))


def _parts(surface: str) -> Iterator[str]:
    """Part a long form between words: hashing it at every word would add up."""
    start = end = 0
    for word in WORD.finditer(surface) if len(surface) > _LONGEST_PART else ():
        if word.end() - start > _LONGEST_PART and start < end:
            yield surface[start:end]
            start = word.start()
        end = word.end()
    yield surface[start:]
