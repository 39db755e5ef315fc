"""
Names of people under titles, initials, orders and short forms.

"Dr. Elise Varga", "Varga, E.", "E. Varga" and "Dr. Varga" are one person, as long as
nobody else of the type fits the shorter form. A form that fits two fuller names is
left alone, for guessing would link two people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


def name_pairs(forms: Sequence[str], *, always: bool) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of forms that name one person.

    Args:
        forms: The distinct forms.
        always: Read every form as a person; else only one with a title, or as
            "Family, G.".
    """
    names = [_parsed(form, always=always) for form in forms]
    by_family: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if name is not None:
            by_family.setdefault(name.family, []).append(number)
    lone = _given_only(names)
    for members in by_family.values():
        full = [names[number] for number in members]
        for index, number in enumerate(members):
            yield from (
                (number, members[other])
                for other in _fits(index, [name for name in full if name])
            )
    yield from lone


def _fits(index: int, names: Sequence[_Name]) -> Iterator[int]:
    """Yield the fuller names that one name represents, if it can only be them."""
    shorter = names[index]
    fuller = [
        other
        for other, name in enumerate(names)
        if other != index
        and _compatible(shorter, name)
        and _fullness(name) >= _fullness(shorter)
    ]
    if all(
        _compatible(names[left], names[right])
        for left in fuller
        for right in fuller
        if left < right
    ):
        yield from fuller


def _given_only(names: Sequence[_Name | None]) -> Iterator[tuple[int, int]]:
    """Pair a lone first name with the one full name that begins with it."""
    for number, name in enumerate(names):
        if name is None or name.given:
            continue
        full = [
            other
            for other, whole in enumerate(names)
            if whole is not None and whole.given and whole.given[0] == name.family
        ]
        families = {whole.family for o in full if (whole := names[o]) is not None}
        taken = any(
            other is not None and other.given and other.family == name.family
            for other in names
        )
        if len(families) == 1 and not taken:
            yield from ((number, other) for other in full)


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


def _compatible(left: _Name, right: _Name) -> bool:
    """Say whether two names of one family can be one person's."""
    if left.family != right.family:
        return False
    return all(
        first == second or (min(len(first), len(second)) == 1 and first[0] == second[0])
        for first, second in zip(left.given, right.given, strict=False)
    )
