"""
Clusters of linked documents in the schema of CLAM, Listing B.1.

A cluster hides one synthetic person in four to six short documents and asks four
questions about them. Beyond the thesis's schema a cluster names its `linked_pairs`, and
a document its `entities`, so that linking can be measured apart from extraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.json_files import DATA, read_json
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

CLUSTERS = DATA / "clusters"
LEAKED_ABOVE: Mapping[str, float] = {"HIGH": 0.6, "MEDIUM": 0.8}
"""Leak rates above which a cluster counts as leaked, section 5.4.2."""


@dataclass(frozen=True, slots=True, repr=False)
class ClusterQuestion:
    """A question with its answer and the ids of the documents that hold it."""

    text: str
    answer: str
    sources: tuple[str, ...]
    type: str

    @property
    def source(self) -> str:
        """`single` or `multi`."""
        return "single" if len(self.sources) == 1 else "multi"


@dataclass(frozen=True, slots=True, repr=False)
class Cluster:
    """
    One hidden person in a few documents.

    Args:
        id: Of the cluster.
        risk: HIGH, MEDIUM or LOW.
        documents: In order.
        person: Values and types of the hidden person's entities.
        questions: Four, in the thesis's benchmark.
        entities: For each document, `[original, normalized, type, relevance]`.
        linked_pairs: Pairs of document ids.
    """

    id: str
    risk: str
    documents: tuple[Passage, ...]
    person: tuple[tuple[str, str], ...]
    questions: tuple[ClusterQuestion, ...]
    entities: Mapping[str, Sequence[Sequence[Any]]]
    linked_pairs: frozenset[frozenset[str]]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Cluster:
        """Build from one object of the schema."""
        meta, documents = data["metadata"], data["documents"]
        return cls(
            meta["cluster_id"],
            meta["cluster_risk"].upper(),
            tuple(
                Passage(d["id"], d["content"], d.get("metadata") or {})
                for d in documents
            ),
            tuple((value, type_) for value, type_, *_ in meta["person"]["entities"]),
            tuple(
                ClusterQuestion(q["q"], q["a"], tuple(q["sources"]), q["type"])
                for q in meta["questions"]
            ),
            {d["id"]: d["entities"] for d in documents},
            frozenset(map(frozenset, meta["linked_pairs"])),
        )


def read_clusters(path: Path = CLUSTERS) -> tuple[Cluster, ...]:
    """
    Read clusters from a JSON file, or from a folder of them.

    Raises:
        UsageError: A file cannot be read, or a cluster does not follow the schema.
    """
    names = sorted(path.glob("*.json")) if path.is_dir() else [path]
    try:
        return tuple(Cluster.of(read_json(name)) for name in names)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            "A cluster does not follow the schema.",
            hint="Documents name their entities, metadata the linked pairs.",
        ) from None
