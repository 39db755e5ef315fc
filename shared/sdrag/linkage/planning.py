"""
A plan: what to mask so that every document and every chain is under its ceiling.

The order is the thesis's (section 4.2.4): documents, then the graph pruned again, then
the chains enumerated once with their ceilings, then the chosen strategy. The plan
keeps the evidence: the risks before and after, why each entity was masked, and which
ceilings the policy's own unmaskable types make impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdrag.linkage.chain_ceilings import (
    ChainLimits,
    limits_of_chains,
    limits_of_pairs,
)
from sdrag.linkage.chains import Chains, hop_risks, path_risks
from sdrag.linkage.edges import Edges, Links
from sdrag.linkage.incidence import Floats, Incidence, Ints
from sdrag.linkage.risk_state import TOLERANCE, Mask, RiskState
from sdrag.linkage.selection import (
    Selection,
    document_level,
    greedy,
    knapsack,
    settle_chains,
)
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
        limits: The chains after document-level masking, with their ceilings.
        selection: What is masked, and for which document or chain.
    """

    corpus: Incidence
    settings: LinkageSection
    before: Links
    limits: ChainLimits
    selection: Selection
    edge_log_after: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def edges(self) -> Edges:
        """The links that the chains run on."""
        return self.limits.edges

    @property
    def chains(self) -> Chains:
        """The chains after document-level masking."""
        return self.limits.chains

    @property
    def links_before(self) -> int:
        """How many links the untouched corpus has."""
        return self.limits.links_before

    @cached_property
    def links_after(self) -> int:
        """How many links are left."""
        left = Links(self.corpus.without(self.masked), self.settings.edge_threshold)
        return sum(map(len, left.blocks()))

    @property
    def masked(self) -> Mask:
        """(entities,) what is masked."""
        return self.selection.masked

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
        survive = 1.0 - self.document_risk
        return path_risks(
            self.chains.hops, hop_risks(self.edges, self.edge_log_after, survive)
        )

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
    corpus: Incidence,
    settings: LinkageSection,
    already: Sequence[int] = (),
    links_of: Callable[[Incidence, float], Links] = Links,
) -> Plan:
    """
    Choose what to mask.

    Args:
        corpus: The documents and their entities.
        settings: The ceilings and the strategy; `document` stops after the first stage.
        already: Entities that an earlier plan masked; they stay masked.
        links_of: Returns the links of a corpus at or above a threshold.
    """
    links = links_of(corpus, settings.edge_threshold)
    selection = document_level(corpus, settings.max_document_risk)
    if settings.chain_length == 2:
        limits = limits_of_pairs(links, selection.masked, settings)
    else:
        limits = limits_of_chains(links.expanded(), links, selection.masked, settings)
    # The ceilings are those of a first plan: had they been lowered by what an earlier
    # plan masked, a second run over the same corpus would mask more.
    state = RiskState(corpus, limits.edges, selection.masked)
    for entity in already:
        state.mask(entity)
        selection.mask_for_document(corpus, entity)
    if settings.select != "document":
        choose = greedy if settings.select == "greedy" else knapsack
        settle_chains(state, limits.chains, choose, _costs(corpus, settings), selection)
    after = _masked_log(limits.edges, selection.masked)
    return Plan(corpus, settings, links, limits, selection, edge_log_after=after)


def _costs(corpus: Incidence, settings: LinkageSection) -> Floats:
    if settings.minimise == "mentions":
        return corpus.frequency.astype(float)
    return np.ones(len(corpus.entity_ids))


def _masked_log(edges: Edges, masked: Mask) -> Floats:
    keep = ~masked[edges.via_entity]
    sums = np.bincount(edges.via_edge[keep], edges.via_log[keep], len(edges))
    return np.asarray(sums, float)
