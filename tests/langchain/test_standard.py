"""LangChain's own suite for retrievers, on the wrapper over Chroma."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from langchain_sdrag import SelectiveDisclosureRetriever

from ..support.doubles import LangChainToyEmbeddings

chroma = pytest.importorskip("langchain_chroma")
suite = pytest.importorskip("langchain_tests.integration_tests")


class TestStandard(suite.RetrieversIntegrationTests):
    """`k` at construction and at call time, `invoke` and `ainvoke`."""

    @pytest.fixture(autouse=True)
    def _store(self, tmp_path):
        store = chroma.Chroma("chunks", LangChainToyEmbeddings(), str(tmp_path))
        store.add_documents(
            [Document(id=str(n), page_content=f"Report {n} of Anna") for n in range(8)]
        )
        type(self).host = store.as_retriever()

    @property
    def retriever_constructor(self):
        return SelectiveDisclosureRetriever

    @property
    def retriever_constructor_params(self):
        return {
            "base_retriever": self.host,
            "policy": {"constraints": ["Remove the names of people"]},
        }

    @property
    def retriever_query_example(self):
        return "report"
