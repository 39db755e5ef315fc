"""
Runs of capitalised words, trimmed to what may be a name.

A word that English writes in lower case is no name at the start of a sentence, and
titles, months, peoples and function words are no part of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import NATIONALITIES, TITLES, is_common
from sdrag.detectors.local.tokens import TokenIndex, is_capital
from sdrag.vocabulary import Confidential

_GAPS = frozenset((" ", "-", ". ", ".", " & ", "  "))
_SHORTENED = tables.word_set("shortened")
_FORMS_OF_ADDRESS = tables.word_set("forms_of_address")
_JOINING = tables.PARTICLES | {"of", "and", "the", "for"}
_CALLED = tables.MONTHS | tables.WEEKDAYS | NATIONALITIES
_NO_NAME = tables.ACRONYMS | _CALLED | {word.upper() for word in _CALLED}
_NO_NAME |= tables.in_each_case(tables.word_set("machine_words")) | {"ETag"}
_FEASTS = frozenset(("Day", "Eve"))
_PARTNERS = frozenset(("Sons", "Partners", "Associates", "Co", "Company", "Brothers"))
_LONGEST = 40
"""No name has more tokens; a table in capitals has, and is read in pieces."""
_HEADS = (
    tables.ORGANISATION_HEADS
    | tables.PLACE_OF
    | tables.listed("House Bank Division Group Section Branch Direction Order")
)

# "St Mary's Hospital" is one name, "Mary's Bank" hardly ever two.
_OWNED = tables.ORGANISATION_HEADS | tables.listed("Day Eve House Allowance Witnesses")


@dataclass(frozen=True, slots=True, repr=False)
class Run(Confidential):
    """A candidate for a name."""

    tokens: TokenIndex
    start: int
    end: int
    titles: range
    first_character: int
    last_character: int
    words: list[str]
    surface: str
    unusual: bool

    def before(self, length: int) -> str:
        """Return the characters in front of it."""
        return self.tokens.text[
            max(0, self.first_character - length) : self.first_character
        ]

    def after(self, length: int) -> str:
        """Return the characters behind it."""
        return self.tokens.text[self.last_character : self.last_character + length]


def find_runs(tokens: TokenIndex) -> Iterator[Run]:
    """Yield the candidates of a text, in order."""
    end = 0
    for index in tokens.capitals:
        if index < end:
            continue
        end = _end(tokens, index)
        run = _trim(tokens, index, end)
        if run is not None:
            yield run


def _end(tokens: TokenIndex, start: int) -> int:
    """Return the token after the run that begins at `start`."""
    end = start + 1
    while end < min(len(tokens.words), start + _LONGEST):
        gap = tokens.gap(end)
        if _is_owned(tokens, end):
            end += 2
            continue
        if not _joins(gap, tokens.words[end - 1]):
            break
        # "First-instance": the second half of a compound stays with the first.
        if is_capital(tokens.words[end]) or gap == "-":
            end += 1
            continue
        ahead = _past_particles(tokens, start, end)
        if ahead == end:
            break
        end = ahead
    return end


def _is_owned(tokens: TokenIndex, index: int) -> bool:
    """Return True if the token is the 's of one name: St Mary's Hospital."""
    return (
        tokens.words[index] == "s"
        and index + 1 < len(tokens.words)
        and tokens.gap(index) == "'"
        and tokens.words[index + 1] in _OWNED
        and tokens.gap(index + 1) == " "
    )


def _joins(gap: str, word: str) -> bool:
    """Return True if a name may go on over the gap behind the word."""
    if gap == "' ":
        return word.endswith("s")
    return gap in _GAPS and (gap[0] != "." or _is_shortened(word))


def _past_particles(tokens: TokenIndex, start: int, index: int) -> int:
    """Return the token after the capitalised one that particles at `index` lead to."""
    words = tokens.words
    for ahead in range(index, min(index + 3, len(words) - 1)):
        if words[ahead] not in _JOINING or tokens.gap(ahead + 1) not in (" ", "-"):
            break
        if words[ahead + 1][0].isupper():
            if words[index] == "and" and words[ahead + 1] in _PARTNERS:
                return ahead + 2
            of_name = words[index] in tables.PARTICLES or any(
                word in _HEADS for word in words[start:index]
            )
            return ahead + 2 if of_name else index
    return index


def _is_shortened(word: str) -> bool:
    return len(word) == 1 or word in TITLES or word in _SHORTENED


def _trim(tokens: TokenIndex, start: int, end: int) -> Run | None:
    """Leave out titles, openers of sentences and what is no part of a name."""
    words = tokens.words
    start = _past_openers(tokens, start, end)
    first = start
    while start < end - 1 and words[start] in TITLES:
        start += 1
    titles = range(first, start)
    if not titles and start and words[start - 1] in TITLES:
        titles = range(start - 1, start)
    if not titles:
        start = _past_openers(tokens, start, end)
        for index in range(start, end - 1):
            addressed = words[index] in _FORMS_OF_ADDRESS
            if addressed and tokens.gap(index + 1) in (" ", ". "):
                if words[index + 1][0].isupper() and words[index + 1] not in _HEADS:
                    start, titles = index + 1, range(index, index + 1)
                break
            if not is_common(words[index]):
                break
    while end > start and (
        words[end - 1] == "I"
        or (words[end - 1] in _NO_NAME and tokens.gap(end - 1) != "-")
        or (words[end - 1].lower() in tables.FUNCTION_WORDS and len(words[end - 1]) > 1)
    ):
        end -= 1
    return _run(tokens, start, end, titles) if start < end else None


def _run(tokens: TokenIndex, start: int, end: int, titles: range) -> Run:
    first, last = tokens.starts[start], tokens.ends[end - 1]
    named = tokens.words[start:end]
    unusual = any(
        len(word) > 1 and word[0].isalpha() and not is_common(word) for word in named
    )
    surface = tokens.text[first:last]
    return Run(tokens, start, end, titles, first, last, named, surface, unusual)


def _may_begin_sentence(tokens: TokenIndex, start: int, end: int) -> bool:
    """Return True if a name may begin like a sentence: a known place, a company."""
    words = tokens.words
    if words[end - 1] in _FEASTS:
        return True
    if words[end - 1] in tables.ORGANISATION_SUFFIXES:
        return words[start].lower() not in tables.FUNCTION_WORDS
    name = tokens.text[tokens.starts[start] : tokens.ends[end - 1]]
    return name in tables.places() or name in tables.countries()


def _past_openers(tokens: TokenIndex, start: int, end: int) -> int:
    words = tokens.words
    while start < end:
        if end - start > 1 and _may_begin_sentence(tokens, start, end):
            break
        word = words[start]
        lower = word.lower()
        if (
            len(word) == 1
            and tokens.text[tokens.ends[start] : tokens.ends[start] + 1] == "."
        ):
            break
        stem = lower.partition("'")[0]
        opener = stem in tables.FUNCTION_WORDS or word in _NO_NAME
        if not opener and tokens.opens_sentence(start) and word not in TITLES:
            given = word.capitalize() if word.isupper() else word
            opener = is_common(word) and (
                end - start == 1 or given not in tables.first_names()
            )
            # "Ward 6", "Mercy Hospital": a common word that a name begins with.
            if opener and end - start > 1:
                opener = tables.common_words().get(lower, 0) < _FREQUENT
        if not opener:
            break
        start += 1
    return start


_FREQUENT = 3000
