"""
Ingest: a chunk takes over what its document and its sections say of themselves.

The guards decide by metadata: who may see a passage, until when it is valid, how far it
is believed. A splitter copies the document's metadata, and knows nothing of sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from langchain_core.documents import Document

from langchain_sdrag.convert import passages_of
from langchain_sdrag.wrapping import LANGCHAIN, IngestWrapper
from sdrag.effects.steps import Steps
from sdrag.guardrails.inheritance import (
    Chunk,
    DocumentSection,
    ParentDocuments,
    inherit,
)
from sdrag.guardrails.screened import Screened
from sdrag.options import Audit
from sdrag.policy import PolicySource
from sdrag.vocabulary import Passage, is_unnamed
from sdrag.wrapper import build_engine

__all__ = ["MetadataInheritor"]

_START = "start_index"


class MetadataInheritor(IngestWrapper[Screened]):
    """
    Hand metadata down from documents and their sections to chunks.

    Example:
        ```python
        splitter = RecursiveCharacterTextSplitter(add_start_index=True)
        inheritor = MetadataInheritor(policy="policy.yaml", documents=documents)
        chunks = inheritor.transform_documents(splitter.split_documents(documents))
        ```

    Args:
        policy: Its sections `access`, `staleness` and `contradictions` name the keys.
        documents: What the chunks were cut from, whole and with their metadata. A chunk
            names its document under one of the policy's `document_keys`, `document_id`,
            `source` or `doc_id`.
        sections: By the id of the document: stretches of its text that have metadata
            of their own. A chunk is as closed as the most closed that it touches.
        audit: Called with every audit event.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: At a call: a tag is of a type that cannot be compared.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        documents: Iterable[Document],
        sections: Mapping[str, Sequence[DocumentSection]] | None = None,
        audit: Audit = None,
    ) -> None:
        engine = build_engine(LANGCHAIN, "inherit", policy=policy, audit=audit)
        super().__init__(engine)
        keys = engine.policy.disclosure.document_keys
        known = {
            name: passage
            for passage in passages_of(documents)
            for name in _names(passage, keys)
        }
        self._parents = ParentDocuments(known, dict(sections or {}))

    def _steps(self, documents: Sequence[Document]) -> Steps[Screened]:
        chunks = [
            Chunk(passage, _start(document))
            for document, passage in zip(documents, passages_of(documents), strict=True)
        ]
        return (yield from inherit(chunks, self._parents, self._engine.policy))

    def _documents(
        self, documents: Sequence[Document], found: Screened
    ) -> list[Document]:
        """Return new documents; the host's are not changed."""
        return [
            document.model_copy(update={"metadata": dict(passage.metadata)})
            for document, passage in zip(documents, found.passages, strict=True)
        ]


def _names(document: Passage, keys: Sequence[str]) -> set[str]:
    """Return what chunks may call a document: its id, and what its metadata says."""
    own = None if is_unnamed(document) else document.id
    said = (own, document.document_id, *(document.metadata.get(key) for key in keys))
    return {str(name) for name in said if name}


def _start(document: Document) -> int | None:
    """Return where a chunk begins in its document, as LangChain's splitters say it."""
    start = document.metadata.get(_START)
    return start if isinstance(start, int) and not isinstance(start, bool) else None
