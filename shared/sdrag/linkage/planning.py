"""
A plan: what to mask so that every document and every chain is under its ceiling.

The order is the thesis's (section 4.2.4): documents, then the graph pruned again, then
the chains enumerated once with their risks frozen, then the chosen strategy. The plan
keeps the evidence: the risks before and after, why each entity was masked, and which
ceilings the policy's own unmaskable types make impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdrag.linkage.chain_ceilings import Frozen, freeze, freeze_graph
from sdrag.linkage.chains import Chains, hop_risks, path_risks
from sdrag.linkage.edges import Edges, Links
from sdrag.linkage.incidence import Floats, Incidence, Ints
from sdrag.linkage.optimal import Solution, optimise
from sdrag.linkage.problem import Ground
from sdrag.linkage.risk_state import TOLERANCE, Mask, RiskState
from sdrag.linkage.selection import (
    Choose,
    Selected,
    certain,
    document_level,
    greedy,
    knapsack,
    settle_chains,
)
from sdrag.policy import LinkageSection

__all__ = ["Plan", "impossible_documents", "plan_masking"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """
    What is masked and what that does.

    Args:
        corpus: What was planned for.
        settings: Under which ceilings.
        before: The links of the untouched corpus.
        frozen: The chains after document-level masking, with their ceilings.
        selected: What is masked, and for which document or chain.
        solution: The bound and the gap, where the strategy was `optimal`.
    """

    corpus: Incidence
    settings: LinkageSection
    before: Links
    frozen: Frozen
    selected: Selected
    solution: Solution | None = None
    edge_log_after: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def edges(self) -> Edges:
        """The links that the chains run on."""
        return self.frozen.edges

    @property
    def chains(self) -> Chains:
        """Frozen after document-level masking."""
        return self.frozen.chains

    @property
    def links_before(self) -> int:
        """How many links the untouched corpus has."""
        return self.frozen.links_before

    @cached_property
    def links_after(self) -> int:
        """How many links are left."""
        threshold = self.settings.edge_threshold
        return sum(
            len(block.without(self.masked, threshold)) for block in self.before.blocks()
        )

    @property
    def masked(self) -> Mask:
        """(entities,) what is masked."""
        return self.selected.masked

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
        """(chains,) the frozen chains' risks after masking."""
        survive = 1.0 - self.document_risk
        return path_risks(
            self.chains.hops, hop_risks(self.edges, self.edge_log_after, survive)
        )

    @property
    def impossible_documents(self) -> Ints:
        """Documents over their ceiling with all masked that may be masked."""
        return impossible_documents(self.corpus, self.settings)

    @property
    def impossible_chains(self) -> Ints:
        """Chains over their ceiling, which only unmaskable entities can cause."""
        return np.flatnonzero(self.chain_risk > self.chains.ceiling + TOLERANCE)


def impossible_documents(corpus: Incidence, settings: LinkageSection) -> Ints:
    """Return the documents that unmaskable entities alone hold over the ceiling."""
    floor = corpus.document_risk(corpus.maskable)
    return np.flatnonzero(floor > settings.max_document_risk + TOLERANCE)


def plan_masking(
    corpus: Incidence, settings: LinkageSection, already: Sequence[int] = ()
) -> Plan:
    """
    Choose what to mask.

    Args:
        corpus: The documents and their entities.
        settings: The ceilings and the strategy; `document` stops after the first stage.
        already: Entities that are masked in any case.
    """
    links = Links(corpus, settings.edge_threshold)
    selected = document_level(corpus, settings.max_document_risk, already)
    if settings.select == "optimal":
        return _optimal(links, selected, settings, already)
    if settings.chain_length == 2:
        frozen = freeze(links, selected.masked, settings)
    else:
        frozen = freeze_graph(links.expanded(), links, selected.masked, settings)
    if settings.select != "document":
        choose = greedy if settings.select == "greedy" else knapsack
        selected = _settled(corpus, settings, frozen, selected, choose)
    after = _masked_log(frozen.edges, selected.masked)
    return Plan(corpus, settings, links, frozen, selected, edge_log_after=after)


def _optimal(
    links: Links, selected: Selected, settings: LinkageSection, already: Sequence[int]
) -> Plan:
    corpus, before = links.corpus, links.expanded()
    frozen = freeze_graph(before, links, selected.masked, settings)
    starts = [
        _settled(corpus, settings, frozen, selected, choose)
        for choose in (greedy, knapsack)
    ]
    held = certain(corpus, already)
    graph = before.without(held, settings.edge_threshold)
    ground = Ground(corpus, settings, held, graph, frozen.edges, frozen.chains)
    solution = optimise(ground, starts, _costs(corpus, settings))
    after = _masked_log(frozen.edges, solution.selected.masked)
    return Plan(corpus, settings, links, frozen, solution.selected, solution, after)


def _settled(
    corpus: Incidence,
    settings: LinkageSection,
    frozen: Frozen,
    selected: Selected,
    choose: Choose,
) -> Selected:
    mine = Selected(
        selected.masked.copy(), dict(selected.for_document), dict(selected.for_chain)
    )
    ledger = RiskState(corpus, frozen.edges, mine.masked)
    costs = _costs(corpus, settings)
    settle_chains(ledger, frozen.chains, choose, costs, mine)
    return mine


def _costs(corpus: Incidence, settings: LinkageSection) -> Floats:
    if settings.minimise == "mentions":
        return corpus.frequency.astype(float)
    return np.ones(len(corpus.entity_ids))


def _masked_log(edges: Edges, masked: Mask) -> Floats:
    keep = ~masked[edges.via_entity]
    sums = np.bincount(edges.via_edge[keep], edges.via_log[keep], len(edges))
    return np.asarray(sums, float)
