"""
What is to be known again of a document: its forms, as keyed hashes.

A form (a name, a code) goes wherever it is. It is known by its words, folded and run
together, so `Ann Lee`, `ANN-LEE`, `ann_lee` and `AnnLee` are one. A short one is known
only by as many words, since others make it by accident, and one of one or two letters
only in its own case. A word that a constraint on meaning hides ("lamp") is no form:
elsewhere it is harmless. It is known again between the same two words on either side,
as far as a text has them: it may be split there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from sdrag.state.keys import DocumentKeys, join_rules, split_rules
from sdrag.text.folding import UNSPACED, Folded, fold, fold_text, is_boundary
from sdrag.text.phrase_matcher import in_its_case, needs_case
from sdrag.vocabulary import Confidential, Span

WORD = re.compile(rf"[^\W_{UNSPACED}]+")
DENSE = 6
"""Shorter forms, run together, are other words by accident."""

_LETTERS = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_TOKEN = re.compile(rf"{_LETTERS.pattern}|[^\w\s.,;:!?'\"()\[\]{{}}<>/\\|*-]")
"""A word or a sign that tells something: `$5` is not 5."""
_APART = re.compile(r"[\s_.,;:!?'\"()\[\]{}<>/\\|*-]+")
_LONGEST_PART = 400
_EXACT, _NAMED = -1, -2
_LEAST_DIGITS = 3


class Form(NamedTuple):
    """
    One thing to be known again, and how.

    Args:
        digest: Of its letters; or of a word with the words beside it.
        length: In letters; 0 of a word that is known by what is beside it.
        words: How many it has to be; any number, where it is 0. Less, where it is
            signs, or a number that only signs make rare (`-5`): it goes as it is; or
            where it is somebody's name and an everyday word too.
    """

    digest: str
    length: int
    words: int


_Row = tuple[list[str], AbstractSet[bytes]]
"""What is on either side of a word that is hidden there, and the rules."""
Forms = Mapping[Form, AbstractSet[bytes]]
"""What is to be known again, and the keys of the rules that hide it."""


def write_forms(forms: Forms, cover: Callable[[str], str]) -> str:
    """
    Write forms down as JSON; each set of rules stands there once.

    `cover`: encrypts the hashes in a text.
    """
    joined = {form: join_rules(rules).hex() for form, rules in forms.items()}
    sets = {rules: index for index, rules in enumerate(sorted({*joined.values()}))}
    rows = sorted(
        [cover(digest), length, words, sets[rules]]
        for (digest, length, words), rules in joined.items()
    )
    return json.dumps([[*sets], rows], separators=(",", ":"))


def read_forms(written: str, uncover: Callable[[str], str]) -> Forms:
    """Read forms as they were written; `uncover` decrypts the hashes in a text."""
    sets, rows = json.loads(written)
    rules = [frozenset(split_rules(bytes.fromhex(joined))) for joined in sets]
    return {
        Form(uncover(digest), length, words): rules[index]
        for digest, length, words, index in rows
    }


def make_forms(
    surface: str, keys: DocumentKeys, *, whole: bool = False, everyday: bool = False
) -> Iterator[Form]:
    """
    Yield what a surface form is known by; a long one by its parts.

    Args:
        surface: As found in a text.
        keys: Of the document.
        whole: It is known by as many words alone, however long it is.
        everyday: It is a name that is an everyday word in small letters.
    """
    for part in _parts(surface):
        folded = fold(part.strip())
        letters = _LETTERS.findall(folded.text)
        run = "".join(letters)
        if everyday and not needs_case(run):
            yield Form(keys.of("form", run), len(run), _NAMED)
            continue
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
    """Return what one of the folded words of a text is known by, hidden by meaning."""
    return Form(" ".join(_with_sides(words, index, _Digests(keys))), 0, 0)


class _Digests(dict[tuple[str, str], str]):
    """The digests of one text, each worked out once, however often it is read."""

    def __init__(self, keys: DocumentKeys) -> None:
        self._keys = keys

    def __missing__(self, form: tuple[str, str]) -> str:
        digest = self[form] = self._keys.of(*form)
        return digest


class Register(Confidential):
    """All that is to be known again of one document; its stamp changes with it."""

    __slots__ = ("_forms", "_keys", "_words", "stamp")

    def __init__(self, forms: Forms, keys: DocumentKeys, stamp: bytes = b"") -> None:
        self._keys, self.stamp = keys, stamp
        self._forms: dict[int, dict[str, list[tuple[int, AbstractSet[bytes]]]]] = {}
        self._words: dict[str, dict[tuple[str, str], _Row]] = {}
        for (digest, length, words), rules in forms.items():
            if not length:
                word, *sides = digest.split(" ")
                between = sides[0] or sides[1], sides[2] or sides[3]
                self._words.setdefault(word, {})[between] = sides, rules
                continue
            # What goes as it is lies apart from forms of as many letters.
            known = self._forms.setdefault(-length if words == _EXACT else length, {})
            known.setdefault(digest, []).append((words, rules))

    def __bool__(self) -> bool:
        return bool(self._forms or self._words)

    def rules(self) -> frozenset[bytes]:
        """Return the keys of all rules that it knows something for."""
        every: set[bytes] = set()
        for digests in self._forms.values():
            every.update(*(rules for rows in digests.values() for _, rules in rows))
        for hidden in self._words.values():
            every.update(*(rules for _, rules in hidden.values()))
        return frozenset(every)

    def find(
        self,
        readings: Iterable[Folded],
        is_name: Callable[[str, Span], bool] = lambda _, __: True,
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """
        Yield the place of everything that is known again, and the rules.

        `is_name`: says of an everyday word in small letters whether it is a name there.
        """
        digests = _Digests(self._keys)
        for folded in readings:
            yield from self._find_forms(folded, digests, is_name=is_name)
            yield from self._find_words(folded, digests)

    def find_forms(
        self, readings: Iterable[Folded], *, loose: bool = False
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """
        Yield the place of every form that is at word boundaries.

        When `loose`, a short one counts whatever separates its letters.
        """
        digests = _Digests(self._keys)
        for folded in readings:
            yield from self._find_forms(folded, digests, loose=loose)

    def inside(self, runs: Collection[str], least: int) -> frozenset[bytes]:
        """Return the rules of forms of at least so many letters anywhere in runs."""
        hiding: set[bytes] = set()
        for length, digests in self._forms.items():
            windows = {
                run[start : start + length]
                for run in runs
                if length >= least
                for start in range(len(run) - length + 1)
            }
            for window in windows:
                for _, rules in digests.get(self._keys.of("form", window), ()):
                    hiding |= rules
        return frozenset(hiding)

    def _find_forms(
        self,
        folded: Folded,
        digests: _Digests,
        *,
        loose: bool = False,
        is_name: Callable[[str, Span], bool] = lambda _, __: True,
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        text = folded.text
        short = [length for length in self._forms if 0 < length < DENSE]
        long = [length for length in self._forms if length >= DENSE]
        for lengths, pattern in ((short, _TOKEN), (long, _LETTERS)):
            if not lengths:
                continue
            places = [match.span() for match in pattern.finditer(text)]
            for run, first, last in _windows(text, places, lengths):
                start, end = places[first][0], places[last][1]
                form = "form", run
                if len(run) < DENSE and needs_case(run):
                    span = folded.span_before(start, end)
                    if not in_its_case(folded.original, span):
                        continue
                    form = "cased", _as_given(span.of(folded.original))
                for words, rules in self._forms[len(run)].get(digests[form], ()):
                    if words == _NAMED:
                        whole = first == last or len(run) >= DENSE
                        place = folded.span_before(start, end)
                        surface = place.of(folded.original)
                        small = surface.islower() and surface.isalpha()
                        fits = whole and (not small or is_name(folded.original, place))
                    else:
                        fits = words in (0, last - first + 1)
                    if loose or fits:
                        yield rules, folded.span(start, end)
        yield from self._find_exact(folded, digests)

    def _find_exact(
        self, folded: Folded, digests: _Digests
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        text = folded.text
        for length in (-length for length in self._forms if length < 0):
            for start in range(len(text) - length + 1):
                end = start + length
                if is_boundary(text, start) and is_boundary(text, end):
                    digest = digests["exact", text[start:end]]
                    for _, rules in self._forms[-length].get(digest, ()):
                        yield rules, folded.span(start, end)

    def _find_words(
        self, folded: Folded, digests: _Digests
    ) -> Iterator[tuple[AbstractSet[bytes], Span]]:
        """Yield words that are hidden between the same neighbours."""
        places, words = find_words(folded) if self._words else ([], [])
        for index, place in enumerate(places):
            rows = self._words.get(digests["word", words[index]])
            if not rows:
                continue
            _, *sides = _with_sides(words, index, digests)
            near: Iterable[_Row | None] = rows.values()  # at an edge of the text
            if sides[0] and sides[2]:
                near = map(rows.get, product((*sides[:2], ""), (*sides[2:], "")))
            for known, rules in filter(None, near):
                if _is_between(known, sides):
                    yield rules, folded.span(*place)


def find_words(folded: Folded) -> tuple[list[tuple[int, int]], list[str]]:
    """Return where the words of a folded text are, and the words."""
    places = [match.span() for match in WORD.finditer(folded.text)]
    return places, [folded.text[start:end] for start, end in places]


def _with_sides(words: Sequence[str], index: int, digests: _Digests) -> list[str]:
    """Return digests of a word, and of it with two and one before it and after it."""
    sides = [digests["word", words[index]]]
    for start, end in ((-2, 0), (-1, 0), (0, 2), (0, 1)):
        inside = index + start >= 0 and index + end < len(words)
        phrase = " ".join(words[index + start : index + end + 1]) if inside else ""
        sides.append(digests[f"beside {start}", phrase] if inside else "")
    return sides


def _is_between(known: Sequence[str], here: Sequence[str]) -> bool:
    """Compare each side as far as both texts go."""
    for far, near in ((0, 1), (2, 3)):
        place = far if known[far] and here[far] else near
        if known[place] and here[place] and known[place] != here[place]:
            return False
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
