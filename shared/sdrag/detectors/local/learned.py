"""
What the trained head of names finds: people, firms, addresses, sentence by sentence.

A mention begins where the head is sure of a token and goes on over its neighbours while
it thinks of the same type. What it read of a sentence is remembered in this process, as
numbers under a keyed hash, since a document is read as a whole and in its sentences.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdrag.detectors.local.fields import is_label
from sdrag.detectors.local.head import TYPES, Unit, load_head, read_units
from sdrag.detectors.local.name_forms import is_encoded
from sdrag.detectors.local.plain_text import has_no_capitals
from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    ORGANISATION_SUFFIXES,
    PARTICLES,
    TITLES,
    word_set,
)
from sdrag.detectors.local.terms import is_post
from sdrag.detectors.local.tokens import Candidate
from sdrag.memo import Memo
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    from sdrag.detectors.local.head import Array

_SURE = {"PERSON": 0.9, "ORGANIZATION": 0.7, "ADDRESS": 0.7}
"""From this probability on a token begins a mention of a type."""
_SURE_IN_SMALL = 0.85
"""The same for people in a sentence that has no capital to tell by."""
_MOST = 0.89
"""Where a rule finds the same, its mention is the surer one."""
_GOES_ON = 0.15
"""From this one on, a neighbour with a capital or a figure belongs to it."""
_JOINS = 0.35
"""From this one on, a mark or a small word does."""
_PLAIN = 0.75
"""From this probability on, an everyday word is no name where it stands."""
_LIKELY = 0.3
_ADDRESSED = TITLES | word_set("forms_of_address")
_LETTERS, _NAMED = 3, 5
"""An address has so many letters for each figure, and in its longest word."""
_NEVER_IN_ADDRESS = FUNCTION_WORDS & {
    *("about", "after", "before", "but", "by", "for", "from", "had", "has", "is"),
    *("or", "that", "to", "was", "were", "with"),
}


class _Heard(NamedTuple):
    """What is known of a sentence: mentions, and of each word how sure it is none."""

    found: tuple[Candidate, ...]
    starts: Array
    told: Array


_CODE = re.compile(r"[(){}=<>_]|[^\W\d_]'(?!s\b)[^\W\d_]")
"""Code, and elisions: ma'am, d'état."""
_remembered: Memo[bytes, _Heard] = Memo(8192)
_secret = secrets.token_bytes(32)


class Learned(Confidential):
    """
    What the head reads in a text, sentence by sentence.

    Attributes:
        found: The people, firms and addresses that it is sure of.
    """

    def __init__(self, text: str) -> None:
        spans = sentences(text)
        surfaces = [span.of(text) for span in spans]
        keys = [*map(_key, surfaces)]
        kept = {key: _remembered.get(key) for key in keys}
        known = {key: heard for key, heard in kept.items() if heard is not None}
        new = {
            k: each for k, each in zip(keys, surfaces, strict=True) if k not in known
        }
        units = [*read_units(new.values())]
        chances = load_head().read(units) if units else []
        for key, unit, row in zip(new, units, chances, strict=True):
            known[key] = _hear(new[key], unit, row)
            _remembered.put(key, known[key])
        heard = [
            (span.start, known[key]) for span, key in zip(spans, keys, strict=True)
        ]
        self.found = [
            each._replace(start=offset + each.start, end=offset + each.end)
            for offset, read in heard
            for each in read.found
        ]
        empty = np.empty(0, dtype=np.int32)
        starts = [read.starts + offset for offset, read in heard]
        self._starts = np.concatenate([empty, *starts])
        self._told = np.concatenate(
            [np.empty((2, 0), dtype=np.float32), *(read.told for _, read in heard)],
            axis=1,
        )

    def rules_out(self, start: int, end: int, limit: float) -> bool:
        """Return True if each word in between is surer than the limit to be no name."""
        none, _ = self._chances(start, end)
        return bool(none.size and none.min() > limit)

    def may_be_somebody(self, start: int, end: int) -> bool:
        """Return True if a word in between is as likely as not a part of a name."""
        _, person = self._chances(start, end)
        return not person.size or bool(person.max() > _LIKELY)

    def _chances(self, start: int, end: int) -> Array:
        """Return how sure each word is to be no name, and to be somebody's."""
        first, last = np.searchsorted(self._starts, (start, end))
        return self._told[:, first:last]


