"""
What a released context holds: words next to each other, and figures in any notation.

A figure is digits, months and groups of letters next to each other. It is known without
what parts them, by what it counts and by the date that it names, so 4,900,000 is held
where "4.9 million" is, and 2021-05-17 where "May 17, 2021" is. A part of fewer than
three characters is held only beside the same word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sdrag.detectors.language import find_language
from sdrag.detectors.local.tables import (
    common_words,
    countries,
    first_names,
    listed,
    peoples,
    surnames,
)
from sdrag.state.register import WORD
from sdrag.text.dates import MONTHS, WEEKDAYS, Date, read_date
from sdrag.text.folding import Folded, fold, fold_text
from sdrag.vocabulary import EVIDENCE_KEY, Confidential, Passage, Span

LEAST = 3
GAP = 4
"""Most characters between the parts of a figure."""
_GROUP, _WINDOW = 5, 6
"""Most letters of a part of a figure, and parts."""
SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
_SUM = re.compile(
    r"(\d+(?:[ ,.'\u2019]\d{3})*)(?:[.,](\d\d?))?"
    rf"(?: ?({'|'.join(sorted(SCALES, key=len, reverse=True))}))?(?!\w)"
)
_ENDINGS = re.compile(r"(?:'s|s|es|ed|d|ing|ly|er|ers|est|ness|ment|ments|able|ally)\Z")
_BEGINNINGS = re.compile(r"(?:un|re|non|mis|over|under|pre|out|co|sub|inter|anti)")
END = re.compile(r"[.!?:]\s|\n")
_BREAK = re.compile(rf"{END.pattern}|[\"\u201c(*#]")
UNITS = listed(
    """
    km kmh mph kg mg ml mm cm ms hz khz mhz ghz kw kwh mw gb mb kb tb eur usd gbp chf
    pdf url html http https www api faq covid ok etc eg ie mr mrs ms dr prof
    st nd rd th
    """
)
Figure = str | int | Date
"""A figure without what parts it; what it counts, in hundredths; the date it names."""


@dataclass(frozen=True, slots=True, repr=False)
class FoldedToken(Confidential):
    """A word or a number: folded, and where it is in the text and in the reading."""

    word: str
    span: Span
    place: Span
    capital: bool
    begins: bool
    """Whether a sentence, a line or a quotation begins with it."""
    part: bool
    """Whether it may be a part of a figure."""

    @property
    def digits(self) -> bool:
        """Whether it holds a digit."""
        return any(map(str.isdigit, self.word))


def find_tokens(folded: Folded, text: str) -> list[FoldedToken]:
    """Return the words and numbers of a reading of a text."""
    tokens: list[FoldedToken] = []
    for match in WORD.finditer(folded.text):
        word, span = match.group(), folded.span(*match.span())
        surface = span.of(text)
        gap = text[tokens[-1].span.end : span.start] if tokens else "\n"
        initial = len(gap) < LEAST and tokens and len(tokens[-1].word) == 1
        begins = not initial and _BREAK.search(gap) is not None
        part = len(word) <= _GROUP and word not in UNITS and surface not in {"a", "i"}
        part = part and (len(word) == 1 or surface.isupper() or not is_ordinary(word))
        part = part or word in MONTHS or any(map(str.isdigit, word))
        capital = surface[:1].isupper()
        tokens.append(
            FoldedToken(word, span, Span(*match.span()), capital, begins, part)
        )
    return tokens


def find_runs(tokens: Sequence[FoldedToken]) -> Iterator[range]:
    """Yield where the parts of a figure are next to each other."""
    start = 0
    for i in range(len(tokens) + 1):
        part = i < len(tokens) and tokens[i].part
        gap = tokens[i].place.start - tokens[i - 1].place.end if part and i else 0
        if part and (i == start or gap <= GAP):
            continue
        if any(token.digits for token in tokens[start:i]):
            yield range(start, i)
        start = i if part else i + 1


def find_notations(
    folded: Folded, tokens: Sequence[FoldedToken], run: range
) -> Iterator[tuple[range, set[Figure]]]:
    """Yield every window of a figure, and what tells it in any notation."""
    for start in run:
        for stop in range(start + 1, min(start + _WINDOW, run.stop) + 1):
            words = [token.word for token in tokens[start:stop]]
            first, last = tokens[start].place.start, tokens[stop - 1].place.end
            forms: set[Figure] = {"".join(words)}
            amount = _SUM.match(folded.text, first)
            if amount and amount.end() >= last:
                whole, part, scale = amount.groups()
                number = "".join(filter(str.isdigit, whole)) + (part or "").ljust(
                    2, "0"
                )
                forms.add(int(number) * 10 ** SCALES.get(scale, 0))
            if len(words) in {2, 3} or words[0].isdigit():
                for american in (False, True):
                    date = read_date(folded.text[first:last], months_first=american)
                    if date and date.month:
                        forms |= {date, date._replace(year=0), date._replace(day=0)}
            yield range(start, stop), forms


@dataclass(frozen=True, slots=True, repr=False)
class ReleasedContext(Confidential):
    """The words that were released, in their order, and the figures."""

    folded: str
    language: str | None
    words: tuple[str, ...]
    places: Mapping[str, Sequence[int]]
    pairs: AbstractSet[tuple[str, ...]]
    figures: AbstractSet[Figure]

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> ReleasedContext:
        """Read passages, and the strings of their metadata."""
        texts = [passage.text for passage in passages]
        for passage in passages:
            texts += [
                item
                for key, value in passage.metadata.items()
                if key != EVIDENCE_KEY
                for item in (value if isinstance(value, (list, tuple)) else (value,))
                if isinstance(item, str)
            ]
        text = "\n".join(texts)
        folded = fold(text)
        tokens = find_tokens(folded, text)
        words = tuple(token.word for token in tokens)
        places: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            places.setdefault(_stem(word), []).append(at)
        figures: set[Figure] = set()
        for run in find_runs(tokens):
            figures.update(*(forms for _, forms in find_notations(folded, tokens, run)))
        language, pairs = find_language(text), {*pairwise(words)}
        return cls(folded.text, language, words, places, pairs, figures)

    def has(self, word: str) -> bool:
        """Say whether a folded word, or another form of it, was released."""
        return _stem(word) in self.places

    def find_held(self, folded: Folded, tokens: Sequence[FoldedToken]) -> Iterator[int]:
        """Yield the indices of the parts of figures that were released."""
        words = ["", *(token.word for token in tokens), ""]
        for run in find_runs(tokens):
            for window, forms in find_notations(folded, tokens, run):
                start, stop = window.start, window.stop
                beside = {(*words[start : start + 2],), (*words[stop : stop + 2],)}
                alone = window == run or not beside.isdisjoint(self.pairs)
                long = sum(map(len, words[start + 1 : stop + 1])) >= LEAST
                if (long or alone) and not self.figures.isdisjoint(forms):
                    yield from window

    def holds(self, words: Sequence[str]) -> bool:
        """Say whether words were released next to each other."""
        if not all(map(self.has, words)):
            return False
        telling = {_stem(word) for word in words if not is_ordinary(word)}
        if len(telling) <= 1:
            return True
        width = len(telling)
        rarest = min(telling, key=lambda word: len(self.places[word]))
        around = (
            self.words[max(0, at - width) : at + width + 1]
            for at in self.places[rarest]
        )
        return any(telling <= {*map(_stem, words)} for words in around)


def fold_words(text: str) -> Iterator[str]:
    """Yield the words of a text, folded."""
    return (match.group() for match in WORD.finditer(fold(text).text))


def rank(word: str) -> int:
    """Return the place of a folded word among the most frequent ones."""
    return common_words().get(word, len(common_words()))


def is_listed_name(word: str) -> bool:
    """Say whether a folded word is a name that a list has."""
    name = word.capitalize()
    return name in first_names() or name in surnames()


def is_ordinary(word: str) -> bool:
    """Say whether a folded word is one of a dictionary, or made of one."""
    words = common_words()
    digits = any(map(str.isdigit, word))
    if word in words or word in capitals() or len(word) == 1 or digits:
        return True
    for bare in (word, _BEGINNINGS.sub("", word, count=1)):
        stem = _ENDINGS.sub("", bare)
        made = (bare, stem, f"{stem}e", f"{stem}y", stem.removesuffix("i") + "y")
        doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        if any(len(item) > LEAST and item in words for item in (*made, doubled)):
            return True
    return False


def _stem(word: str) -> str:
    """Take a plural for the word itself; a stem would take Manning for a man."""
    return word.removesuffix("s") if len(word) > LEAST else word


@lru_cache(maxsize=1)
def capitals() -> frozenset[str]:
    """Return words that are written with a capital and name nobody."""
    names = (*countries(), *peoples(), *MONTHS, *WEEKDAYS, *UNITS)
    return frozenset(fold_text(word) for name in names for word in name.split())
