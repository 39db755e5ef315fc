"""What a run of capitalised words names, read from its own words."""

from __future__ import annotations

import re

from sdrag.detectors.local import tables
from sdrag.detectors.local.runs import Run, is_common
from sdrag.detectors.local.tables import word_set

TypeGuess = tuple[str, float] | None
"""A type and a confidence, or nothing where the rule cannot tell."""

_WORKS = tables.listed(
    "Act Acts Code Law War Treaty Convention Agreement Plan Award Prize"
)
_PLACE_OF = tables.word_set("place_of")
_FEASTS = frozenset(("Day", "Eve"))
_DIRECTIONS = tables.listed("North South East West Northern Southern Eastern Western")
_STATES = frozenset(("Republic", "Kingdom", "Commonwealth", "State"))
_HIGHEST = tables.listed("Court Cassation Supreme Constitutional Chamber Division")
_NAMED_STATE = 2
_SHOUTED = 6
_INNER = re.compile("[a-z][A-Z][a-z]")
_RARE = 12_000
_EVERYDAY = 3000
"""Up to this rank, a word with a capital is no surname by itself."""
_PART = 4
_LETTERED = word_set("lettered")
_CALLED = tables.TITLES - tables.surnames() | word_set("feasts")
"""What a text calls somebody or a day; alone it is no name."""
_LONGEST = 40


def generic(run: Run) -> TypeGuess:
    """One word that every text of its kind uses: the Court, Article."""
    word = run.words[0]
    if len(run.words) > 1 or run.titles or word not in tables.GENERIC:
        return None
    return "TERM", 0.4 if word in tables.ORGANISATION_HEADS else 0.3


def initials(run: Run) -> TypeGuess:
    """K.F., J.P."""
    if len(run.words) in (2, 3) and all(len(word) == 1 for word in run.words):
        return ("PERSON", 0.6) if "." in run.surface else ("TERM", 0.3)
    return None


def initialled(run: Run) -> TypeGuess:
    """J. Wolasiewicz, Z.M. Necatigil."""
    words = run.words
    if len(words) < 2 or len(words[0]) > 1 or len(words[-1]) == 1:
        return None
    compound = run.tokens.gap(run.start + 1) == "-"  # X-ray, A-level
    if compound or run.previous in _LETTERED or not words[-1][0].isalpha():
        return "TERM", 0.2
    begins = run.start == 0 or "\n" in run.tokens.gap(run.start)
    if is_common(words[-1]) and begins:
        return "TERM", 0.2
    return "PERSON", 0.85


def state(run: Run) -> TypeGuess:
    """The full name of a state, its government and its highest courts name nobody."""
    words = [w for w in run.words if w[0].isupper()]
    if run.words[:2] == ["United", "Kingdom"]:
        return ("LOCATION", 0.5) if len(words) == _NAMED_STATE else ("TERM", 0.45)
    if "of" in run.words and all(w in _HIGHEST for w in words):
        return "TERM", 0.45
    return None


def company(run: Run) -> TypeGuess:
    """A suffix of companies."""
    words = run.words
    if len(words) > 1 and words[-1] in tables.ORGANISATION_SUFFIXES:
        return "ORGANIZATION", 0.9
    return None


def shouting(run: Run) -> TypeGuess:
    """A heading in capitals is no name, unless a word of it is strange."""
    words = run.words
    if run.surface.isupper() and len(words) > 1 and not run.unusual:
        return "TERM", 0.2
    return None


def institution(run: Run) -> TypeGuess:
    """A head of organisations, told apart by a name or a telling word."""
    words = run.words
    if not any(word in tables.ORGANISATION_HEADS for word in words):
        return None
    if run.unusual or any(word in tables.places() for word in words):
        return "ORGANIZATION", 0.8
    telling = [
        w for w in words if w not in tables.GENERIC and len(w) > 2 and w[0].isupper()
    ]
    if len(words) > 1 and telling:
        return "ORGANIZATION", 0.5
    return "TERM", 0.4


