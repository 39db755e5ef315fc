"""
How far a name reaches beyond its capitalised words.

Behind it, over a head in lower case (Salzburg municipal cemetery) and over the place of
a court (the High Court at Edinburgh); in front of it, over the people it belongs to
(the Bulgarian Communist Party).
"""

from __future__ import annotations

import re

from sdrag.detectors.local.lexicon import GENERIC, ORGANISATION_HEADS, listed
from sdrag.detectors.local.nationalities import NATIONALITIES
from sdrag.detectors.local.runs import Run, is_common

__all__ = ["end_of", "seated", "start_of"]

_HEAD = re.compile(
    r" (?:(?:municipal|public|provincial|district|regional|local|primary|secondary"
    r"|state|civil|criminal|police|military|central|general|high|city|county|town) )?"
    r"(?:court|prosecutor|cemetery|prison|hospital|school|college|university|academy"
    r"|village|district|municipality|province|county|region|airport|barracks|garrison"
    r"|church|mosque|synagogue|monastery|factory|plant|mine|mill|station|hotel|clinic"
    r"|bank|newspaper|magazine|motorway|street|square|market|orphanage|camp|estate"
    r"|farm|prosecutors|police|council|office|branch|party|club|group|company)\b"
)
_SEAT = re.compile(r",? (?:at|in|of) ([A-Z]\w{2,})")
_STATE = listed("Government Constitution Parliament Court Courts Code Law State Act")


def start_of(run: Run) -> int:
    """Return where the name starts, with the people an organisation belongs to."""
    tokens, index = run.tokens, run.start
    while (
        index
        and tokens.words[index - 1] in NATIONALITIES
        and tokens.gap(index) == " "
        and not _STATE & set(run.words)
    ):
        index -= 1
    return tokens.starts[index]


def end_of(run: Run) -> int:
    """Return where the name ends, with a head in lower case."""
    head = _HEAD.match(run.tokens.text, run.last_character)
    return head.end() if head else run.last_character


def seated(run: Run) -> bool:
    """Say whether what is no name by itself is told apart by its place."""
    if run.words[-1] not in ORGANISATION_HEADS:
        return False
    seat = _SEAT.match(run.tokens.text, run.last_character)
    return seat is not None and seat[1] not in GENERIC and not is_common(seat[1])
