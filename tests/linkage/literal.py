"""An independent, literal reading of CLAM: dictionaries and products, no columns."""

from __future__ import annotations

import itertools
import math

from sdrag.policy import LinkageSection

Corpus = dict[str, dict[str, float]]
"""Document id to entity id to relevance."""
Why = dict[str, tuple[str, ...]]
"""What is masked, and the documents that needed it."""


class Literal:
    def __init__(
        self, corpus: Corpus, weights: dict[str, float], settings: LinkageSection
    ) -> None:
        self.corpus, self.weights, self.settings = corpus, weights, settings
        self.frequency: dict[str, int] = {}
        for held in corpus.values():
            for entity in held:
                self.frequency[entity] = self.frequency.get(entity, 0) + 1

    def scale(self, entity: str) -> float:
        count = len(self.corpus)
        rarity = math.log((count + 1) / self.frequency[entity]) / math.log(count + 1)
        return rarity * self.weights[entity]

    def document_risk(self, document: str, masked: set[str]) -> float:
        return 1 - math.prod(
            1 - relevance * self.scale(entity)
            for entity, relevance in self.corpus[document].items()
            if entity not in masked
        )

    def strength(self, one: str, two: str, masked: set[str]) -> float | None:
        shared = {
            entity
            for entity in (self.corpus[one].keys() & self.corpus[two].keys()) - masked
            if self.scale(entity)
        }
        if not shared:
            return None  # an entity that counts nothing links nothing
        return 1 - math.prod(
            1
            - max(self.corpus[one][entity], self.corpus[two][entity])
            * self.scale(entity)
            for entity in shared
        )

    def hop(self, one: str, two: str, masked: set[str]) -> float:
        mean = (self.document_risk(one, masked) + self.document_risk(two, masked)) / 2
        return (self.strength(one, two, masked) or 0.0) * (1 + mean) / 2

    def chain_risk(self, chain: tuple[str, ...], masked: set[str]) -> float:
        return 1 - math.prod(
            1 - self.hop(one, two, masked) for one, two in itertools.pairwise(chain)
        )

    def edges(self, masked: set[str]) -> dict[tuple[str, str], float]:
        found = {}
        for one, two in itertools.combinations(sorted(self.corpus), 2):
            strength = self.strength(one, two, masked)
            if strength is not None and (
                strength >= self.settings.edge_threshold - 1e-12
            ):
                found[one, two] = strength
        return found

    def chains(self, masked: set[str]) -> list[tuple[str, ...]]:
        edges = self.edges(masked)
        paths = [(a, b) for a, b in edges] + [(b, a) for a, b in edges]
        found = list(paths)
        for _ in range(self.settings.chain_length - 2):
            paths = [
                (*path, b)
                for path in paths
                for b in self.corpus
                if b not in path and ((path[-1], b) in edges or (b, path[-1]) in edges)
            ]
            found += paths
        return [path for path in found if path[0] < path[-1]]

    def ceilings(self, masked: set[str]) -> dict[tuple[str, ...], float]:
        """Ceilings of the chains frozen after document-level masking of `masked`."""
        settings = self.settings
        found = {}
        for chain in self.chains(masked):
            before, factor = self.chain_risk(chain, masked), settings.chain_risk_factor
            factors = math.inf, factor.medium, factor.high
            relative = factors[self.level(before)] * before
            found[chain] = min(relative, settings.max_chain_risk)
        return found

    def level(self, risk: float) -> int:
        thresholds = self.settings.risk_thresholds
        return (risk >= thresholds.medium) + (risk >= thresholds.high)

    def document_level(self) -> Why:
        why: Why = {}
        for document, held in self.corpus.items():
            for entity in held:
                if self.best(entity) >= 1.0:
                    why.setdefault(entity, (document,))
        for document, held in self.corpus.items():
            for entity in sorted(held, key=self.rank):
                ceiling = self.settings.max_document_risk
                if self.document_risk(document, {*why}) <= ceiling + 1e-12:
                    break
                why.setdefault(entity, (document,))
        return why

    def best(self, entity: str) -> float:
        held = self.corpus.values()
        return max(each.get(entity, 0.0) for each in held) * self.scale(entity)

    def rank(self, entity: str) -> tuple[float, str]:
        return -round(self.best(entity), 12), entity

    def chain_level(self, first: Why) -> Why:
        """Return what is masked in the end, and for which document or chain."""
        why, ceilings = dict(first), self.ceilings({*first})
        before = {c: round(self.chain_risk(c, {*first}), 12) for c in ceilings}
        for chain in sorted(ceilings, key=lambda chain: -before[chain]):
            ceiling, masked = ceilings[chain] + 1e-12, {*why}
            left = {e for name in chain for e in self.corpus[name]} - masked
            while left and self.chain_risk(chain, masked) > ceiling:
                chosen = self.choose(chain, masked, left, ceiling)
                masked |= chosen
                left -= chosen
                why |= dict.fromkeys(chosen, chain)
        return why

    def choose(
        self, chain: tuple[str, ...], masked: set[str], left: set[str], ceiling: float
    ) -> set[str]:
        risk = self.chain_risk(chain, masked)
        impact = {
            entity: round(risk - self.chain_risk(chain, masked | {entity}), 12)
            for entity in left
        }
        order = sorted(left, key=lambda e: (-impact[e], self.rank(e)))
        number = 1
        if self.settings.select == "knapsack":
            gains = itertools.accumulate(impact[entity] for entity in order)
            number += sum(gain < risk - ceiling for gain in gains)
        chosen = {*order[:number]}
        for entity in order[number - 1 :: -1]:
            if self.chain_risk(chain, masked | chosen - {entity}) <= ceiling:
                chosen.discard(entity)
        return chosen

    def meets(self, masked: set[str], ceilings: dict[tuple[str, ...], float]) -> bool:
        """Say whether documents, frozen chains and chains of the output are under."""
        settings = self.settings
        certain = {
            entity
            for held in self.corpus.values()
            for entity, relevance in held.items()
            if relevance * self.scale(entity) >= 1.0
        }
        return (
            certain <= masked
            and all(
                self.document_risk(document, masked)
                <= settings.max_document_risk + 1e-9
                for document in self.corpus
            )
            and all(
                self.chain_risk(chain, masked) <= ceiling + 1e-9
                for chain, ceiling in ceilings.items()
            )
            and all(
                self.chain_risk(chain, masked) <= settings.max_chain_risk + 1e-9
                for chain in self.chains(masked)
            )
        )
