"""
What a question asks for, as far as its words tell.

The word that asks, with what follows it up to an auxiliary ("which river", "how many"),
has in the question the place that the answer has in its sentence, and a model that
embeds tokens in their context puts the two near each other. That is the *focus*. A
question for a number is told by a few words. English; a question in another language
has no focus, and is judged by the other measures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["asks_for_a_number", "focus", "gives_a_number"]

_ASKING_WORDS = "who whom whose what which when where why how"
_AUXILIARY_WORDS = """
is are was were did do does has have had can could would will should may might been
being
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_LONGEST = 5
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|large|big|often|fast|high|deep|wide|heavy)\b"
    r"|\bwhat (?:percent|percentage|number|amount|fraction|proportion|age|size"
    r"|population|temperature)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d[\d,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen"
    r"|half|third|quarter|none|once|twice|first|second)s?\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


def focus(tokens: Sequence[str]) -> list[int]:
    """
    Say which tokens of a question stand in the answer's place.

    Args:
        tokens: The question's tokens in lower case; pieces of a word one by one.
    """
    first = next((at for at, token in enumerate(tokens) if token in _ASKING), None)
    if first is None:
        return []
    found = [first]
    for at in range(first + 1, min(first + _LONGEST, len(tokens))):
        if tokens[at] in _AUXILIARIES or not tokens[at].isalnum():
            break
        found.append(at)
    return found


def asks_for_a_number(question: str) -> bool:
    """Say whether a question asks how many, how much, how long."""
    return _ASKS_NUMBER.search(question) is not None


def gives_a_number(sentence: str, question: str) -> bool:
    """Say whether a sentence holds a number that the question does not."""
    known = set(_WORD.findall(question.lower()))
    return any(
        not known.issuperset(_WORD.findall(found.group().lower()))
        for found in _NUMBER.finditer(sentence)
    )
