"""A host that always finds the same, and the wrapper around it."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_sdrag import SelectiveDisclosureRetriever

from ..support.witness import POLICY
from ..support.wrappers import build


class Fixed(BaseRetriever):
    """Returns the same documents, and remembers how it was called."""

    documents: list[Document]
    calls: list[Any]

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        self.calls.append(kwargs)
        return self.documents[: kwargs.get("k")]


def wrapped(host, **options):
    return build(
        SelectiveDisclosureRetriever,
        base_retriever=host,
        **{"policy": POLICY, **options},
    )
