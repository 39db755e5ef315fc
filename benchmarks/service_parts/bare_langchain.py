"""The example's service on LangChain without sdrag, to compare with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from rag_service.on_langchain import LangChainAnswerer, store
from rag_service.service import create_app
from rag_service.settings import Settings

from sdrag import current_principal, open_state


class ByTenant(BaseRetriever):
    """The store's own retriever, with the caller's tenant as filter."""

    store: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        raise NotImplementedError

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 -- as named above
    ) -> list[Document]:
        caller = current_principal()
        tenant = {"tenant": caller.tenant if caller else ""}
        found: list[Document] = await self.store.asimilarity_search(
            query, k=4, filter=tenant
        )
        return found


def _opened(settings: Settings) -> LangChainAnswerer:
    return LangChainAnswerer(
        ByTenant(store=store(settings, open_state(settings.state))), settings
    )


def create() -> FastAPI:
    """Make the service."""
    return create_app(_opened)
