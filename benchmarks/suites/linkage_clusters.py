"""
Clusters of linked documents in the schema of CLAM, Listing B.1, and their checker.

A cluster hides one synthetic person in four to six short documents and asks four
questions about them. Beyond the thesis's schema a cluster may name its
`linked_pairs`, and a document its `entities`, so that linking can be measured apart
from extraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.json_files import DATA, read_json
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

__all__ = [
    "LEAKED_ABOVE",
    "Cluster",
    "ClusterQuestion",
    "packaged_clusters",
    "read_clusters",
]

LEAKED_ABOVE: Mapping[str, float] = {"HIGH": 0.6, "MEDIUM": 0.8}
"""Leak rates above which a cluster counts as leaked, section 5.4.2."""

_MAX_BYTES = 200_000_000


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
        entities: For each document, `[original, normalized, type, relevance]`; `None`
            where the data names none.
        linked_pairs: Pairs of document ids; `None` where the data names none.
    """

    id: str
    risk: str
    documents: tuple[Passage, ...]
    person: tuple[tuple[str, str], ...]
    questions: tuple[ClusterQuestion, ...]
    entities: Mapping[str, Sequence[Sequence[Any]]] | None
    linked_pairs: frozenset[frozenset[str]] | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Cluster:
        """
        Build from one object of the schema.

        Raises:
            UsageError: A key of the schema is missing.
        """
        try:
            return cls._of(data)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(
                "A cluster does not follow the schema.",
                hint="It needs documents, and metadata with cluster_risk and person.",
            ) from None

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Cluster:
        meta, documents = data["metadata"], data["documents"]
        given = all("entities" in document for document in documents)
        pairs = meta.get("linked_pairs")
        return cls(
            str(meta.get("cluster_id", "")),
            str(meta["cluster_risk"]).upper(),
            tuple(
                Passage(str(d["id"]), str(d["content"]), d.get("metadata") or {})
                for d in documents
            ),
            tuple((str(v), str(t)) for v, t, *_ in meta["person"]["entities"]),
            tuple(
                ClusterQuestion(q["q"], q["a"], tuple(q["sources"]), q["type"])
                for q in meta.get("questions", ())
            ),
            {str(d["id"]): d["entities"] for d in documents} if given else None,
            None if pairs is None else frozenset(frozenset(map(str, p)) for p in pairs),
        )


def read_clusters(source: str | Path) -> tuple[Cluster, ...]:
    """
    Read clusters from a JSON file, a JSONL file, or a folder of either.

    Raises:
        UsageError: A file cannot be read, or a cluster does not follow the schema.
    """
    path = Path(source)
    names = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    clusters = tuple(Cluster.of(data) for name in names for data in _objects(name))
    if not clusters:
        raise UsageError("There are no clusters in the data.")
    ids = [document.id for cluster in clusters for document in cluster.documents]
    if len(set(ids)) != len(ids):
        raise UsageError("Two documents of the clusters have the same id.")
    return clusters


def packaged_clusters() -> tuple[Cluster, ...]:
    """Return the clusters of this folder."""
    return read_clusters(DATA / "clusters")


def _objects(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError("The file of clusters is too large.")
    except OSError:
        raise UsageError(
            f"{path.name!r} cannot be read.",
            hint="Give a JSON or JSONL file of clusters, or a folder of them.",
        ) from None
    data = read_json(path, "clusters")
    if isinstance(data, Mapping):
        return list(data.get("clusters", [data]))
    return data if isinstance(data, list) else []
