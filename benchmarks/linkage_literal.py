"""A literal reading of CLAM's chapter 4, kept to compare the engine with."""

from __future__ import annotations

import itertools
import math

from sdrag.linkage.incidence import Incidence
from sdrag.policy import LinkageSection

__all__ = ["Literal"]


class Literal:
    """Chapter 4 as it is written: every pair compared, risks recomputed each time."""

    def __init__(self, corpus: Incidence, settings: LinkageSection) -> None:
        self.settings = settings
        scale = (corpus.uniqueness * corpus.weight).tolist()
        self.documents: list[dict[int, float]] = []
        for low, high in itertools.pairwise(corpus.starts.tolist()):
            names = corpus.entity[low:high].tolist()
            values = corpus.relevance[low:high].tolist()
            self.documents.append(
                {e: v * scale[e] for e, v in zip(names, values, strict=True)}
            )
        self.best: dict[int, float] = {}
        for held in self.documents:
            for entity, value in held.items():
                self.best[entity] = max(self.best.get(entity, 0.0), value)

    def plan(self) -> set[int]:
        """Return the entities that greedy selection masks."""
        masked = self.document_level()
        pairs = itertools.combinations(range(len(self.documents)), 2)
        before = {
            pair: risk
            for pair in pairs
            if self.strength(*pair, masked) >= self.settings.edge_threshold
            for risk in (self.risk(*pair, masked),)
        }
        order = sorted(before, key=lambda pair: (-round(before[pair], 12), pair))
        for pair in order:
            ceiling = self.ceiling(before[pair])
            while self.risk(*pair, masked) > ceiling + 1e-12:
                masked.add(self.pick(pair, masked))
                for other in order:  # "recompute affected document and chain risks"
                    self.risk(*other, masked)
        return masked

    def document_level(self) -> set[int]:
        """Return what document-level masking takes."""
        masked = {entity for entity, value in self.best.items() if value >= 1.0}
        for held in self.documents:
            order = sorted(held, key=lambda e: (-round(self.best[e], 12), e))
            for entity in order:
                if self.joint(held, masked) <= self.settings.max_document_risk + 1e-12:
                    break
                masked.add(entity)
        return masked

    def pick(self, pair: tuple[int, int], masked: set[int]) -> int:
        """Return the entity of highest impact on a chain."""
        one, two = pair
        names = (self.documents[one].keys() | self.documents[two].keys()) - masked
        risk = self.risk(one, two, masked)
        return min(
            names,
            key=lambda e: (
                -round(risk - self.risk(one, two, masked | {e}), 12),
                -round(self.best[e], 12),
                e,
            ),
        )

    def ceiling(self, risk: float) -> float:
        """Return the most that a chain of this risk may keep."""
        by, at = self.settings.chain_risk_factor, self.settings.risk_thresholds
        if risk < at.medium:
            return self.settings.max_chain_risk
        factor = by.high if risk >= at.high else by.medium
        return min(self.settings.max_chain_risk, factor * risk)

    def strength(self, one: int, two: int, masked: set[int]) -> float:
        """Return the strength of the edge between two documents."""
        left, right = self.documents[one], self.documents[two]
        shared = (left.keys() & right.keys()) - masked
        return 1 - math.prod(1 - max(left[e], right[e]) for e in shared)

    def risk(self, one: int, two: int, masked: set[int]) -> float:
        """Return the risk of the chain of two documents."""
        first = self.joint(self.documents[one], masked)
        second = self.joint(self.documents[two], masked)
        return self.strength(one, two, masked) * (1 + (first + second) / 2) / 2

    @staticmethod
    def joint(held: dict[int, float], masked: set[int]) -> float:
        """Return the risk of a document."""
        return 1 - math.prod(1 - v for e, v in held.items() if e not in masked)
