"""
How the name of a person may be written, and what its ways have in common.

"Dr. Elise Varga", "Varga, E.", "E. Varga" and "Dr. Varga" are one person, and "Jürgen"
is "Juergen" and "Jurgen". Whoever hides a name looks for all of its forms; whoever
links documents reads a form as a family name and given ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator
from typing import NamedTuple

from sdrag.text import word_set
from sdrag.text.folding import fold_text

_PERSONAL = word_set(
    "mr mrs ms mx miss dr prof professor doctor nurse judge rev sir dame"
)
"""Titles that nobody but a person has."""
_TITLES = _PERSONAL | word_set(
    """
    lord lady father sister justice capt captain col colonel lt lieutenant sgt
    sergeant major general hon herr frau mme don jr sr
    """
)
_OFFICES = word_set(
    """
    brother inspector detective officer constable madam senor senora president
    minister chairman chairwoman chairperson speaker
    """
)
_ATTRIBUTES = word_set(
    """
    mister drs reverend fr st maj gen mlle madame monsieur dona md phd rn do dds
    esq ii iii iv dpt np pa
    """
)
"""What is written in front of a name or behind it, and may be a name: Do, St."""
_PARTICLES = word_set(
    """
    van von der den de del della di da la le du bin ibn al el ter ten af of and
    y
    """
)
_PART = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\.?")
_SHORTEST = 3
_MOST_PARTS = 5

_LETTERS = "\u00e4\u00f6\u00fc\u00f8\u00e5\u00e6\u0153\u0111\u0142\u00fe\u00f0\u0131"
_SPELLED = ["ae", "oe", "ue", "oe", "aa", "ae", "oe", "dj", "l", "th", "d", "i"]
_SPELLED_OUT = str.maketrans(dict(zip(_LETTERS, _SPELLED, strict=True)))
_BARE = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "æ": "ae"})
_DIGRAPH = re.compile("(?<=[aou])e")
_SURE_DIGRAPH = re.compile(r"(?<=[b-df-hj-np-tv-z])([aou])e(?=[a-z])", re.IGNORECASE)
_LEAST = 6
"""In a shorter word an "oe" is too often no umlaut: "Joe", "Noel"."""
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_](?:[\w'-]*\w)?")
_WORD = re.compile(r"\w{2,}")
"""An initial stays one."""
_LAST_INITIAL = re.compile(r"\s(?:\w|jr|sr)\Z", re.IGNORECASE)


class Name(NamedTuple):
    """A name as it is compared: folded, without titles, spelled out."""

    family: str
    given: tuple[str, ...]


def parse_name(form: str, *, always: bool) -> Name | None:
    """
    Read a form as a person's name.

    `always`: also one without a title that is not written as "Family, G.".
    """
    folded = _spell_out(form).replace(".", ". ").removesuffix("'s")
    before, comma, after = folded.partition(",")
    tokens, later = (
        [token for token in _TOKEN.findall(part) if not _is_title(token)]
        for part in (before, after)
    )
    titled = any(t in _PERSONAL for t in _TOKEN.findall(folded))
    inverted = bool(comma and later and len(tokens) == 1 and len(later) <= 2)
    if not tokens or len(tokens) + len(later) > 4:
        return None
    if not (always or titled or (inverted and len(later[0]) == 1)):
        return None
    if inverted:
        return Name(tokens[0], tuple(later))
    return Name(tokens[-1], tuple(tokens[:-1]))


def _is_title(token: str) -> bool:
    return token in _TITLES or token in _ATTRIBUTES


def family_names(form: str) -> tuple[str, str]:
    """Return the first given name and the family name of a person, folded."""
    name = parse_name(form, always=True)
    if name is None:
        return "", fold_text(form).rpartition(" ")[2]
    return (*name.given, "")[0], name.family


def name_forms(surface: str, everyday: Container[str]) -> tuple[str, ...]:
    """
    Return other forms of a person's name: its parts, orders and initials.

    `everyday`: words in small letters; initials and short parts that are one (OF, THE)
    are no form of a name.
    """
    parts = [part.rstrip(".") for part in _PART.findall(surface)]
    named = [p for p in parts if p.lower() not in _TITLES | _OFFICES]
    core = [part for part in named if part.lower() not in _PARTICLES]
    if not 1 <= len(core) <= _MOST_PARTS or len(parts) != len(surface.split()):
        return ()
    if not all(part[0].isupper() for part in core):
        return ()
    distinctive = {
        part
        for part in core
        if len(part) >= _SHORTEST or (len(part) > 1 and part.lower() not in everyday)
    }
    forms = set(core) if len(core) == 1 else distinctive
    if len(core) > 1:
        first, last = core[0], core[-1]
        initials = "".join(part[0] for part in core)
        forms |= {
            f"{first} {last}",
            f"{last} {first}",
            f"{last}, {first}",
            f"{first[0]}. {last}",
            f"{first[0]} {last}",
            f"{last}, {first[0]}.",
            ".".join(initials) + ".",
        }
        if len(initials) >= _SHORTEST and initials.lower() not in everyday:
            forms.add(initials)
    forms.discard(surface)
    return tuple(sorted(forms, key=lambda form: (-len(form), fold_text(form))))


def plurals(name: str) -> tuple[str, ...]:
    """Return the plural of a name: the Meyerses, two Bluebirds, the Kennedys."""
    words = name.split()
    last = words[-1] if 0 < len(words) <= _MOST_PARTS else ""
    if not last.isalpha() or not last[0].isupper() or len(last) < _SHORTEST:
        return ()
    return (f"{name}es",) if _SIBILANT.search(last) else (f"{name}s",)


def spellings(form: str) -> frozenset[str]:
    """Return a form as given and in other letters: Müller, Mueller, Muller."""
    lower = form.lower()
    others = (
        lower.translate(_SPELLED_OUT),
        lower.translate(_BARE),
        _DIGRAPH.sub("", lower),
    )
    return frozenset((form, *(other for other in others if other != lower)))


def other_spellings(form: str) -> Iterator[str]:
    """
    Yield how the name of a person may be written elsewhere, folded.

    With letters spelled out, or umlauts for what is spelled out; with the family name
    first, or last; with the full stop of a last initial.
    """
    head, tail = (
        [word for word in part.split() if not _is_title(fold_text(word).strip("."))]
        for part in form.partition(",")[::2]
    )
    orders = [form]
    if tail and len(head) == 1:
        orders.append(" ".join([*tail, *head]))
    elif 2 <= len(head) <= 3 and not tail:
        orders.append(f"{head[-1]}, {' '.join(head[:-1])}")
    for order in orders:
        umlauts = " ".join(
            _SURE_DIGRAPH.sub(r"\1", word) if len(word.strip(",")) >= _LEAST else word
            for word in fold_text(order).split()
        )
        for written in (fold_text(order), _spell_out(order), umlauts):
            yield written
            if _LAST_INITIAL.search(written):
                yield f"{written}."


def _spell_out(form: str) -> str:
    composed = unicodedata.normalize("NFC", form.lower())
    return fold_text(_WORD.sub(lambda word: word[0].translate(_SPELLED_OUT), composed))
