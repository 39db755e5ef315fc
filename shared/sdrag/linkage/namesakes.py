"""
Who is not one person, though the name fits both: birth dates, and who met whom.

"John Smith, born 3 May 1980" and "John Smith (born 7 June 1975)" are two, and so are
"Christina" and "Christina M." where a sentence says that one met the other. Nothing
else parts names: a false pair of people would hide a link.

A birth date is somebody's if nothing but words of birth is between it and the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.schema import Schema
from sdrag.text.dates import read_date
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

__all__ = ["UNKNOWN", "Namesakes"]

UNKNOWN = "?"
"""When somebody was born whose name several people bear, where no date is given."""
_REACH = 80
_WORDS_OF_BIRTH = """s who was is he she a an age aged years? old on in the date of
birth born birthday birthdate b dob d o geb geboren am m f male female man woman
\\d{1,3}"""
_BORN = re.compile(
    r"(?:\.,\s|[^\w.!?]{1,4})"
    rf"(?:(?:{'|'.join(_WORDS_OF_BIRTH.split())})\b[^\w!?]{{0,4}}){{0,9}}",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\W*(?:(?:full )?name|patient|client|pupil|student|member|employee|insured|person"
    r"|claimant|applicant|tenant|resident|subject)?\W*",
    re.IGNORECASE,
)
"""What is before a name whose birth date is in the next line."""
_KIN = """friend colleague neighbou?r sister brother mother father daughter son wife
husband cousin aunt uncle boss nurse teacher lawyer"""
_MEETING = """and & und et y met meets? knows? knew saw visits? visited told asked
helps? helped thanked hired taught married versus vs\\.? against beside with"""
_BESIDE = "the a an her his their one other mr mrs ms dr"
_HOW = "has have had also later then both often never once"


def _any(*words: str) -> str:
    return f"(?:{'|'.join(' '.join(words).split())})"


_MET = re.compile(
    rf"(?:'s)?\.?,?\s+(?:{_any(_HOW)}\s+){{0,3}}{_any(_MEETING, _KIN)}\s+"
    rf"(?:{_any(_BESIDE, _KIN)}\.?\s+){{0,3}}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, repr=False)
class Namesakes(Confidential):
    """
    What tells people of one name apart.

    Args:
        born: By document and folded name, when its bearer was born.
        dates: By folded name, all such dates.
        met: Pairs of folded names that are two people in some sentence.
    """

    born: Mapping[tuple[int, str], str] = field(default_factory=dict)
    dates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    met: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        occurrences: Sequence[Sequence[Occurrence]],
        schema: Schema,
    ) -> Namesakes:
        """
        Read them off the documents.

        Args:
            texts: Of the documents; none tell nothing.
            occurrences: In each of them.
            schema: For the roles of types.
        """
        born: dict[tuple[int, str], str] = {}
        dates: dict[str, set[str]] = {}
        met: set[tuple[str, str]] = set()
        for number, (text, row) in enumerate(zip(texts, occurrences, strict=False)):
            names = {e.form for e in row if schema.role(e.type) == "name"}
            known = {e.form for e in row if "BIRTH" in e.type}
            for name, date in _births(text, names, known):
                folded = fold_text(name)
                dates.setdefault(folded, set()).add(date)
                twice = born.setdefault((number, folded), date) != date
                if twice:
                    born[number, folded] = UNKNOWN
            met.update(_met(text, names))
        return cls(born, {k: frozenset(v) for k, v in dates.items()}, frozenset(met))

    def whose(self, document: int, folded: str) -> tuple[str, bool]:
        """Return when the bearer of a name was born, and whether several bear it."""
        dates = self.dates.get(folded, frozenset())
        if len(dates) > 1:
            return self.born.get((document, folded), UNKNOWN), True
        return next(iter(dates), ""), False


def _births(text: str, names: set[str], dates: set[str]) -> Iterator[tuple[str, str]]:
    """Yield a name, and the whole date of birth that follows it."""
    for form in sorted(dates):
        date = read_date(form)
        if date is None or not (date.year and date.day):
            continue
        # Of numbers alone nobody knows which is the month.
        key = f"{date.year}-{min(date[1:])}-{max(date[1:])}"
        for match in re.finditer(re.escape(form), text):
            low = max(0, match.start() - _REACH)
            for name in names:
                start = text.rfind(name, max(0, low - len(name)), match.start())
                end = start + len(name)
                if start < 0 or not _BORN.fullmatch(text, end, match.start()):
                    continue
                line = text.rfind("\n", 0, start) + 1
                if "\n" not in text[end : match.start()] or _LABEL.fullmatch(
                    text, line, start
                ):
                    yield name, key


def _met(text: str, names: set[str]) -> Iterator[tuple[str, str]]:
    """Yield two names that share a word, where a sentence says that both are."""
    words = {name: set(fold_text(name).split()) for name in names}
    alike = [
        name
        for name in names
        if any(words[name] & words[other] for other in names if other != name)
    ]
    if not alike:
        return
    forms = "|".join(map(re.escape, sorted(alike, key=lambda name: (-len(name), name))))
    places = list(re.finditer(rf"(?<!\w)(?:{forms})(?!\w)", text))
    for left, right in pairwise(places):
        if _MET.fullmatch(text, left.end(), right.start()):
            one, two = fold_text(left[0]), fold_text(right[0])
            if one != two and words[left[0]] & words[right[0]]:
                yield min(one, two), max(one, two)
