"""
Names of people under titles, initials, orders and short forms.

"Dr. Elise Varga", "Varga, E.", "E. Varga" and "Dr. Varga" are one person, as long as
nobody else of the type fits the shorter form. A form that fits two fuller names is
left alone, for guessing would link two people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest

from sdrag.text.folding import fold_text

__all__ = ["name_pairs"]

_TITLE_WORDS = """mr mrs ms mx miss mister dr drs prof professor doctor sir dame lord
lady rev reverend fr father sister st nurse judge justice capt captain col colonel lt
lieutenant maj major sgt sergeant gen general hon herr frau mme mlle monsieur madame don
dona md phd rn do dds esq jr sr ii iii iv dpt np pa"""
_PERSONAL_WORDS = "mr mrs ms mx miss dr prof professor doctor nurse judge rev sir dame"
_TITLES = frozenset(_TITLE_WORDS.split())
_PERSONAL = frozenset(_PERSONAL_WORDS.split())
_TOKEN = re.compile(r"[^\W\d_](?:[\w'-]*\w)?")


@dataclass(frozen=True, slots=True)
class _Name:
    family: str
    given: tuple[str, ...]


_Forms = dict[_Name, list[int]]
"""The forms that are read as one name."""


def name_pairs(forms: Sequence[str], *, always: bool) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of forms that name one person; they connect all forms of that person.

    Args:
        forms: The distinct forms.
        always: Read every form as a person; else only one with a title, or as
            "Family, G.".
    """
    numbers: _Forms = {}
    families: dict[str, list[_Name]] = {}
    for number, form in enumerate(forms):
        name = _parsed(form, always=always)
        if name is None:
            continue
        if name not in numbers:
            families.setdefault(name.family, []).append(name)
        numbers.setdefault(name, []).append(number)
    for members in families.values():
        by_given = _by_given(members)
        for name in members:
            fuller = _fuller(name, by_given)
            if _agree(fuller):
                yield from _connected(name, fuller, numbers)
    yield from _given_only(numbers)


def _connected(
    name: _Name, fuller: Sequence[_Name], numbers: _Forms
) -> Iterator[tuple[int, int]]:
    """Yield pairs that connect the forms of a name, and those of fuller names to it."""
    first = numbers[name][0]
    for other in fuller:
        yield from ((first, number) for number in numbers[other] if number != first)


def _by_given(names: Sequence[_Name]) -> dict[tuple[str, ...], list[_Name]]:
    """
    Return the names of a family by every way to begin their given names.

    A given name is listed under itself and under its first letter: "john", and "j*".
    """
    found: dict[tuple[str, ...], list[_Name]] = {(): list(names)}
    for name in names:
        ways = [tuple(dict.fromkeys((one, f"{one[0]}*"))) for one in name.given]
        for size in range(1, len(ways) + 1):
            for key in product(*ways[:size]):
                found.setdefault(key, []).append(name)
    return found


def _fuller(
    name: _Name, by_given: Mapping[tuple[str, ...], Sequence[_Name]]
) -> list[_Name]:
    """Return the names that one name can represent, itself among them."""
    ways = [(one, one[0]) if len(one) > 1 else (f"{one}*",) for one in name.given]
    return [
        other
        for key in product(*ways)
        for other in by_given.get(key, ())
        if _fullness(other) >= _fullness(name)
    ]


def _agree(names: Sequence[_Name]) -> bool:
    """Say whether names of one family can all be one person's."""
    for tokens in zip_longest(*(name.given for name in names)):
        given = {token for token in tokens if token}
        spelled_out = sum(len(token) > 1 for token in given)
        if spelled_out > 1 or len({token[0] for token in given}) > 1:
            return False
    return True


def _given_only(numbers: _Forms) -> Iterator[tuple[int, int]]:
    """Pair a lone first name with the one full name that begins with it."""
    full = [name for name in numbers if name.given]
    taken = {name.family for name in full}
    by_first: dict[str, list[_Name]] = {}
    for name in full:
        by_first.setdefault(name.given[0], []).append(name)
    for lone in numbers:
        if lone.given or lone.family in taken:
            continue
        whole = by_first.get(lone.family, [])
        if len({name.family for name in whole}) == 1:
            yield from _connected(lone, [lone, *whole], numbers)


def _parsed(form: str, *, always: bool) -> _Name | None:
    """Read a form as a person's name; lower case, titles taken off."""
    folded = fold_text(form).replace(".", ". ").removesuffix("'s")
    before, comma, after = folded.partition(",")
    tokens = [t for t in _TOKEN.findall(before) if t not in _TITLES]
    later = [t for t in _TOKEN.findall(after) if t not in _TITLES]
    titled = any(t in _PERSONAL for t in _TOKEN.findall(folded))
    inverted = bool(comma and later and len(tokens) == 1 and len(later) <= 2)
    if not tokens or len(tokens) + len(later) > 4:
        return None
    if not (always or titled or (inverted and len(later[0]) == 1)):
        return None
    if inverted:
        return _Name(tokens[0], tuple(later))
    return _Name(tokens[-1], tuple(tokens[:-1]))


def _fullness(name: _Name) -> tuple[int, int]:
    return len(name.given), sum(map(len, name.given))
