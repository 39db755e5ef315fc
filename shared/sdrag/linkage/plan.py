"""
A plan: what to mask so that every document and every chain is under its ceiling.

The order is the thesis's (section 4.2.4): documents, then the graph pruned again, then
the chains enumerated once with their ceilings, then the chosen strategy. The plan
keeps the evidence: the risks before and after, why each entity was masked, and which
ceilings the policy's own unmaskable types make impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdrag.linkage.graph import (
    Chains,
    Edges,
    enumerate_chains,
    find_edges,
    hop_risks,
    path_risks,
)
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask
from sdrag.linkage.risk import TOLERANCE, RiskState
from sdrag.linkage.selection import Selection, document_level, settle_chains
from sdrag.policy import LinkageSection

__all__ = ["Plan", "plan_masking"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """
    What is masked and what that does.

    Args:
        corpus: What was planned for.
        settings: Under which ceilings.
        before: The links of the untouched corpus.
        edges: The links after document-level masking, which the chains run on.
        chains: The chains after document-level masking, with their ceilings.
        selection: What is masked, and for which document or chain.
    """

    corpus: Incidence
    settings: LinkageSection
    before: Edges
    edges: Edges
    chains: Chains
    selection: Selection

    @property
    def masked(self) -> Mask:
        """(entities,) what is masked."""
        return self.selection.masked

    @cached_property
    def after(self) -> Edges:
        """The links that are left."""
        return self.before.without(self.masked, self.settings.edge_threshold)

    @property
    def document_risk_before(self) -> Floats:
        """(documents,) `R(d)` of the untouched corpus."""
        return self.corpus.document_risk()

    @property
    def document_risk(self) -> Floats:
        """(documents,) `R(d)` after masking."""
        return self.corpus.document_risk(self.masked)

    @property
    def chain_risk(self) -> Floats:
        """(chains,) the chains' risks after masking."""
        edges, keep = self.edges, ~self.masked[self.edges.via_entity]
        logs = np.bincount(edges.via_edge[keep], edges.via_log[keep], len(edges))
        hops = hop_risks(edges, logs.astype(float), 1.0 - self.document_risk)
        return path_risks(self.chains.hops, hops)

    @property
    def impossible_documents(self) -> Ints:
        """Documents that unmaskable entities alone hold over their ceiling."""
        floor = self.corpus.document_risk(self.corpus.maskable)
        return np.flatnonzero(floor > self.settings.max_document_risk + TOLERANCE)

    @property
    def impossible_chains(self) -> Ints:
        """Chains over their ceiling, which only unmaskable entities can cause."""
        return np.flatnonzero(self.chain_risk > self.chains.ceiling + TOLERANCE)


def plan_masking(
    corpus: Incidence, settings: LinkageSection, already: Sequence[int] = ()
) -> Plan:
    """
    Choose what to mask.

    Args:
        corpus: The documents and their entities.
        settings: The ceilings and the strategy; `document` stops after the first stage.
        already: Entities that an earlier plan masked; they stay masked.
    """
    before = find_edges(corpus, settings.edge_threshold)
    selection = document_level(corpus, settings.max_document_risk)
    edges = before.without(selection.masked, settings.edge_threshold)
    chains = enumerate_chains(edges, corpus.document_risk(selection.masked), settings)
    # The ceilings are those of a first plan: had they been lowered by what an earlier
    # plan masked, a second run over the same corpus would mask more.
    state = RiskState(corpus, edges, selection.masked)
    for entity in already:
        state.mask(entity)
        selection.mask_for_document(corpus, entity)
    if settings.select != "document":
        settle_chains(state, chains, settings, selection)
    return Plan(corpus, settings, before, edges, chains, selection)
