"""
What each chain risks after document-level masking, and what it may keep.

Chains of two documents are gone through in blocks. Where there are more than fit into
memory, those under their ceiling are only counted: masking never raises a risk, so no
plan has to look at them again. Longer chains need the whole graph at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sdrag.errors import InputTooLargeError
from sdrag.linkage.chains import LEVELS, Chains, enumerate_chains
from sdrag.linkage.edges import MOST_EDGES, Edges, Links, joined
from sdrag.linkage.incidence import Floats
from sdrag.linkage.risk_state import TOLERANCE, Mask
from sdrag.policy import LinkageSection

__all__ = ["ChainLimits", "limits_of_chains", "limits_of_pairs"]

_MOST_KEPT = 2_000_000
"""Up to so many links every chain is kept, also where it needs nothing."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChainLimits:
    """
    The chains that a plan brings to their ceilings.

    Args:
        edges: On which the chains run, after document-level masking.
        chains: With their risks and ceilings of that moment.
        links_before: How many links the untouched corpus has.
    """

    edges: Edges
    chains: Chains
    links_before: int


def limits_of_pairs(
    links: Links, masked: Mask, settings: LinkageSection
) -> ChainLimits:
    """
    Return the chains of two documents; the links are gone through in blocks.

    Args:
        links: Of the untouched corpus.
        masked: (entities,) by document-level masking.
        settings: For the thresholds.

    Raises:
        InputTooLargeError: More chains are over their ceiling than fit into memory.
    """
    risk = links.corpus.document_risk(masked)
    spared: Counter[str] = Counter()
    parts: list[Edges] = []
    before = kept = 0
    crowded = False
    for block in links.blocks():
        before += len(block)
        parts.append(block.without(masked, settings.edge_threshold))
        kept += len(parts[-1])
        if crowded:
            parts[-1] = _pressing(parts[-1], risk, settings, spared)
        elif kept > _MOST_KEPT:
            crowded = True
            parts = [_pressing(part, risk, settings, spared) for part in parts]
        if crowded and sum(map(len, parts)) > MOST_EDGES:
            raise InputTooLargeError(
                f"More than {MOST_EDGES} chains are over their ceiling.",
                hint="Lower `linkage.max_document_risk`.",
            )
    edges = joined(parts)
    chains = enumerate_chains(edges, risk, settings)
    return ChainLimits(edges, replace(chains, spared=dict(spared)), before)


def limits_of_chains(
    before: Edges, links: Links, masked: Mask, settings: LinkageSection
) -> ChainLimits:
    """
    Return chains of any length, on a graph that is expanded.

    Args:
        before: The links of the untouched corpus.
        links: The same, for their corpus.
        masked: (entities,) by document-level masking.
        settings: For the thresholds.
    """
    edges = before.without(masked, settings.edge_threshold)
    chains = enumerate_chains(edges, links.corpus.document_risk(masked), settings)
    return ChainLimits(edges, chains, len(before))


def _pressing(
    edges: Edges, risk: Floats, settings: LinkageSection, spared: Counter[str]
) -> Edges:
    """Keep the links whose chain is over its ceiling; count the others."""
    chains = enumerate_chains(edges, risk, settings)
    over = chains.risk_before > chains.ceiling + TOLERANCE
    levels = np.bincount(chains.level[~over], minlength=len(LEVELS)).tolist()
    spared.update(dict(zip(LEVELS, levels, strict=True)))
    return edges.only(over)
