"""
A small network that reads names, firms and addresses off the words around them.

A word is what English makes of it (the packaged MiniLM's vectors of frequent words, in
32 numbers), how it is written, how it begins and ends, and which lists hold it. Four
narrow convolutions carry this to its neighbours, and a token gets a type. Everything is
numpy: no transformer, no extra, about a millisecond a kilobyte.

Every sentence is read by itself, so no other text can take a finding away. Training
data and script: benchmarks/names/.
"""

from __future__ import annotations

import io
import re
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import word_set
from sdrag.embeddings import read_packaged
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

TYPES = ("", "PERSON", "ORGANIZATION", "ADDRESS", "LOCATION")
"""What a token can be."""
KNOWN = 12_000
"""So many frequent words have a vector of their own; all others share one."""
BUCKETS = 2048
"""Beginnings and ends of words are hashed into so many rows."""
DILATIONS = (1, 2, 4, 8)
"""How far each convolution looks to either side, in tokens."""
_GAP = max(DILATIONS)
TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_|\n")
_MARKS = ".,:;-'\"()/&@#|<>[]{}*_=+!?\n>\u2019\u2013\u00ba\u00b0%$"
_AFFIX = 3
_SHORT = 5
_FIRST_LETTERS, _FIRST_MARK = 8, 24


@dataclass(frozen=True, slots=True, repr=False)
class Unit(Confidential):
    """The tokens of a sentence: where they are, and what the network is told."""

    starts: list[int]
    ends: list[int]
    rows: list[tuple[int, ...]]

    def is_word(self, index: int) -> bool:
        """Return True for letters and figures."""
        return self.rows[index][1] < _FIRST_MARK

    def is_telling(self, index: int) -> bool:
        """Return True for a figure and for a word with a capital."""
        return self.rows[index][1] < _FIRST_LETTERS or (
            _FIRST_LETTERS + 4 <= self.rows[index][1] < _FIRST_MARK
        )


def read_units(sentences: Iterable[str]) -> Iterator[Unit]:
    """Yield the tokens of each sentence; of white space alone, none."""
    seen: dict[str, tuple[int, ...]] = {}
    for sentence in sentences:
        starts: list[int] = []
        ends: list[int] = []
        rows: list[tuple[int, ...]] = []
        for match in TOKEN.finditer(sentence):
            word = match.group()
            row = seen.get(word)
            if row is None:
                row = seen[word] = describe(word)
            start, end = match.span()
            spaced = not ends or start > ends[-1]
            rows.append((*row, spaced | (not ends) << 1))
            starts.append(start)
            ends.append(end)
        yield Unit(starts, ends, rows)


def describe(word: str) -> tuple[int, ...]:
    """Return the numbers of a word: vector, shape, beginning, end, lists."""
    lower = word.lower()
    rank = tables.common_words().get(lower, _LEVELS[-1])
    return (
        min(rank, KNOWN),
        _shape(word),
        _hash(lower[:_AFFIX]) if word[0].isalpha() else 0,
        _hash("$" + lower[-_AFFIX:]) if word[0].isalpha() else 0,
        _listed(word, lower, rank),
    )


def _hash(text: str) -> int:
    return 1 + zlib.crc32(text.encode("utf-8", "surrogatepass")) % (BUCKETS - 1)


def _shape(word: str) -> int:
    if word[0].isdigit():
        return min(len(word), 6)
    if not word[0].isalpha():
        return _FIRST_MARK + _MARKS.find(word) + 1
    plain = word.isascii()
    if word.islower():
        kind = 0 if len(word) > 1 else 1
    elif word.isupper():
        kind = 2 if len(word) == 1 else 3 if len(word) <= _SHORT else 4
    elif word[1:].islower():
        kind = 5
    else:
        kind = 6
    return _FIRST_LETTERS + 2 * kind + plain


SHAPES = _FIRST_MARK + len(_MARKS) + 1


_LEVELS = (300, 2_000, 6_000, 15_000, 45_000)
_CAPITALISED, _SMALL = 14, 6
BITS = len(_LEVELS) + _CAPITALISED + _SMALL + 2


@lru_cache(maxsize=1)
def _capitalised() -> dict[str, int]:
    """Return capitalised words of lists, and the bits of the lists that hold each."""
    lists: tuple[Iterable[str], ...] = (
        tables.first_names(),
        tables.surnames(),
        tables.places(),
        tables.countries(),
        tables.NATIONALITIES,
        tables.MONTHS | tables.WEEKDAYS,
        tables.TITLES,
        tables.STREET_HEADS,
        tables.ORGANISATION_SUFFIXES,
        tables.ORGANISATION_HEADS,
        tables.GENERIC,
        tables.ACRONYMS,
        tables.OFFICES,
        tables.PLACE_HEADS,
    )
    return _bits(lists, len(_LEVELS))


