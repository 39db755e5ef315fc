"""
Clusters of linked documents in the schema of CLAM, Listing B.1, and their checker.

A cluster hides one synthetic person in four to six short documents and asks four
questions about them. Beyond the thesis's schema a cluster may name its
`linked_pairs`, and a document its `entities`, so that linking can be measured apart
from extraction. `problems` is the programmatic checker of section 5.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

__all__ = [
    "ALLOWED",
    "LEAKED_ABOVE",
    "Cluster",
    "Question",
    "packaged_clusters",
    "problems",
    "read_clusters",
]

_LOW_TYPES = """NON_PERSONAL_ID BIRTHDATE AGE UNIQUE_FACT INDIRECT_IDENTIFIER
MEDICAL_CONDITION EVENT_DATE LOCATION DEMOGRAPHIC EVENT PROVIDER TREATMENT"""
_LOW = frozenset(_LOW_TYPES.split())
_MEDIUM = _LOW | {"EMAIL", "PHONE_NUMBER", "ADDRESS", "PATIENT_ID"}
ALLOWED: Mapping[str, frozenset[str]] = {
    "HIGH": _MEDIUM | {"NAME"},
    "MEDIUM": _MEDIUM,
    "LOW": _LOW,
}
"""Entity types a cluster of each risk may hold, Table B.1."""

LEAKED_ABOVE: Mapping[str, float] = {"HIGH": 0.6, "MEDIUM": 0.8}
"""Leak rates above which a cluster counts as leaked, section 5.4.2."""

_NAMES_OF_FORMATS = """claim_form medical_record insurance_memo provider_report
patient_survey research_note policy_document audit_report news_article"""
_FORMATS = frozenset(_NAMES_OF_FORMATS.split())
_DOCUMENTS = range(4, 7)
_WORDS = range(40, 121)
_ANSWER_WORDS = 15
_KINDS = sorted((s, t) for s in ("single", "multi") for t in ("specific", "general"))
_MAX_BYTES = 200_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Question:
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
    questions: tuple[Question, ...]
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
                Question(q["q"], q["a"], tuple(q["sources"]), q["type"])
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
    """Return the clusters that come with the package."""
    folder = files("sdrag.evaluation").joinpath("clusters")
    texts = sorted(
        (entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    )
    return tuple(Cluster.of(json.loads(text)) for _, text in texts)


def problems(data: Mapping[str, Any]) -> list[str]:
    """Return what keeps an object from being a valid cluster, section 5.2, stage 2."""
    try:
        cluster = Cluster.of(data)
    except UsageError as error:
        return [str(error)]
    return list(
        chain(_of_documents(cluster), _of_person(cluster), _of_questions(cluster))
    )


def _of_documents(cluster: Cluster) -> Iterator[str]:
    if cluster.risk not in ALLOWED:
        yield "the risk is not HIGH, MEDIUM or LOW"
    if len(cluster.documents) not in _DOCUMENTS:
        yield f"{len(cluster.documents)} documents, not 4 to 6"
    for document in cluster.documents:
        count = len(document.text.split())
        if count not in _WORDS:
            yield f"{document.id}: {count} words, not 40 to 120"
        if document.metadata.get("format") not in _FORMATS:
            yield f"{document.id}: the format is not one of the schema's"


def _of_person(cluster: Cluster) -> Iterator[str]:
    whole = "\n".join(document.text for document in cluster.documents).casefold()
    for value, type_ in cluster.person:
        if type_ not in ALLOWED.get(cluster.risk, ()):
            yield f"the type {type_} is not allowed at this risk"
        if value.casefold() not in whole:
            yield f"an entity of type {type_} does not stand in the documents"
    if len(set(cluster.person)) != len(cluster.person):
        yield "an entity of the person is listed twice"


def _of_questions(cluster: Cluster) -> Iterator[str]:
    ids = {document.id for document in cluster.documents}
    kinds = sorted((q.source, q.type) for q in cluster.questions)
    if kinds != _KINDS:
        yield "the questions are not one of each source and type"
    for question in cluster.questions:
        if not set(question.sources) <= ids:
            yield "a question names a source outside the cluster"
        if not 0 < len(question.answer.split()) <= _ANSWER_WORDS:
            yield "an answer is not 1 to 15 words long"


def _objects(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError("The file of clusters is too large.")
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        data = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"The clusters cannot be read ({type(error).__name__}).",
            hint="Give a JSON or JSONL file, or a folder of them.",
        ) from None
    if isinstance(data, Mapping):
        return list(data.get("clusters", [data]))
    return data if isinstance(data, list) else []
