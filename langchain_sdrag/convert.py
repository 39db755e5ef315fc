"""
Passages out of documents, and documents out of passages.

A released document is built anew from what the core released: id, text, metadata.
Nothing of the host's object is handed on, so nothing rides along on it.

A document without an id gets a keyed digest as the passage's id, so that what is
remembered of it can be found again in this process and guessed by nobody; it leaves
without an id, as it came. A reranker's score is in the metadata under the key that
LangChain's rerankers use; it is a score, and leaves as one.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from langchain_core.documents import Document

from sdrag.errors import HostError, check_fields, check_listed
from sdrag.vocabulary import UNNAMED, Passage, is_unnamed, name_document

SCORE_KEY = "relevance_score"
_KEY = secrets.token_bytes(32)


def passages_of(documents: Iterable[object]) -> tuple[Passage, ...]:
    """
    Read documents.

    Raises:
        HostError: Something in the list is no document.
        UsageError: It is no list.
    """
    check_listed(documents, "documents")
    return tuple(map(passage_of, documents))


def documents_of(passages: Sequence[Passage]) -> list[Document]:
    """Build the documents that leave."""
    documents = []
    for passage in passages:
        metadata = dict(passage.metadata)
        if passage.score is not None:
            metadata[SCORE_KEY] = passage.score
        id_ = None if is_unnamed(passage) else passage.id
        documents.append(Document(passage.text, id=id_, metadata=metadata))
    return documents


def passage_of(document: object) -> Passage:
    """Read a document, or raise a `HostError`."""
    if not isinstance(document, Document):
        raise HostError(
            f"The retriever returned a {type(document).__name__}, not a Document."
        )
    metadata = document.metadata
    check_fields(document.id, document.page_content, metadata)
    return Passage(
        id=document.id or _nameless(document.page_content),
        text=document.page_content,
        metadata=metadata,
        score=_number(metadata.get(SCORE_KEY)),
        document_id=name_document(metadata),
    )


def _nameless(text: str) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=16)
    return UNNAMED + digest.hexdigest()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None
