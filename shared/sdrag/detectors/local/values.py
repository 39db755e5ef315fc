"""
A small network that tells what kind of value stands somewhere: a phone, a price, a PIN.

It reads a value in its place: how it is written, the label of its cell and of what that
is in, the words on either side of it in its sentence, and what the rules take it for.
Each of these is a bag of hashed pieces; two layers weigh them against each other.
Everything is numpy: no extra, a tenth of a millisecond a value.

A value is judged by its own cell and sentence, so no other text can take a finding
away. Training data and script: benchmarks/values/.
"""

from __future__ import annotations

import io
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdrag.detectors.local.number_kinds import is_sure, labels_beside, number_kinds
from sdrag.detectors.local.tokens import split_word
from sdrag.embeddings import read_packaged
from sdrag.text.cells import Cell, read_cells
from sdrag.vocabulary import Confidential, Mention, Span

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

KINDS = (
    *("other", "phone", "email", "ip", "mac", "username", "credential", "account"),
    *("card", "passport", "licence", "plate", "tax", "insurance", "patient"),
    *("employee", "customer", "student", "order", "invoice", "case", "claim"),
    *("policy", "ticket", "tracking", "serial", "reference", "birth", "age", "salary"),
    *("money", "nationality", "birthplace", "place", "address", "person", "firm"),
    *("marital", "condition", "date", "quantity", "coordinates", "room", "religion"),
    "time",
)
"""What a value can be."""
BUCKETS = 4096
"""Pieces are hashed into so many rows of each table."""
_LONGEST = 70
_BEFORE, _AFTER = 80, 50
_WORDS_BEFORE, _WORDS_AFTER = 9, 5
_PLACED_BEFORE, _PLACED_AFTER = 4, 3
"""So many words on either side count by their places, too."""
_ROLES = ("key", "header", "speaker", "field", "value", "code", "prose")
_FIELDS = ("field", "value")
_SENTENCE_END = re.compile(r"[.!?;](?: |$)")
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_LETTERS = re.compile(r"[^\W\d_]+")
_KEY_WORD = re.compile(r"[^\W_]+")
_LONG_RUN = re.compile(r"(.)\1{3,}")
_RUN = re.compile(r"(.)\1+")
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_BIRTH_YEARS = range(1915, 2013)
_FACTS = tuple(
    re.compile(form)
    for form in (
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:[/:]\d+)?",
        r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}",
        r".+@.*",
        r"@.*",
        r"\+.*",
        r"0.*",
        r"#.*",
        r"[\d.,' ]+",
        r"\d+",
        r"[^\W\d_]+",
        r"\D*",
        r"[\W\d_]*",
        r"0*(?:[1-9]\d?|10\d|110)",
        r"[1-9]\d",
        r".*(?:[\u20ac$\u00a3]|EUR|USD|GBP|CHF).*",
        r".*[.,]\d\d",
        r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).*",
        r".*[!?$%&*+=^~].*",
        r".* .*",
        r"[A-Z].*",
    )
)
"""Forms as a whole."""
_FEW_SPACES = 2
_LENGTHS = (2, 4, 6, 9, 13, 20, 40)
_DIGITS = (7, 8, 13, 15)
_TOKEN = re.compile(r"[\w#/.:@+*!$%&=^~-]{2,80}")
_TELLING = re.compile(r".*(?:\d|[a-z][A-Z]|@|\w[_.!$%&*^~]\w)")
_GROUPS = re.compile(
    r"(?<![\w.])[+(]?\d[\d()]{0,20}(?:[ ./-]{1,2}[\d()]{1,20}){1,12}(?!\w)"
)
_EDGES = "#.:@-/,!?=&*"


class Described(NamedTuple):
    """What the network is told of a value: bags of rows, and facts from 0 to 1."""

    form: list[int]
    label: list[int]
    around: list[int]
    facts: list[float]


