"""
Whether a constraint that no table knows is plain enough to be understood by a scorer.

A clause says what happened ("how the safe was opened"); a noun or two of a trade ("the
risk appetite") say nothing that could be compared with a text.
"""

from __future__ import annotations

import re

from sdrag.detectors.local.lexicon import FUNCTION_WORDS
from sdrag.disclosure.constraint_parser.folded_wording import subject_of

__all__ = ["is_prose"]

_CLAUSE = re.compile(
    r"\b(?:how|why|what|whatever|who|whom|whose|whoever|where|when|which|whether|that"
    r"|those|reasons?|causes?|motives?|manner|circumstances|outcome|grounds?|method"
    r"|explanation|means|tricks?|sources?)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\w's? \w|\bof (?:the|this|his|her|their|its|our)\b")
"""Something of something in particular: "moves of the game"."""
_FEWEST = 4


def is_prose(text: str) -> bool:
    """Say whether a text in plain characters has a clause, or an order and words."""
    subject = subject_of(text)
    said = [w for w in re.findall(r"[a-z']+", subject.lower()) if _tells(w)]
    ordered = len(subject) < len(text.strip(" .,"))
    clause = _CLAUSE.search(text) is not None
    own = len(said) > 1 and _OWN.search(subject) is not None
    return bool(said) and (clause or (ordered and (own or len(said) >= _FEWEST)))


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in FUNCTION_WORDS
