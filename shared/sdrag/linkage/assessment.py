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
from sdrag.errors import require_extra
from sdrag.linkage.graph import LEVELS, Edges, find_chains, find_edges
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.meaning import Vectors
from sdrag.linkage.mentions import Mentions, Occurrence, check_mentions, read_found
from sdrag.linkage.resolve import Resolved, resolve
from sdrag.linkage.schema import Schema, SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Passage

if TYPE_CHECKING:
    import networkx as nx


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
    """The risks of a corpus."""

    settings: LinkageSection
    resolved: Resolved
    corpus: Incidence

    def __repr__(self) -> str:
        return f"Assessment({len(self.corpus.document_ids)} documents)"

    @cached_property
    def edges(self) -> Edges:
        """The pruned document graph as columns."""
        return find_edges(self.corpus, self.settings.edge_threshold)

    @cached_property
    def document_risk(self) -> dict[str, float]:
        """`R(d)` by document id."""
        risks = self.corpus.document_risk().tolist()
        return dict(zip(self.corpus.document_ids, risks, strict=True))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The edges, by documents."""
        edges, ids, names = self.edges, self.corpus.document_ids, self.corpus.entity_ids
        starts = np.searchsorted(edges.via_edge, np.arange(1, len(edges)))
        rows = zip(
            edges.first.tolist(),
            edges.second.tolist(),
            edges.strength.tolist(),
            np.split(edges.via_entity, starts),
            strict=False,  # without edges there is one empty part
        )
        return tuple(
            Link(ids[a], ids[b], strength, tuple(names[e] for e in np.sort(via)))
            for a, b, strength, via in rows
        )

    @cached_property
    def graph(self) -> nx.Graph[str]:
        """
        The document graph: a node a document, an edge a link, and no value of either.

        A node has its `risk`; an edge `strength`, and in `via` and `types` the ids and
        types of the entities that are shared, between spaces. It is frozen, since it is
        kept; `copy()` gives one that can be changed. networkx writes it:
        `networkx.write_graphml(assessment.graph, "links.graphml")`.

        Raises:
            MissingExtraError: The extra `linkage` is not installed.
        """
        with require_extra("linkage", "A graph of links"):
            import networkx as nx  # noqa: PLC0415 -- an extra
        types = {entity.id: entity.type for entity in self.resolved.entities}
        graph: nx.Graph[str] = nx.Graph()
        for name, risk in self.document_risk.items():
            graph.add_node(name, risk=risk)
        for link in self.links:
            graph.add_edge(
                link.first,
                link.second,
                strength=link.strength,
                via=" ".join(link.via),
                types=" ".join(types[name] for name in link.via),
            )
        return nx.freeze(graph)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The chains, the riskiest first."""
        found = find_chains(self.edges, self.corpus.document_risk(), self.settings)
        order = np.argsort(-np.round(found.risk_before, 12), kind="stable")
        ids = self.corpus.document_ids
        return tuple(
            Chain(
                tuple(ids[document] for document in found.path(number)),
                float(found.risk_before[number]),
                LEVELS[int(found.level[number])],
            )
            for number in order.tolist()
        )


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
    schema = Schema(section)
    found = check_mentions(documents, mentions, schema)
    occurrences = [read_found(d.text, found[d.id], schema) for d in documents]
    return run(assess_steps(documents, occurrences, section), runner or local_runner())


def assess_steps(
    documents: Sequence[Passage],
    occurrences: Sequence[Sequence[Occurrence]],
    settings: LinkageSection,
    key: bytes | None = None,
    known: Vectors | None = None,
) -> Steps[Assessment]:
    """Assess, yielding effects; see `assess`."""
    ids = [document.id for document in documents]
    schema = Schema(settings)
    resolved = yield from resolve(
        occurrences,
        settings.resolution,
        schema,
        [document.text for document in documents],
        key=key,
        known=known,
    )
    weights = {entity.id: schema.weight(entity.type) for entity in resolved.entities}
    kept = {e.id for e in resolved.entities if e.type in settings.unmaskable}
    corpus = Incidence.of(ids, resolved.rows, weights, frozenset(kept))
    return Assessment(settings, resolved, corpus)