class PlacedValues(Confidential):
    """
    The values of a passage, in their places.

    Args:
        text: Of the passage alone.
        mentions: What the rules found in it, in its offsets.
    """

    def __init__(self, text: str, mentions: Iterable[Mention]) -> None:
        self.text, self._layout = text, read_cells(text)
        self._mentions = sorted(mentions, key=lambda mention: mention.span)
        self._ends = list(_highest(each.span.end for each in self._mentions))

    @cached_property
    def spans(self) -> list[Span]:
        """Where values may be: cells, and what has a figure in prose."""
        spans = {each.span for each in self._mentions if self.field_of(each.span)}
        spans.update(
            cell.span
            for cell in self._layout.cells
            if cell.role in _FIELDS and cell.end - cell.start <= _LONGEST
        )
        for match in _TOKEN.finditer(self.text):
            start, end = match.span()
            value = match.group()
            end -= len(value) - len(value.rstrip(_EDGES))
            start += len(value) - len(value.lstrip(_EDGES.replace("@", "")))
            if start < end and _TELLING.match(self.text, start, end):
                spans.add(Span(start, end))
                named = 1 + max(self.text.rfind(mark, start, end) for mark in "=:")
                if named and named < end:
                    spans.add(Span(named, end))
        spans.update(Span(*m.span()) for m in _GROUPS.finditer(self.text))
        return sorted(spans)

    def field_of(self, span: Span) -> Span | None:
        """Return the cell with a label that a value is in; none in prose."""
        cell = self._layout.at(span.start)
        return cell.span if cell and cell.label and cell.role in _FIELDS else None

    def describe(self, span: Span) -> Described:
        """Return what the network is told of a value."""
        text, (start, end) = self.text, (span.start, span.end)
        cell = self._layout.at(start)
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end) if "\n" in text[end:] else len(text)
        whole = (first, last)
        if cell and cell.role != "prose":
            whole = (cell.start, max(cell.end, end))
        before = text[max(whole[0], start - _BEFORE) : start]
        after = text[end : min(whole[1], end + _AFTER)]
        before = before[
            max((m.end() for m in _SENTENCE_END.finditer(before)), default=0) :
        ]
        stop = _SENTENCE_END.search(after)
        around = [
            *_hash_words(before, after[: stop.start()] if stop else after),
            *self._hash_rules(span),
            _hash("<" + text[start - 1 : start]),
            _hash(">" + text[end : end + 1]),
        ]
        value = text[start : min(end, start + _LONGEST)]
        return Described(
            [*_hash_form(value)],
            [*_hash_label(cell)],
            around,
            [
                *map(float, _facts(value)),
                *(float(cell is not None and cell.role == role) for role in _ROLES),
                float(cell is not None and cell.span == span),
                float(bool(cell and cell.label)),
                float(start == first),
                float(end == last),
            ],
        )

    def _hash_rules(self, span: Span) -> Iterator[int]:
        """Yield what the rules take a value, what is in it and around it for."""
        at = bisect_left(self._ends, span.start + 1)
        for each in self._mentions[at:]:
            if each.span.start >= span.end:
                break
            if each.span == span:
                yield _hash(f"=={each.reason} {each.type}")
            if each.span.overlaps(span):
                inside, outside = span.contains(each.span), each.span.contains(span)
                yield _hash(f"{inside:d}{outside:d}{each.type}")
        value = span.of(self.text)
        if any(map(str.isdecimal, value)):
            kinds = labels_beside(self.text, span)
            yield from (_hash(f"label {kind}") for kind in kinds or ("",))


def _highest(numbers: Iterable[int]) -> Iterator[int]:
    most = 0
    for number in numbers:
        most = max(most, number)
        yield most


def _hash(piece: str) -> int:
    return zlib.crc32(piece.encode("utf-8", "surrogatepass")) % BUCKETS


def _grams(text: str, least: int, most: int) -> Iterator[int]:
    text = f"^{text}$"
    for size in range(least, most + 1):
        for at in range(len(text) - size + 1):
            yield _hash(text[at : at + size])


@lru_cache(maxsize=8192)
def _pieces(word: str, least: int = 3) -> tuple[int, ...]:
    """Return the rows of a word and of its beginnings, middles and ends."""
    return (_hash("w" + word), *_grams(word[:14], least, 4))


def _hash_form(value: str) -> Iterator[int]:
    shape = _shape(value)
    short = _LONG_RUN.sub(r"\1\1\1\1", shape)
    yield from _grams(short, 1, 4)
    yield _hash("s" + short)
    yield _hash("r" + _RUN.sub(r"\1", shape))
    for word in _LETTERS.findall(value)[:8]:
        yield from _pieces(word.lower())


