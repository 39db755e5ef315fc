"""
What links the documents of a corpus, before anything is masked.

`assess` resolves what was found into entities, weighs them, and returns the risk of
every document, the links between documents and the chains, with nothing changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sdrag.effects.steps import EffectRunner, Steps, run
from sdrag.errors import UsageError
from sdrag.linkage.graph import (
    LEVELS,
    Chains,
    Edges,
    documents_of,
    enumerate_chains,
    find_edges,
)
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.meaning import Vectors
from sdrag.linkage.mentions import Mentions, Occurrence, read_mentions
from sdrag.linkage.resolve import Resolved, resolve
from sdrag.linkage.schema import schema_of
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Passage

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Assessment",
    "Chain",
    "Link",
    "assess",
    "assess_steps",
]


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of the document graph: two documents and the entities they share."""

    first: str
    second: str
    strength: float
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A path of linked documents, its risk and category."""

    documents: tuple[str, ...]
    risk: float
    category: str


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Confidential):
    """
    The risks of a corpus.

    Args:
        settings: Under which it was assessed.
        resolved: The entities; confidential, for they hold values.
        corpus: Documents and entities as columns.
    """

    settings: LinkageSection
    resolved: Resolved
    corpus: Incidence

    def __repr__(self) -> str:
        count = len(self.corpus.document_ids)
        return f"Assessment({count} documents)"

    @cached_property
    def edges(self) -> Edges:
        """The pruned document graph as columns."""
        return find_edges(self.corpus, self.settings.edge_threshold)

    @cached_property
    def chains(self) -> Chains:
        """The chains of that graph."""
        risks = self.corpus.document_risk()
        return enumerate_chains(self.edges, risks, self.settings)

    @cached_property
    def document_risk(self) -> dict[str, float]:
        """`R(d)` by document id."""
        risks = self.corpus.document_risk().tolist()
        return dict(zip(self.corpus.document_ids, risks, strict=True))

    @cached_property
    def uniqueness(self) -> dict[str, float]:
        """`u(e)` by entity id."""
        values = self.corpus.uniqueness.tolist()
        return dict(zip(self.corpus.entity_ids, values, strict=True))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The edges, by documents."""
        edges, ids, names = self.edges, self.corpus.document_ids, self.corpus.entity_ids
        starts = np.searchsorted(edges.via_edge, np.arange(len(edges) + 1)).tolist()
        via = [names[entity] for entity in edges.via_entity.tolist()]
        ends = zip(edges.first.tolist(), edges.second.tolist(), strict=True)
        return tuple(
            Link(ids[left], ids[right], strength, tuple(sorted(via[low:high])))
            for (left, right), strength, low, high in zip(
                ends, edges.strength.tolist(), starts, starts[1:], strict=False
            )
        )

    @cached_property
    def chain_list(self) -> tuple[Chain, ...]:
        """The chains, the riskiest first."""
        order = np.argsort(-np.round(self.chains.risk_before, 12), kind="stable")
        return tuple(
            Chain(
                self._documents(number),
                float(self.chains.risk_before[number]),
                LEVELS[int(self.chains.level[number])],
            )
            for number in order.tolist()
        )

    def graph(self) -> nx.Graph[str]:
        """Return the document graph: `risk` on nodes, `strength` and `via` on edges."""
        import networkx as nx  # noqa: PLC0415 -- only who asks for a graph loads it

        graph: nx.Graph[str] = nx.Graph()
        for document, risk in self.document_risk.items():
            graph.add_node(document, risk=risk)
        for link in self.links:
            graph.add_edge(
                link.first, link.second, strength=link.strength, via=link.via
            )
        return graph

    def _documents(self, number: int) -> tuple[str, ...]:
        ends = self.edges.ends(self.chains.hops[number])
        return tuple(self.corpus.document_ids[d] for d in documents_of(ends))


def assess(
    documents: Sequence[Passage],
    mentions: Mentions,
    settings: SettingsSource = None,
    *,
    runner: EffectRunner | None = None,
) -> Assessment:
    """
    Assess what links the documents (CLAM, section 4.2.3).

    Args:
        documents: The whole corpus; ids must differ.
        mentions: What was found in each document.
        settings: A linkage section, a policy, a mapping or a path.
        runner: Embeds forms to be compared by meaning; the packaged MiniLM if not
            given.

    Raises:
        UsageError: Two documents have one id, or a mention cannot be read.
    """
    section = read_settings(settings)
    occurrences = read_mentions(documents, mentions, schema_of(section))
    return run(assess_steps(documents, occurrences, section), runner or local_runner())


def assess_steps(
    documents: Sequence[Passage],
    occurrences: Sequence[Sequence[Occurrence]],
    settings: LinkageSection,
    key: bytes | None = None,
    known: Vectors | None = None,
) -> Steps[Assessment]:
    """
    Assess, yielding effects; see `assess`.

    Args:
        documents: The whole corpus.
        occurrences: What was found in each document.
        settings: The linkage section.
        key: For ids that are the same in every run.
        known: Vectors of texts that were embedded before, by the same model.
    """
    ids = [document.id for document in documents]
    if len(set(ids)) != len(ids):
        raise UsageError(
            "Two documents have the same id.", hint="Give each document its own id."
        )
    schema, texts = schema_of(settings), [document.text for document in documents]
    resolved = yield from resolve(
        occurrences, settings.resolution, schema, texts, key=key, known=known
    )
    weights = {entity.id: schema.weight(entity.type) for entity in resolved.entities}
    kept = {e.id for e in resolved.entities if e.type in settings.unmaskable}
    corpus = Incidence.build(ids, resolved.rows, weights, frozenset(kept))
    return Assessment(settings, resolved, corpus)
