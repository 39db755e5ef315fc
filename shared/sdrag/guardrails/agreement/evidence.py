"""
The sentences that a claim rests on: those that have its words, figures and names.

Sentences chosen by the words of a claim may lack a figure or a name that is next to
them, in a heading or a date line. Each that holds what is lacking is added, the nearest
first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.guardrails.agreement.figures import missing_figures
from sdrag.guardrails.agreement.names import missing_names
from sdrag.guardrails.agreement.quantities import quantities
from sdrag.guardrails.agreement.tokens import (
    NUMBER_WORDS,
    TokenText,
    joined,
    read_tokens,
)
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

__all__ = ["Evidence", "RestsOn", "rest_on"]

_MOST_ADDED = 3
_COUNTING = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)}|half|both|dozen|[a-z]+day)")
_MONTHS = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_INITIALS = 5
"""Letters of a word that may be an abbreviation."""
_BEGINNING = 3


class Evidence(Confidential):
    """
    Sentences that are each read once, when they are first asked for.

    Args:
        texts: In their order. They are kept as long as this object.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._read: dict[int, TokenText] = {}

    def sentence(self, at: int) -> TokenText:
        """Return the words of one sentence."""
        if at not in self._read:
            self._read[at] = read_tokens([self.texts[at]])
        return self._read[at]

    def together(self, places: Sequence[int]) -> TokenText:
        """Return the words of some sentences, in their order."""
        return joined([self.sentence(at) for at in sorted(places)])

    def __repr__(self) -> str:
        return f"Evidence({len(self.texts)} sentences)"


@dataclass(frozen=True, slots=True)
class RestsOn:
    """
    What a claim rests on.

    Args:
        sentences: Places in the evidence, ascending.
        missing: How many figures and names of the claim are in no sentence.
    """

    sentences: tuple[int, ...]
    missing: int


def rest_on(claim: TokenText, cited: Sequence[int], evidence: Evidence) -> RestsOn:
    """
    Add the sentences that hold the figures and names which the cited ones lack.

    Args:
        claim: The words of a claim.
        cited: Places of the sentences that it rests on by its words.
        evidence: Where to look; what is nearer to the cited ones is taken first.
    """
    lacking = _lacking(claim, evidence.together(cited))
    chosen = list(cited)
    if not lacking:
        return RestsOn(tuple(cited), 0)
    hints = _hints(claim, lacking)
    held = {
        at: lacking - _lacking(claim, evidence.sentence(at))
        for at, text in enumerate(evidence.texts)
        if at not in chosen and hints.search(fold_text(text))
    }
    while lacking and held and len(chosen) < len(cited) + _MOST_ADDED:
        best = max(held, key=lambda at: (len(held[at] & lacking), -_far(at, cited)))
        if not held[best] & lacking:
            break
        chosen.append(best)
        lacking -= held.pop(best)
    return RestsOn(tuple(sorted(chosen)), len(lacking))


def _lacking(claim: TokenText, evidence: TokenText) -> frozenset[int]:
    """Return where in the claim the figures and names are that the evidence lacks."""
    return missing_figures(claim, evidence) | missing_names(claim, evidence)


def _hints(claim: TokenText, lacking: frozenset[int]) -> re.Pattern[str]:
    """Return what a folded sentence has to hold, to be worth reading."""
    figures = {one.at for one in quantities(claim)}
    parts = set()
    for at in lacking:
        word = claim[at].base
        if at in figures:
            parts |= {_COUNTING.pattern, _MONTHS.pattern}
        elif len(word) <= _INITIALS:
            return re.compile("")
        else:
            parts.add(re.escape(word[:_BEGINNING]))
    return re.compile("|".join(sorted(parts)))


def _far(at: int, cited: Sequence[int]) -> int:
    return min((abs(at - place) for place in cited), default=0)
