"""
The moment after document-level masking: what each chain risks, and may keep.

Chains of two documents are gone through in blocks. Where there are more than are held,
those under their ceiling are counted and let go: masking never raises a risk, so no
plan has to look at them again. Longer chains need the whole graph side by side.
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

__all__ = ["Frozen", "freeze", "freeze_graph"]

_HELD = 2_000_000
"""Up to so many links every chain is held, also where it needs nothing."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frozen:
    """
    The chains that a plan settles.

    Args:
        edges: On which the chains run, after document-level masking.
        chains: With their risks and ceilings of that moment.
        links_before: How many links the untouched corpus has.
    """

    edges: Edges
    chains: Chains
    links_before: int


def freeze(links: Links, masked: Mask, settings: LinkageSection) -> Frozen:
    """
    Freeze the chains of two documents, in blocks.

    Args:
        links: Of the untouched corpus.
        masked: (entities,) by document-level masking.
        settings: For the thresholds.

    Raises:
        InputTooLargeError: More chains are over their ceiling than can be held.
    """
    risk = links.corpus.document_risk(masked)
    spared: Counter[str] = Counter()
    parts: list[Edges] = []
    before = held = 0
    crowded = False
    for block in links.blocks():
        before += len(block)
        parts.append(block.without(masked, settings.edge_threshold))
        held += len(parts[-1])
        if crowded:
            parts[-1] = _pressing(parts[-1], risk, settings, spared)
        elif held > _HELD:
            crowded = True
            parts = [_pressing(part, risk, settings, spared) for part in parts]
        if crowded and sum(map(len, parts)) > MOST_EDGES:
            raise InputTooLargeError(
                f"More than {MOST_EDGES} chains are over their ceiling.",
                hint="Lower `linkage.max_document_risk`.",
            )
    edges = joined(parts)
    chains = enumerate_chains(edges, risk, settings)
    return Frozen(edges, replace(chains, spared=dict(spared)), before)


def freeze_graph(
    before: Edges, links: Links, masked: Mask, settings: LinkageSection
) -> Frozen:
    """Freeze chains of any length, on a graph that is expanded."""
    edges = before.without(masked, settings.edge_threshold)
    chains = enumerate_chains(edges, links.corpus.document_risk(masked), settings)
    return Frozen(edges, chains, len(before))


def _pressing(
    edges: Edges, risk: Floats, settings: LinkageSection, spared: Counter[str]
) -> Edges:
    """Keep the links whose chain is over its ceiling; count the others."""
    chains = enumerate_chains(edges, risk, settings)
    over = chains.risk_before > chains.ceiling + TOLERANCE
    levels = np.bincount(chains.level[~over], minlength=len(LEVELS)).tolist()
    spared.update(dict(zip(LEVELS, levels, strict=True)))
    return edges.only(over)