def _shape(value: str) -> str:
    return "".join(
        "9" if c.isdecimal() else "A" if c.isupper() else "a" if c.isalpha() else c
        for c in value
    )


def _facts(value: str) -> Iterator[bool]:
    yield from (form.fullmatch(value) is not None for form in _FACTS)
    yield from (is_sure(number_kinds()[kind], value) for kind in ("account", "card"))
    yield value.count(" ") > _FEW_SPACES
    digits = sum(map(str.isdecimal, value))
    yield from (digits >= least for least in _DIGITS)
    yield from (len(value) <= most for most in _LENGTHS)
    years = [int(year) for year in _YEAR.findall(value)]
    yield bool(years)
    yield any(year in _BIRTH_YEARS for year in years)
    yield any(year >= _BIRTH_YEARS.stop for year in years)


def _hash_label(cell: Cell | None) -> Iterator[int]:
    if cell is None:
        return
    words = _words_of_key(cell.label)
    for word in words:
        yield from _pieces(word)
    if words:
        yield _hash("l" + words[-1])
        yield _hash("a" + "_".join(words))
    for key in cell.path[:-1]:
        yield from (_hash("p" + word) for word in _words_of_key(key))


@lru_cache(maxsize=2048)
def _words_of_key(key: str) -> tuple[str, ...]:
    parts = (part for word in _KEY_WORD.findall(key) for part in split_word(word))
    return tuple(part.lower() for part in parts)[-6:]


def _hash_words(before: str, after: str) -> Iterator[int]:
    words = [_plain(word) for word in _WORD.findall(before)[-_WORDS_BEFORE:]]
    for at, word in enumerate(reversed(words)):
        if at < _PLACED_BEFORE:
            yield _hash(f"-{at}{word}")
        yield from _pieces(word) if word.isalpha() else (_hash("w" + word),)
    near = [word for word in words if word.isalpha()]
    yield from (
        _hash("n" + "_".join(near[-many:])) for many in (1, 2) if near[many - 1 :]
    )
    for at, word in enumerate(map(_plain, _WORD.findall(after)[:_WORDS_AFTER])):
        if at < _PLACED_AFTER:
            yield _hash(f"+{at}{word}")
        yield _hash("f" + word)


def _plain(word: str) -> str:
    return "9" * min(len(word), 4) if word.isdecimal() else word.lower()


class ValueNetwork:
    """The network, with its weights; threads share it."""

    def __init__(self, weights: bytes) -> None:
        with np.load(io.BytesIO(weights), allow_pickle=False) as stored:
            rows = {name: stored[name].astype(np.float32) for name in stored.files}
        self._of = rows
        for name in ("form", "label", "around"):
            self._of[name] *= rows[f"{name}.scale"]

    def read(self, values: Sequence[Described]) -> Array:
        """Return the chances of the kinds, (values, kinds)."""
        of = self._of
        if not values:
            return np.zeros((0, len(KINDS)), dtype=np.float32)
        read = [
            np.tanh(self._sum("form", [value.form for value in values])),
            np.tanh(self._sum("label", [value.label for value in values])),
            np.tanh(self._sum("around", [value.around for value in values])),
        ]
        facts = np.array([value.facts for value in values], dtype=np.float32)
        read.append(np.maximum(facts @ of["facts"] + of["facts_bias"], 0))
        states = np.maximum(np.concatenate(read, axis=1) @ of["in"] + of["in_bias"], 0)
        states = states + np.maximum(states @ of["deep"] + of["deep_bias"], 0)
        logits = states @ of["out"] + of["out_bias"]
        logits -= logits.max(axis=1, keepdims=True)
        chances: Array = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def _sum(self, name: str, bags: Sequence[list[int]]) -> Array:
        """Return the sum of each bag's rows, over the root of how many they are."""
        table = self._of[name]
        sums = np.zeros((len(bags), table.shape[1]), dtype=np.float32)
        for at, bag in enumerate(bags):
            if bag:
                sums[at] = table[bag].sum(axis=0) / np.sqrt(len(bag))
        return sums


@lru_cache(maxsize=1)
def load_values() -> ValueNetwork:
    """Return the network that comes with the package."""
    return ValueNetwork(read_packaged(files(__package__).joinpath("values.npz")))