@lru_cache(maxsize=1)
def _small() -> dict[str, int]:
    """Do the same for words in lower case."""
    kinds = tables.kinds().items()
    lists: tuple[Iterable[str], ...] = (
        tables.FUNCTION_WORDS,
        tables.PARTICLES,
        word_set("street_words"),
        word_set("foreign_street_words"),
        word_set("roles"),
        [word for word, type_ in kinds if type_ == "JOB_TITLE"],
    )
    return _bits(lists, len(_LEVELS) + _CAPITALISED)


def _bits(lists: Iterable[Iterable[str]], first: int) -> dict[str, int]:
    bits: defaultdict[str, int] = defaultdict(int)
    for index, words in enumerate(lists, first):
        for word in words:
            bits[word] |= 1 << index
    return dict(bits)


def _listed(word: str, lower: str, rank: int) -> int:
    """Return which lists hold a word, one bit each."""
    if not word[0].isalpha():
        return 0
    bits = _small().get(lower, 0) | _capitalised().get(word.capitalize(), 0)
    if len(word) <= _SHORT:
        bits |= _capitalised().get(word, 0)  # an abbreviation
    first = bisect_right(_LEVELS, rank)  # the levels that the rank is below
    return bits | (1 << len(_LEVELS)) - (1 << first)


class Head:
    """The network, with its weights; threads share it."""

    def __init__(self, weights: bytes) -> None:
        with np.load(io.BytesIO(weights), allow_pickle=False) as stored:
            rows = {name: stored[name] for name in stored.files}
        self._of = {
            name: _widen(row, rows.get(f"{name}.scale"))
            for name, row in rows.items()
            if not name.endswith(".scale")
        }

    def read(self, units: Sequence[Unit]) -> list[Array]:
        """Return the probabilities of the types for the tokens of each unit."""
        counts = [len(unit.rows) for unit in units]
        ends = np.cumsum([count + _GAP for count in counts])
        size = int(ends[-1]) if counts else 0
        told = np.zeros((size, 6), dtype=np.int64)
        real = np.zeros((size, 1), dtype=np.float32)
        places = [
            slice(e - c - _GAP, e - _GAP) for c, e in zip(counts, ends, strict=True)
        ]
        for place, unit in zip(places, units, strict=True):
            if unit.rows:
                told[place], real[place] = unit.rows, 1
        states = self._embed(told) * real
        starts = np.array([place.start for place in places])
        sums = np.add.reduceat(states, starts, axis=0)
        means = (sums / np.maximum(counts, 1)[:, None]) @ self._of["mean"]
        of_unit = np.repeat(means, [count + _GAP for count in counts], axis=0)
        for number, dilation in enumerate(DILATIONS):
            shifted = np.concatenate(
                [_shift(states, -dilation), states, _shift(states, dilation)], axis=1
            )
            out = shifted @ self._of[f"conv{number}"] + self._of[f"bias{number}"]
            if number == 0:
                out += of_unit
            states = (states + np.maximum(out, 0)) * real
        logits = states @ self._of["out"] + self._of["out_bias"]
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return [chances[place] for place in places]

    def _embed(self, told: Array) -> Array:
        of = self._of
        bits = told[:, 4] | told[:, 5] << (BITS - 2)
        listed = (bits[:, None] >> np.arange(BITS) & 1).astype(np.float32)
        parts = (
            of["word"][told[:, 0]] @ of["word_in"],
            of["shape"][told[:, 1]],
            of["begin"][told[:, 2]] @ of["affix_in"],
            of["end"][told[:, 3]] @ of["affix_in"],
            listed @ of["lists"],
        )
        embedded: Array = np.maximum(sum(parts[1:], parts[0]) + of["bias"], 0)
        return embedded


def _shift(states: Array, by: int) -> Array:
    moved = np.zeros_like(states)
    if by < 0:
        moved[-by:] = states[:by]
    else:
        moved[:-by] = states[by:]
    return moved


def _widen(row: Array, scale: Array | None) -> Array:
    wide: Array = row.astype(np.float32)
    if scale is not None:
        wide *= scale.astype(np.float32)
    return wide


@lru_cache(maxsize=1)
def load_head() -> Head:
    """Return the network that comes with the package."""
    return Head(read_packaged(files(__package__).joinpath("head.npz")))
