"""
The formulas of CLAM, section 4.2.3, one function each, on single numbers.

They are the reference for the planner, which works on whole corpora in log space, where
`1 - R` of a document and `1 - strength` of an edge are sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from sdrag.policy import ByRisk

__all__ = [
    "Category",
    "accumulate",
    "category",
    "ceiling",
    "chain_risk",
    "contribution",
    "hop_risk",
    "uniqueness",
]

Category = Literal["HIGH", "MEDIUM", "LOW"]


def uniqueness(frequency: int, documents: int) -> float:
    """
    Return how rare an entity is: `log((N + 1) / freq) / log(N + 1)`.

    Args:
        frequency: In how many distinct documents it stands, from 1 to `documents`.
        documents: How many documents there are, N.
    """
    return math.log((documents + 1) / frequency) / math.log(documents + 1)


def contribution(relevance: float, rarity: float, weight: float) -> float:
    """Return `relevance * u(e) * w_type`; also the `s_e` of an edge or a corpus."""
    return relevance * rarity * weight


def accumulate(parts: Iterable[float]) -> float:
    """Return `1 - prod(1 - part)`: document risk, edge strength and chain risk."""
    return 1.0 - math.prod(1.0 - part for part in parts)


def hop_risk(strength: float, first: float, second: float) -> float:
    """
    Return the risk of one hop: the strength, halved where its documents are harmless.

    Args:
        strength: Of the edge.
        first: The risk of the document at one end.
        second: The risk of the document at the other.
    """
    return strength * (1.0 + (first + second) / 2.0) / 2.0


def chain_risk(hops: Iterable[float]) -> float:
    """Return the risk of a chain from the risks of its hops."""
    return accumulate(hops)


def category(risk: float, thresholds: ByRisk) -> Category:
    """Return the category of a chain; thresholds are lower bounds."""
    if risk >= thresholds.high:
        return "HIGH"
    return "MEDIUM" if risk >= thresholds.medium else "LOW"


def ceiling(risk_before: float, level: Category, absolute: float, by: ByRisk) -> float:
    """
    Return the most risk a chain may keep (section 4.2.4, the stopping rule).

    Args:
        risk_before: Its risk after document-level masking.
        level: Its category, by that risk.
        absolute: `theta_chain`.
        by: `rho`, by category; LOW chains have the absolute ceiling alone.
    """
    factor = {"HIGH": by.high, "MEDIUM": by.medium, "LOW": 1.0}[level]
    relative = factor * risk_before if level != "LOW" else absolute
    return min(absolute, relative)
