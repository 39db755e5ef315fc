"""
Posts and teams: who is meant by what they do, and by no name.

`Reviewer: SRE`, `Approved by: Head of Estates`, `Assignee: Backend Guild`. A given name
or an initial among the words makes it somebody: Anna Guild, J. Head.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import is_common, word_set

_POSTS = word_set("posts")
_HEADS = word_set("heads_of_posts")
_TEAMS = word_set("teams")
_JOINING = frozenset(("of", "and", "for", "the", "&", ",", "on", "in"))
_PART = 3
"""A word that is run together with another has so many letters."""


def is_post(words: Sequence[str]) -> bool:
    """Return True if words name a post or a team, and nobody."""
    bare = [word.rstrip(".") for word in words if word.lower() not in _JOINING]
    if not bare:
        return False
    if all(word in _POSTS for word in bare):
        return not any(_is_listed(word) for word in bare)
    if len(words) == 1 or any(len(w) == 1 or _is_given_name(w) for w in bare):
        return False
    lower = [word.lower() for word in bare]
    named = is_headed(words) or lower[-1] in _HEADS or lower[-1] in _TEAMS
    return named and all(word in _POSTS or _is_plain(word.lower()) for word in bare)


def is_headed(words: Sequence[str]) -> bool:
    """Return True for words that begin as a post does: Head of, Deputy Director for."""
    bare = [word.strip(".,").lower() for word in words]
    heads = len(list(takewhile(_HEADS.__contains__, bare)))
    return 0 < heads < len(bare) and bare[heads] in _JOINING


def _is_plain(word: str) -> bool:
    """Return True for an English word, or two run together: backend."""
    return is_common(word) or any(
        is_common(word[:cut]) and is_common(word[cut:])
        for cut in range(_PART, len(word) - _PART + 1)
    )


def _is_listed(word: str) -> bool:
    return word in tables.surnames() or word in tables.first_names()


def _is_given_name(word: str) -> bool:
    return word.capitalize() in tables.first_names() and word.lower() not in _HEADS
