"""
Which id a model means: it may write it in other case, in brackets, or with its noun.

An id that two could be meant by, or none, is none: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["meant"]

_AROUND = " \t[]()\"'`:"


def meant(said: object, asked: Collection[str], noun: str = "") -> str | None:
    """
    Return the id that is meant.

    Args:
        said: What stands in the reply where an id belongs.
        asked: The ids that may be meant.
        noun: May stand before the id, as in `constraint a`.
    """
    if isinstance(said, bool) or not isinstance(said, str | int):
        return None
    name = str(said)
    if name in asked:
        return name
    name = name.strip(_AROUND)
    first, _, rest = name.partition(" ")
    if rest and first.casefold() == noun:
        name = rest.strip(_AROUND)
    if name in asked:
        return name
    folded = name.casefold()
    like = [one for one in asked if one.casefold() == folded]
    return like[0] if len(like) == 1 else None
