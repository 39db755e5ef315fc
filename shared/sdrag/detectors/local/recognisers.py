"""
The table of recognisers: what the local detector looks for, and what finds it.

A recogniser is a row: its name, the types of what it finds, the words that lead it to
something, and a function over a text that is cut into tokens. They run in the order of
the table, and a later one sees what those before it found. `sdrag check --recognisers`
prints the table, and `disclosure.recognisers_off` of a policy switches rows off.

A new row is a function here, or a family of `tables/patterns.toml` that names it, and
its name in `RecogniserName` of `sdrag.policy.sections`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sdrag.detectors.local.addresses import UNITS_OF_ADDRESSES, find_addresses
from sdrag.detectors.local.fields import (
    field_types,
    find_accounts,
    find_cell_values,
    find_field_values,
    is_label,
)
from sdrag.detectors.local.identifiers import (
    find_codes,
    find_long_numbers,
    find_numbered,
)
from sdrag.detectors.local.internet import (
    find_domains,
    find_embedded_names,
    find_ipv6,
    find_links,
    find_mails,
)
from sdrag.detectors.local.learned import Learned
from sdrag.detectors.local.name_forms import (
    find_forms,
    find_role_names,
)
from sdrag.detectors.local.names import find_names
from sdrag.detectors.local.patterns import FAMILIES, find_patterns
from sdrag.detectors.local.quantities import find_amounts, find_counts
from sdrag.detectors.local.tables import (
    UNITS,
    first_names,
    is_common,
    listed,
    word_set,
)
from sdrag.detectors.local.terms import (
    find_peoples,
    find_terms,
    term_types,
    type_of_word,
)
from sdrag.detectors.local.tokens import Candidate, TokenIndex, split_word
from sdrag.text.cells import Cell, Layout
from sdrag.vocabulary import Confidential


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Confidential):
    """
    A text as recognisers read it.

    Args:
        plain: The text in plain characters.
        tokens: Of it, with capitals where somebody wrote none.
        anchors: Where an identifier may begin, in order.
        found: What the recognisers before this one found.
        layout: The cells of the plain text.
        learned: What the trained head reads in the plain text, unless it is off.
    """

    plain: str
    tokens: TokenIndex
    anchors: list[int]
    found: list[Candidate]
    layout: Layout
    learned: Learned | None = None

    def judge(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """
        Leave out the names that the head is sure are none, by their sentence.

        What a label calls something else (a breed, a vessel) need be less sure. Keys
        that a sum stands under are left to the rules.
        """
        return (each for each in candidates if not self._is_ruled_out(each))

    def _is_ruled_out(self, each: Candidate) -> bool:
        limit, cell = _NONE.get(each.type), self.layout.at(each.start)
        if self.learned is None or limit is None or self._is_told(each, cell):
            return False
        stretch = each.start, each.end
        if cell and cell.role == "field" and not _is_of_people(cell.label):
            if each.type == "PERSON" and not self.learned.may_be_somebody(*stretch):
                return True
            limit = _NONE_LABELLED
        return self.learned.rules_out(*stretch, limit)

    def _is_told(self, each: Candidate, cell: Cell | None) -> bool:
        """Say whether its words or its place tell a name, whatever its sentence."""
        if cell and cell.role == "key" and _SUM.match(self.plain, cell.end):
            return True
        if each.type == "ORGANIZATION":
            return each.confidence >= _TOLD
        if each.type != "PERSON":
            return False
        words = split_word(self.plain[each.start : each.end])
        speaks = cell is not None and cell.role == "speaker"
        return speaks or not _may_be_none(words, cell)

    def trim(self, addresses: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield addresses without the lines at either end that tell something else."""
        for each in addresses:
            lines = [*_lines(self.plain, each.start, each.end)]
            lines = [*reversed(self._drop(reversed(self._drop(lines))))]
            if lines:
                start, end = lines[0][0][0], lines[-1][0][1]
                if any(map(str.isdigit, self.plain[start:end])):
                    yield each._replace(start=start, end=end)

    def _drop(self, lines: Iterable[_Line]) -> list[_Line]:
        """Drop the first lines that the head rules out, up to one with a figure."""
        kept, done = [*lines], 0
        for at, ((start, end), whole) in enumerate(kept):
            words = self.plain[slice(*whole)].lower().split()
            ruled_out = self.learned and self.learned.rules_out(*whole, _NONE_LINE)
            if not ruled_out or len(words) > _BRIEF or words[0] in UNITS_OF_ADDRESSES:
                break
            if any(map(str.isdigit, self.plain[start:end])):
                done = at + 1
        return kept[done:]


