"""
Every way in which a text can be read when something known is looked for in it.

As it is, decoded, with words that are run together parted, and with digits read as
the letters that they look like: a one as an i, and as an l.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sdrag.text.decoding import decode, parted
from sdrag.text.folding import Folded, fold

__all__ = ["readings"]

_LEET = tuple(
    str.maketrans("4@3!105$7+892|", f"aae{upright}{upright}ossttbgz{upright}")
    for upright in "il"
)
_MIXED = re.compile(r"[@$!+0-9](?:(?<=[a-z].)|(?<!\+)(?=[a-z]))")


def readings(text: str) -> tuple[Folded, ...]:
    """Return the readings of a text in which every form is looked for, folded."""
    found = [fold(text)]
    decoded = decode(text)
    if decoded.before is not None:
        found.append(fold(decoded))
    apart = parted(decoded)
    if apart is not decoded:
        found.append(fold(apart))
    last = found[1] if decoded.before is not None else found[0]
    if _MIXED.search(last.text):
        found += (replace(last, text=last.text.translate(table)) for table in _LEET)
    return tuple(found)
