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
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sdrag.detectors.local.head import TYPES, Unit, load_head, read_units
from sdrag.detectors.local.name_forms import is_encoded
from sdrag.detectors.local.posts import is_post
from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    PARTICLES,
    TITLES,
    word_set,
)
from sdrag.detectors.local.tokens import Candidate
from sdrag.memo import Memo
from sdrag.text.sentences import sentences

if TYPE_CHECKING:
    from sdrag.detectors.local.head import Array

_SURE = {"PERSON": 0.9, "ORGANIZATION": 0.7, "ADDRESS": 0.7}
"""From this probability on a token begins a mention of a type."""
_MOST = 0.89
"""Where a rule finds the same, its mention is the surer one."""
_GOES_ON = 0.15
"""From this one on, a neighbour with a capital or a figure belongs to it."""
_JOINS = 0.35
"""From this one on, a mark or a small word does."""
_ADDRESSED = TITLES | word_set("forms_of_address")
_LETTERS, _NAMED = 3, 5
"""An address has so many letters for each figure, and in its longest word."""
_NEVER_IN_ADDRESS = FUNCTION_WORDS & {
    *("about", "after", "before", "but", "by", "for", "from", "had", "has", "is"),
    *("or", "that", "to", "was", "were", "with"),
}
_TELLING = re.compile(r"[^\W_a-z]")
"""A capital, a figure or a letter that English has not."""
_remembered: Memo[bytes, tuple[Candidate, ...]] = Memo(8192)
_secret = secrets.token_bytes(32)


def find_learned(text: str) -> Iterator[Candidate]:
    """Yield the people, firms and addresses that the head is sure of."""
    spans = [span for span in sentences(text) if _may_name(span.of(text))]
    said = [span.of(text) for span in spans]
    keys = [*map(_key, said)]
    kept = {key: _remembered.get(key) for key in keys}
    known = {key: found for key, found in kept.items() if found is not None}
    new = {k: each for k, each in zip(keys, said, strict=True) if k not in known}
    units = [*read_units(new.values())]
    chances = load_head().read(units) if units else []
    for key, unit, row in zip(new, units, chances, strict=True):
        known[key] = tuple(_find(new[key], unit, row))
        _remembered.put(key, known[key])
    for span, key in zip(spans, keys, strict=True):
        for found in known[key]:
            start, end = span.start + found.start, span.start + found.end
            yield found._replace(start=start, end=end)


def _may_name(sentence: str) -> bool:
    """Return False where nothing but a first word like `The` has a capital."""
    first = sentence.partition(" ")[0]
    if _TELLING.search(sentence, len(first)):
        return True
    return first.lower() not in FUNCTION_WORDS and _TELLING.search(first) is not None


def _find(sentence: str, unit: Unit, chances: Array) -> Iterator[Candidate]:
    for type_, sure in _SURE.items():
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
    groups: list[list[int]] = []
    for index in np.flatnonzero(column >= _GOES_ON).tolist():
        if column[index] < _JOINS and not unit.is_telling(index):
            continue
        small = words[index].islower() and words[index] not in PARTICLES
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


def _can_be(words: Sequence[str], type_: str) -> bool:
    """Return False for words that name nothing of a type, by what they are alone."""
    if type_ == "PERSON":
        return not is_post(words) and not any(map(str.isdecimal, "".join(words)))
    if type_ == "ORGANIZATION":  # café is a word with a letter that English has not
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
