"""The example's service on LlamaIndex without sdrag, to compare with."""

from __future__ import annotations

from fastapi import FastAPI
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from rag_service.on_llamaindex import LlamaIndexAnswerer, index
from rag_service.service import create_app
from rag_service.settings import Settings

from sdrag import current_principal, open_state


class ByTenant(BaseRetriever):
    """The index's own retriever, with the caller's tenant as filter."""

    def __init__(self, filled: VectorStoreIndex) -> None:
        super().__init__()
        self._filled = filled

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        caller = current_principal()
        tenant = MetadataFilter(key="tenant", value=str(caller and caller.tenant))
        retriever = self._filled.as_retriever(
            similarity_top_k=4, filters=MetadataFilters(filters=[tenant])
        )
        return await retriever.aretrieve(query_bundle)


def _opened(settings: Settings) -> LlamaIndexAnswerer:
    return LlamaIndexAnswerer(
        ByTenant(index(settings, open_state(settings.state))), settings
    )


def create() -> FastAPI:
    """Make the service."""
    return create_app(_opened)
