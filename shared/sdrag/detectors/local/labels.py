"""Keys and labels: which may be hidden, since they say more than what a value is."""

from __future__ import annotations

from sdrag.detectors.local.fields import is_label


def may_hide_key(key: str) -> bool:
    """
    Return True if words of a key may go, as words of a sentence do.

    Only what is known for a label stays, such as "surname": whoever writes a document
    can put a colon behind anything.
    """
    return not is_label(key)
