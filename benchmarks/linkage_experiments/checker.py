"""The programmatic checker of clusters (section 5.2, stage 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from benchmarks.suites.linkage_clusters import Cluster
from sdrag.errors import UsageError

__all__ = ["ALLOWED", "problems"]

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

_NAMES_OF_FORMATS = """claim_form medical_record insurance_memo provider_report
patient_survey research_note policy_document audit_report news_article"""
_FORMATS = frozenset(_NAMES_OF_FORMATS.split())
_DOCUMENTS = range(4, 7)
_WORDS = range(40, 121)
_ANSWER_WORDS = 15
_KINDS = sorted((s, t) for s in ("single", "multi") for t in ("specific", "general"))


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
            yield f"an entity of type {type_} is not in the documents"
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