def _hear(sentence: str, unit: Unit, chances: Array) -> _Heard:
    words = [at for at, start in enumerate(unit.starts) if sentence[start].isalpha()]
    return _Heard(
        tuple(_find(sentence, unit, chances)) if words else (),
        np.array([unit.starts[at] for at in words], dtype=np.int32),
        chances[words][:, (0, TYPES.index("PERSON"))].T,
    )


class NamePlaces(Confidential):
    """Tells where an everyday word in small letters stands for a name, for one use."""

    def __init__(self) -> None:
        self._sentences: dict[str, Sequence[Span]] = {}

    def is_name(self, text: str, span: Span) -> bool:
        """Return True if the sentence reads as if the word had a capital."""
        if text not in self._sentences:
            self._sentences[text] = sentences(text)
        parts = self._sentences[text]
        part = parts[bisect_right(parts, span.start, key=lambda p: p.start) - 1]
        start, end = span.start - part.start, span.end - part.start
        sentence = part.of(text)
        sentence = sentence[:start] + sentence[start:end].capitalize() + sentence[end:]
        (unit,) = read_units([sentence])
        (chances,) = load_head().read([unit])
        none = chances[unit.starts.index(start), 0]
        return bool(none < _PLAIN)


def _find(sentence: str, unit: Unit, chances: Array) -> Iterator[Candidate]:
    small = _is_small(sentence)
    for type_, usual in _SURE.items():
        sure = _SURE_IN_SMALL if small and type_ == "PERSON" else usual
        column = chances[:, TYPES.index(type_)]
        if column.max(initial=0) >= sure:
            for run in _runs(sentence, unit, column, type_):
                surest = round(float(column[run].max()), 2)
                start, end = unit.starts[run[0]], unit.ends[run[-1]]
                if (
                    surest >= sure
                    and end - start > 1
                    and not is_encoded(sentence, start)
                ):
                    confidence = min(surest, _MOST)
                    yield Candidate(start, end, type_, confidence, "learned")


def _runs(sentence: str, unit: Unit, column: Array, type_: str) -> Iterator[list[int]]:
    """Yield the tokens of each stretch of a type, without the marks at its ends."""
    words = [
        sentence[start:end] for start, end in zip(unit.starts, unit.ends, strict=True)
    ]
    capitals = not _is_small(sentence)
    groups: list[list[int]] = []
    for index in np.flatnonzero(column >= _GOES_ON).tolist():
        if column[index] < _JOINS and not unit.is_telling(index):
            continue
        small = capitals and words[index].islower() and words[index] not in PARTICLES
        if type_ == "PERSON" and small:  # Calloway v. Boon
            continue
        if type_ == "ADDRESS" and words[index] in _NEVER_IN_ADDRESS:
            continue  # 0018 about Jonathan
        if groups and groups[-1][-1] == index - 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        run = [index for index in group if unit.is_word(index)]
        while type_ == "PERSON" and len(run) > 1 and words[run[0]] in _ADDRESSED:
            del run[0]
        if run and _can_be([words[at] for at in run], type_):
            yield run


def _is_small(sentence: str) -> bool:
    """Return True for words without capitals, but for a label or a speaker in front."""
    label, colon, said = sentence.partition(": ")
    said = said if colon and label.isalnum() else sentence
    return has_no_capitals(said) and _CODE.search(said) is None


def _can_be(words: Sequence[str], type_: str) -> bool:
    """Return False for words that name nothing of a type, by what they are alone."""
    if type_ == "PERSON":
        if FUNCTION_WORDS.issuperset(words) or all(map(is_label, words)):
            return False
        return not is_post(words) and not any(map(str.isdecimal, "".join(words)))
    if type_ == "ORGANIZATION":  # café is a word with a letter that English has not
        if ORGANISATION_SUFFIXES.issuperset(word.capitalize() for word in words):
            return False
        return any(not c.islower() for word in words for c in word if c.isalnum())
    return not _is_reading(words)


def _is_reading(words: Sequence[str]) -> bool:
    """Return True for what a monitor or a form says: BP 98/60 GCS 15."""
    figures = sum(word.isdecimal() for word in words)
    letters = [len(word) for word in words if word.isalpha()]
    return max(letters, default=0) < _NAMED or sum(letters) < _LETTERS * figures


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_secret, digest_size=16).digest()