_Line = tuple[tuple[int, int], tuple[int, int]]
"""Where a line of an address is, and where the whole line that it is in."""


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    """Yield where each line of a stretch is, and where the whole line is."""
    while start < end:
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        if text[start : min(stop, end)].strip():
            first = start + len(text[start:end]) - len(text[start:end].lstrip())
            yield (first, min(stop, end)), (text.rfind("\n", 0, start) + 1, stop)
        start = stop + 1


def _may_be_none(words: Sequence[str], cell: Cell | None) -> bool:
    """
    Return True for everyday words, and for strange ones that a label gives to a thing.

    A first name before another word is somebody's all the same, if not two of them.
    """
    if all(map(is_common, words)):
        return True
    of_thing = (
        cell and cell.role == "field" and not _THINGS.isdisjoint(split_word(cell.label))
    )
    known = [word in _first_names() for word in words]
    return bool(of_thing) and (all(known) or not any(known))


@lru_cache(maxsize=1)
def _first_names() -> frozenset[str]:
    return frozenset(name.lower() for name in first_names())


_THINGS = word_set("things")


def _is_of_people(label: str) -> bool:
    """Return True for the label of a name or a post: Keeper, Player of the year."""
    return is_label(label) or any(
        type_of_word(word) in _PEOPLE for word in split_word(label)
    )


_PEOPLE = frozenset(("JOB_TITLE", "RELATION"))
_SUM = re.compile(r"[\"']?[ \t]*[:=][ \t]*-?\d[\d.,]*[ \t]*(?:\n|$)")
"""Behind a key that names whose it is: `rosa: 3`."""
_BRIEF = 6
"""An item of a list has no more words; prose in lines has."""
_NONE_LINE = 0.88
_NONE = {"PERSON": 0.95, "ORGANIZATION": 0.9, "LOCATION": 0.9}
_NONE_LABELLED = 0.8
_TOLD = 0.8
"""A firm or a court that its own words tell, such as a name, is as sure as this."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """
    A row of the table.

    Args:
        name: What a policy switches it off by.
        types: Of what it finds.
        find: Finds it.
        cues: Words beside which it looks; none if it goes by the form alone.
    """

    name: str
    types: frozenset[str]
    find: Callable[[Reading], Iterable[Candidate]]
    cues: frozenset[str] = frozenset()


def find_candidates(reading: Reading, off: Collection[str]) -> list[Candidate]:
    """Return what every recogniser finds that is not switched off, and itself."""
    for recogniser in RECOGNISERS:
        if recogniser.name not in off:
            reading.found.extend(recogniser.find(reading))
    return reading.found


def types_found(off: Collection[str]) -> frozenset[str]:
    """Return the types of all that is found where some recognisers are off."""
    return frozenset().union(*(r.types for r in RECOGNISERS if r.name not in off))


def recognisers_of(types: Collection[str], names: Collection[str]) -> list[str]:
    """Return which of the named recognisers find something of the types, in order."""
    return [
        recogniser.name
        for recogniser in RECOGNISERS
        if recogniser.name in names and not recogniser.types.isdisjoint(types)
    ]


def _patterns(name: str) -> Recogniser:
    """Return the recogniser of the families of `tables/patterns.toml` that name it."""
    families = tuple(family for family in FAMILIES if family.recogniser == name)
    cues = (family.words for family in families if family.at == "cue")
    return Recogniser(
        name,
        frozenset(form.type for family in families for form in family.forms),
        lambda text: find_patterns(families, text.tokens, text.anchors),
        frozenset(word.lower() for words in cues for word in words),
    )


_JOINED = re.compile(
    r",? (?:and|to|until|till|or)(?: on| from| of| in)? |, (?:on |in )?|-| - "
)
_BETWEEN = re.compile(r"\b(?:[Bb]etween|[Ff]rom) $")
_YEARED = re.compile(r"\d{4}$")
_JOINABLE = 0.7


def _join_dates(text: str, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield neighbours as a whole: 1 March and 31 December 1998."""
    sure = [each for each in candidates if each.type in _DATED]
    sure = [date for date in sure if date.confidence >= _JOINABLE]
    by_start = {date.start: date for date in sure}
    for date in sure:
        join = _JOINED.match(text, date.end)
        after = by_start.get(join.end()) if join else None
        if join is None or after is None:
            continue
        between = _BETWEEN.search(text, max(0, date.start - 8), date.start)
        two_dates = "and" in join.group() and _YEARED.search(text[: date.end][-4:])
        if between or not two_dates:
            whole = between and between.group()[1] == "e"
            start = between.start() if between and whole else date.start
            yield Candidate(start, after.end, "DATE", 0.9, "stretch")