def region(run: Run) -> TypeGuess:
    """A state or a part of one."""
    words = run.words
    if run.surface in tables.countries():
        return "LOCATION", 0.5
    if len(words) == 1:
        return None
    if any(word in tables.countries() for word in words):
        return "LOCATION", 0.5 if words[0] in _DIRECTIONS else 0.45
    if words[0] in _DIRECTIONS and " ".join(words[1:]) in tables.countries():
        return "LOCATION", 0.5
    if words[0] in _PLACE_OF and "of" in words and len(words) > _NAMED_STATE:
        return "LOCATION", 0.7 if words[0] not in _STATES else 0.45
    return None


def _rare(word: str) -> bool:
    """Return True if few texts speak of it: reindeer, husbandry."""
    return tables.common_words().get(word.lower(), 0) > _RARE


def street(run: Run) -> TypeGuess:
    """A head of streets."""
    words = run.words
    if len(words) > 1 and words[-1] in tables.STREET_HEADS:
        return "ADDRESS", 0.8
    return None


def given_name(run: Run) -> TypeGuess:
    """A given name in front."""
    words = run.words
    if len(words) > 1 and words[0] in tables.first_names() and words[-1] != words[0]:
        common = all(is_common(word) for word in words)
        return "PERSON", 0.6 if common else 0.9
    return None


def acronym(run: Run) -> TypeGuess:
    """Capitals alone."""
    surface = run.surface
    if surface.isupper() and 1 < len(surface) < _SHOUTED:
        known = is_common(surface) or len(surface) == 2 or surface in tables.ACRONYMS
        return "ORGANIZATION", 0.35 if known else 0.5
    return None


def listed_given_name(run: Run) -> TypeGuess:
    """A given name alone or in front."""
    word = run.words[0]
    if word in tables.first_names():
        common = is_common(word)
        sure = not run.tokens.opens_sentence(run.start)
        return "PERSON", (0.75 if sure else 0.7) if not common else (
            0.5 if sure else 0.4
        )
    return None


def listed_surname(run: Run) -> TypeGuess:
    """A surname that is an everyday word elsewhere: to Hale."""
    word = run.surface
    if len(run.words) > 1 or word not in tables.surnames() or word in tables.TITLES:
        return None
    if word in tables.GENERIC or run.before(1) not in {"", " "}:
        return None
    rank = tables.common_words().get(word.lower(), 0)
    return ("PERSON", 0.5) if rank > _EVERYDAY else None


def coined(run: Run) -> TypeGuess:
    """Words run together, Mhealthcoach or MysticWeb, are a firm's or a product's."""
    word = run.words[0]
    if len(run.words) > 1 or word.isupper() or word in tables.surnames():
        return None
    inner = _INNER.search(word) is not None and not word.startswith(("Mc", "Mac"))
    return ("ORGANIZATION", 0.6) if inner or _compound(word.lower()) else None


def _compound(word: str) -> bool:
    """Return True if the word is two English words run together."""
    common = tables.common_words()
    return (
        len(word) < _LONGEST
        and word not in common
        and any(
            common.get(word[:cut], _RARE) < _RARE
            and common.get(word[cut:], _RARE) < _RARE
            for cut in range(_PART, len(word) - _PART + 1)
        )
    )


def strange(run: Run) -> TypeGuess:
    """A word that is no English word names somebody until more is known."""
    if not run.unusual or _CALLED.issuperset(run.words):
        return None
    return "PERSON", 0.6


def event(run: Run) -> TypeGuess:
    """All Saints' Day; acts, wars and prizes name nobody."""
    words = run.words
    if len(words) > 1 and words[-1] in _FEASTS:
        return "DATE", 0.6
    if len(words) > 1 and words[-1] in _WORKS:
        return "TERM", 0.5 if any(_rare(word) for word in words) else 0.45
    return None
