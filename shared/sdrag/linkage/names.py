"""
Names of people under titles, initials and orders.

"Dr. Elise Varga", "Varga, E.", "E. Varga" and "Dr. Varga" are one person, as long as
nobody else of the type fits the shorter form. A form that fits two fuller names is
left alone, for guessing would link two people. "Jürgen" is "Juergen".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, zip_longest
from typing import NamedTuple

from sdrag.text.folding import fold_text

__all__ = ["family_names", "name_pairs", "other_spellings"]

_TITLE_WORDS = """mr mrs ms mx miss mister dr drs prof professor doctor sir dame lord
lady rev reverend fr father sister st nurse judge justice capt captain col colonel lt
lieutenant maj major sgt sergeant gen general hon herr frau mme mlle monsieur madame don
dona md phd rn do dds esq jr sr ii iii iv dpt np pa"""
_PERSONAL_WORDS = "mr mrs ms mx miss dr prof professor doctor nurse judge rev sir dame"
_TITLES = frozenset(_TITLE_WORDS.split())
_PERSONAL = frozenset(_PERSONAL_WORDS.split())
_TOKEN = re.compile(r"[^\W\d_](?:[\w'-]*\w)?")
_WORD = re.compile(r"\w{2,}")
"""An initial stays one."""
_SPELLED = str.maketrans(
    {
        "\u00e4": "ae",
        "\u00f6": "oe",
        "\u00fc": "ue",
        "\u00f8": "oe",
        "\u00e5": "aa",
        "\u00e6": "ae",
        "\u0153": "oe",
        "\u0111": "dj",
        "\u0142": "l",
        "\u00fe": "th",
        "\u00f0": "d",
        "\u0131": "i",
    }
)
"""How letters are spelled out."""
_DIGRAPH = re.compile(r"(?<=[b-df-hj-np-tv-z])([aou])e(?=[a-z])", re.IGNORECASE)
_LEAST = 6
"""In a shorter word an "oe" is too often no umlaut: "Joe", "Noel"."""
_LAST_INITIAL = re.compile(r"\s(?:\w|jr|sr)\Z", re.IGNORECASE)


class _Name(NamedTuple):
    family: str
    given: tuple[str, ...]


def name_pairs(forms: Sequence[str], *, always: bool) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of forms that name one person; they connect all forms of that person.

    `always`: read every form as a person; else only one with a title, or as "Family,
    G.".
    """
    numbers: dict[_Name, list[int]] = {}
    for number, form in enumerate(forms):
        name = _parsed(form, always=always)
        if name is not None:
            numbers.setdefault(name, []).append(number)
    families: dict[str, list[_Name]] = {}
    for name in numbers:
        families.setdefault(name.family, []).append(name)
    for members in families.values():
        by_given = _by_given(members)
        for name in members:
            fuller = _fuller(name, by_given)
            if _agree(fuller):
                first = numbers[name][0]
                for other in fuller:
                    yield from ((first, n) for n in numbers[other] if n != first)


def family_names(form: str) -> tuple[str, str]:
    """Return the first given name and the family name of a person, folded."""
    name = _parsed(form, always=True)
    if name is None:
        return "", fold_text(form).rpartition(" ")[2]
    return (*name.given, "")[0], name.family


def _by_given(names: Sequence[_Name]) -> dict[tuple[str, ...], list[_Name]]:
    """
    Return the names of a family by every way to begin their given names.

    A given name is listed under itself and under its first letter: "john", and "j*".
    """
    begun: dict[tuple[str, ...], list[_Name]] = {(): list(names)}
    for name in names:
        ways = [tuple(dict.fromkeys((given, f"{given[0]}*"))) for given in name.given]
        for size in range(1, len(ways) + 1):
            for key in product(*ways[:size]):
                begun.setdefault(key, []).append(name)
    return begun


def _fuller(
    name: _Name, by_given: Mapping[tuple[str, ...], Sequence[_Name]]
) -> list[_Name]:
    """Return the names that one name can represent, itself among them."""
    ways = [
        (given, given[0]) if len(given) > 1 else (f"{given}*",) for given in name.given
    ]
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


def _fullness(name: _Name) -> tuple[int, int]:
    return len(name.given), sum(map(len, name.given))


def _parsed(form: str, *, always: bool) -> _Name | None:
    """Read a form as a person's name; lower case, titles taken off, spelled out."""
    folded = _spelled_out(form).replace(".", ". ").removesuffix("'s")
    before, comma, after = folded.partition(",")
    tokens, later = (
        [token for token in _TOKEN.findall(part) if token not in _TITLES]
        for part in (before, after)
    )
    titled = any(t in _PERSONAL for t in _TOKEN.findall(folded))
    inverted = bool(comma and later and len(tokens) == 1 and len(later) <= 2)
    if not tokens or len(tokens) + len(later) > 4:
        return None
    if not (always or titled or (inverted and len(later[0]) == 1)):
        return None
    if inverted:
        return _Name(tokens[0], tuple(later))
    return _Name(tokens[-1], tuple(tokens[:-1]))


def _spelled_out(form: str) -> str:
    composed = unicodedata.normalize("NFC", form.lower())
    return fold_text(_WORD.sub(lambda word: word[0].translate(_SPELLED), composed))


def other_spellings(form: str) -> Iterator[str]:
    """
    Yield how the name of a person may be written elsewhere, folded.

    With letters spelled out, or umlauts for what is spelled out; with the family name
    first, or last; with the full stop of a last initial.
    """
    head, tail = (
        [word for word in part.split() if fold_text(word).strip(".") not in _TITLES]
        for part in form.partition(",")[::2]
    )
    orders = [form]
    if tail and len(head) == 1:
        orders.append(" ".join([*tail, *head]))
    elif 2 <= len(head) <= 3 and not tail:
        orders.append(f"{head[-1]}, {' '.join(head[:-1])}")
    for order in orders:
        umlauts = " ".join(
            _DIGRAPH.sub(r"\1", word) if len(word.strip(",")) >= _LEAST else word
            for word in fold_text(order).split()
        )
        for written in (fold_text(order), _spelled_out(order), umlauts):
            yield written
            if _LAST_INITIAL.search(written):
                yield f"{written}."
