"""Keys and labels: which may be hidden, since they say more than what a value is."""

from __future__ import annotations

from sdrag.detectors.local.fields import is_label, is_listed_name
from sdrag.detectors.local.tables import first_names, is_common
from sdrag.detectors.local.tokens import split_word

_FEWEST_DIGITS = 4
_SHORT = 2


def may_hide_key(key: str) -> bool:
    """
    Return True if words of a key name somebody or something by themselves.

    "surname", "Plan" and "LOG_LEVEL" say what a value is. "Rosa Kestrel", an address or
    a long number under which a value stands are values too.
    """
    if is_label(key):
        return False
    if "@" in key or sum(map(str.isdigit, key)) >= _FEWEST_DIGITS:
        return True
    if key in first_names():
        return True
    parts = [part for word in key.split() for part in split_word(word)]
    if all(len(part) <= _SHORT or is_common(part) for part in parts):
        return False
    if is_listed_name(key):
        return True
    return " " in key or not (key.islower() or key.isupper() or "_" in key)
