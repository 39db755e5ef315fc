"""
Agreement: is everything that a claim says in the evidence, and said the same way?

Similarity passes *200 mg* for *20 mg*. So each part of a claim that makes it true or
false is compared by a rule of its own: figures (numbers, units, dates), bounds, names,
polarity (denials and antonyms) and quantifiers. A part that is missing or conflicts
makes the claim unsupported, however similar the rest is. The rules can only take
support away. Who did what to whom is a question for an NLI model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sdrag.guardrails.agreement.evidence import Evidence, rest_on
from sdrag.guardrails.agreement.figures import bounds_differ, figures_differ
from sdrag.guardrails.agreement.names import names_differ
from sdrag.guardrails.agreement.polarity import polarity_differs
from sdrag.guardrails.agreement.quantifiers import quantifiers_differ
from sdrag.guardrails.agreement.tokens import TokenText, read_tokens
from sdrag.text.sentences import sentences

__all__ = ["Agreement", "Evidence", "agreement"]

_RULES: tuple[tuple[str, Callable[[TokenText, TokenText], bool]], ...] = (
    ("figures", figures_differ),
    ("bounds", bounds_differ),
    ("names", names_differ),
    ("polarity", polarity_differs),
    ("quantifiers", quantifiers_differ),
)


class Agreement(NamedTuple):
    """
    Whether a claim says what its evidence says.

    Args:
        missing: Figures and names of the claim that are nowhere in the evidence.
        conflicts: The rules that the claim fails; none where something is missing.
    """

    missing: int
    conflicts: tuple[str, ...] = ()


def agreement(claim: str, cited: tuple[int, ...], evidence: Evidence) -> Agreement:
    """
    Compare a claim with the sentences that it rests on.

    Args:
        claim: A sentence.
        cited: Places of the sentences that have most of its words.
        evidence: All sentences; what the cited ones lack is looked for there.
    """
    mine = read_tokens([span.of(claim) for span in sentences(claim)])
    rests = rest_on(mine, cited, evidence)
    if rests.missing:
        return Agreement(rests.missing)
    theirs = evidence.together(rests.sentences)
    return Agreement(
        0, tuple(name for name, differs in _RULES if differs(mine, theirs))
    )