_DATED = frozenset(("DATE", "TIME"))


_NAMED = frozenset(("name", "learned"))


def _find_later_forms(text: Reading) -> Iterator[Candidate]:
    names = [candidate for candidate in text.found if candidate.reason in _NAMED]
    later = list(find_forms(text.tokens, names))
    yield from (each for each in later if each.type == "ORGANIZATION")
    yield from text.judge(each for each in later if each.type != "ORGANIZATION")


def _find_in_cells(text: Reading) -> Iterator[Candidate]:
    yield from find_cell_values(text.layout)
    yield from find_accounts(text.tokens)


def _row(
    name: str,
    types: str,
    find: Callable[[Reading], Iterable[Candidate]],
    cues: str = "",
) -> Recogniser:
    """Return a row; `cues` names words of `tables/lexicon.toml`."""
    return Recogniser(name, listed(types), find, word_set(cues) if cues else listed(""))


_BY_PATTERNS = """
machine-addresses credentials coordinates accounts bank-accounts phone-numbers
identity-numbers number-plates postcodes dates times sums sizes ages introductions
degrees parts-of-the-body owned-streets
"""
_NAMES = "ADDRESS CONDITION DATE LOCATION ORGANIZATION PERSON TERM TITLE"
_LEARNED = "ADDRESS ORGANIZATION PERSON"
_AMOUNTS = " ".join(("AGE", "DATE", "MONEY", *UNITS.values()))
_LONG_NUMBERS = "CREDIT_CARD PHONE_NUMBER"
_FIELDS = " ".join(field_types())

RECOGNISERS: tuple[Recogniser, ...] = (
    *map(_patterns, _BY_PATTERNS.split()),
    _row("date-ranges", "DATE", lambda t: _join_dates(t.tokens.text, t.found)),
    _row("ipv6-addresses", "IP_ADDRESS", lambda t: find_ipv6(t.tokens.text, t.anchors)),
    _row("mail-addresses", "EMAIL_ADDRESS USERNAME", lambda t: find_mails(t.plain)),
    _row("links", "URL", lambda t: find_links(t.plain)),
    _row("domains", "DOMAIN_NAME", lambda t: find_domains(t.plain)),
    _row("embedded-names", "PERSON", lambda t: find_embedded_names(t.plain)),
    _row("long-numbers", _LONG_NUMBERS, lambda t: find_long_numbers(t.tokens)),
    _row("mixed-codes", "CODE IP_ADDRESS US_SSN", lambda t: find_codes(t.tokens)),
    _row("numbered", "CODE ZIP_CODE", lambda t: find_numbered(t.tokens), "number_cues"),
    _row("addresses", "ADDRESS", lambda t: t.trim(find_addresses(t.tokens))),
    _row("amounts", _AMOUNTS, lambda t: find_amounts(t.tokens)),
    _row("names", _NAMES, lambda t: t.judge(find_names(t.tokens))),
    _row("learned-names", _LEARNED, lambda t: t.learned.found if t.learned else ()),
    _row("role-names", "PERSON", lambda t: find_role_names(t.tokens), "roles"),
    _row("later-forms", "LOCATION ORGANIZATION PERSON", _find_later_forms),
    _row("fields", _FIELDS, lambda t: find_field_values(t.tokens, t.layout)),
    _row("cells", f"{_FIELDS} USERNAME", _find_in_cells),
    _row("peoples", "NATIONALITY", lambda t: find_peoples(t.tokens)),
    _row("terms", " ".join(term_types()), lambda t: find_terms(t.tokens)),
    _row("counts", "NUMBER QUANTITY", lambda t: find_counts(t.tokens)),
)
"""Every recogniser, in the order in which they run."""
