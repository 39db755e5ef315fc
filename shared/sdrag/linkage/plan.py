"""
A plan: what to mask so that every document and every chain is under its ceiling.

The order is the thesis's (section 4.2.4). First documents, greedily by global
contribution. Then the graph is pruned, and its chains are enumerated once, with their
ceilings. Then each chain that is over its ceiling, the riskiest first, by one of two
strategies. `greedy` masks the entity that lowers its risk most, and looks again.
`knapsack` takes the fewest entities whose impacts sum to the reduction that is needed:
where each costs the same, they are those of the highest impact. Two entities that carry
one link have more effect together than apart, so the set is trimmed by the exact risk.
Ties go by global contribution, then by entity id; risks are compared to twelve digits,
so that plans do not depend on the order of a sum.

The plan keeps the evidence: the risks before and after, why each entity was masked, and
which ceilings the policy's own unmaskable types make impossible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, takewhile

import numpy as np

from sdrag.linkage.graph import (
    TOLERANCE,
    Chains,
    Edges,
    chain_risks,
    find_chains,
    find_edges,
    hop_risks,
)
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask
from sdrag.policy import LinkageSection

_DIGITS = 12
_BLOCK = 2048
"""So many chains are settled before those are left out that are under by now."""

Why = dict[int, tuple[int, ...]]
"""What is masked: by entity, the document or the chain of documents that needed it."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """
    What is masked and what that does.

    Args:
        edges: The links after document-level masking, which the chains run on.
        why: What is masked: by number of the entity, the documents that needed it.
    """

    corpus: Incidence
    settings: LinkageSection
    before: Edges
    edges: Edges
    chains: Chains
    why: Mapping[int, tuple[int, ...]]

    @cached_property
    def masked(self) -> Mask:
        """(entities,) what is masked."""
        return _mask(self.corpus, self.why)

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
        return _chain_risk(self.corpus, self.edges, self.chains, self.masked)

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
    before: Edges | None = None,
) -> Plan:
    """
    Choose what to mask.

    `already`: entities that an earlier plan masked; they stay masked.
    """
    before = before or find_edges(corpus, settings.edge_threshold)
    why = _settle_documents(corpus, settings.max_document_risk)
    masked = _mask(corpus, why)
    edges = before.without(masked, settings.edge_threshold)
    chains = find_chains(edges, corpus.document_risk(masked), settings)
    # The ceilings are those of a first plan: had they been lowered by what an earlier
    # plan masked, a second run over the same corpus would mask more.
    _mask_in_first(corpus, already, why)
    if settings.select != "document":
        greedy = settings.select == "greedy"
        _settle_chains(corpus, edges, chains, why, greedy=greedy)
    return Plan(corpus, settings, before, edges, chains, why)


def _mask(corpus: Incidence, why: Mapping[int, tuple[int, ...]]) -> Mask:
    masked = np.zeros(len(corpus.entity_ids), bool)
    masked[list(why)] = True
    return masked


def _mask_in_first(corpus: Incidence, entities: Sequence[int], why: Why) -> None:
    """Mask entities whatever the risks are, for the first document they are in."""
    if len(entities):
        numbers, first = np.unique(corpus.entity, return_index=True)
        documents = corpus.document[first[np.searchsorted(numbers, entities)]]
        for entity, document in zip(entities, documents.tolist(), strict=True):
            why.setdefault(entity, (document,))


def _settle_documents(corpus: Incidence, ceiling: float) -> Why:
    """
    Mask until every document is at or under its ceiling, or nothing is left to mask.

    Entities that are certain to identify (contribution 1) are masked whatever it is.
    """
    why: Why = {}
    certain = (corpus.global_contribution >= 1.0) & corpus.maskable
    _mask_in_first(corpus, np.flatnonzero(certain).tolist(), why)
    rank = np.round(corpus.global_contribution, _DIGITS)
    over = corpus.document_risk(_mask(corpus, why)) > ceiling + TOLERANCE
    for document in np.flatnonzero(over).tolist():
        held = corpus.logs_of(document)
        active = {entity: log for entity, log in held.items() if entity not in why}
        for entity in sorted(active, key=lambda entity: (-rank[entity], entity)):
            if _risk(active, set()) <= ceiling + TOLERANCE:
                break
            if corpus.maskable[entity]:
                del active[entity]
                why[entity] = (document,)
    return why


def _settle_chains(
    corpus: Incidence, edges: Edges, chains: Chains, why: Why, *, greedy: bool
) -> None:
    """Bring every chain to its ceiling, the riskiest first."""
    order = np.argsort(-np.round(chains.risk_before, _DIGITS), kind="stable")
    while len(order):
        risk = _chain_risk(corpus, edges, chains, _mask(corpus, why))
        order = order[risk[order] > chains.ceiling[order] + TOLERANCE]
        for number in order[:_BLOCK].tolist():
            ceiling = float(chains.ceiling[number])
            _settle(corpus, chains.path(number), ceiling, why, greedy=greedy)
        order = order[_BLOCK:]


def _chain_risk(
    corpus: Incidence, edges: Edges, chains: Chains, masked: Mask
) -> Floats:
    hops = hop_risks(edges, edges.log_without(masked), corpus.document_risk(masked))
    return chain_risks(chains.hops, hops)


def _settle(
    corpus: Incidence, path: tuple[int, ...], ceiling: float, why: Why, *, greedy: bool
) -> None:
    """Bring a chain to its ceiling, or as low as what may be masked allows."""
    chain = _Chain(corpus, path, why)
    left = {e for held in chain.documents for e in held if corpus.maskable[e]}
    ceiling = max(ceiling, chain.risk(left)) + TOLERANCE
    whole = {e: round(float(corpus.global_contribution[e]), _DIGITS) for e in left}
    taken: set[int] = set()
    while left and (risk := chain.risk(taken)) > ceiling:
        impact = {
            entity: round(risk - chain.risk({*taken, entity}), _DIGITS)
            for entity in left
        }
        order = sorted(left, key=lambda e: (-impact[e], -whole[e], e))
        count = 1
        if not greedy:
            reached = accumulate(impact[entity] for entity in order)
            count += sum(
                1 for _ in takewhile(lambda gain: gain < risk - ceiling, reached)
            )
        chosen = chain.trim(taken, order[:count], ceiling)
        taken |= chosen
        left -= chosen
        why.update(dict.fromkeys(sorted(chosen), path))


class _Chain:
    """One chain in isolation, so that a masking can be tried without doing it."""

    def __init__(self, corpus: Incidence, path: tuple[int, ...], why: Why) -> None:
        self.documents = [
            {e: log for e, log in corpus.logs_of(document).items() if e not in why}
            for document in path
        ]
        self._shared = [
            {e: max(left[e], right[e]) for e in left.keys() & right.keys()}
            for left, right in pairwise(self.documents)
        ]

    def risk(self, without: set[int]) -> float:
        risks = [_risk(held, without) for held in self.documents]
        kept = 1.0
        for (left, right), shared in zip(pairwise(risks), self._shared, strict=True):
            kept *= 1.0 - _risk(shared, without) * (1.0 + (left + right) / 2.0) / 2.0
        return 1.0 - kept

    def trim(self, taken: set[int], chosen: list[int], ceiling: float) -> set[int]:
        """Leave out what is chosen for nothing, the least impact first."""
        kept = set(chosen)
        for entity in reversed(chosen):
            if self.risk(taken | kept - {entity}) <= ceiling:
                kept.discard(entity)
        return kept


def _risk(logs: Mapping[int, float], without: set[int]) -> float:
    total = math.fsum(log for entity, log in logs.items() if entity not in without)
    return -math.expm1(-total)
