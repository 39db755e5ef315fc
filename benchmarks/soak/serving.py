"""One process: `python -m benchmarks.soak.serving FRAMEWORK PORT FOLDER`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import random
from typing import Any

import chromadb
import uvicorn
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

import llamaindex_sdrag
from benchmarks.soak.corpus import write_notes
from examples.service import service
from llamaindex_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Options
from sdrag.privacy.audit import log_event

_FAILING = 0.1
"""The share of calls at which the model fails."""


def _serve(framework: str, port: str, folder: str) -> None:
    service.NOTES = [(note.tenant, note.id, note.text) for note in write_notes()]
    if framework == "llamaindex":
        service.build_retriever = _LlamaIndexRetriever
    app = service.create_app(RunnableLambda(_repeat))
    # After the index was filled: a framework traces what it embeds, text and all.
    provider = TracerProvider()
    LangChainInstrumentor().instrument(tracer_provider=provider)
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    with Path(folder, f"traces-{framework}").open("a", encoding="utf-8") as file:
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=file)))
        uvicorn.run(app, port=int(port), access_log=False)


def _repeat(prompt: Any) -> AIMessage:
    """Repeat all that the model was given but the question; sometimes fail over it."""
    text = prompt.to_string()
    if random() < _FAILING:
        raise ValueError(text)
    return AIMessage(text.partition("Question:")[0])


class _LlamaIndexRetriever:
    """What the service asks of its retriever, by one of LlamaIndex."""

    def __init__(self) -> None:
        given = {
            "policy": os.environ["SERVICE_POLICY"],
            "state": os.environ["SERVICE_STATE"],
        }
        nodes = [
            TextNode(text=text, id_=name, metadata={"tenant": tenant, "source": name})
            for tenant, name, text in service.NOTES
        ]
        client = chromadb.PersistentClient(os.environ["SERVICE_STORE"])
        store = ChromaVectorStore(client.get_or_create_collection("notes"))
        index = VectorStoreIndex(
            llamaindex_sdrag.ConstraintBinder(**given)(nodes),
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=LocalEmbeddings(),
        )
        self.wrapped = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=index.as_retriever(similarity_top_k=4),
            options=Options(audit=(log_event, service.note_faults)),
            **given,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    async def ainvoke(self, question: str) -> list[Document]:
        found = await self.wrapped.aretrieve(question)
        return [Document(each.get_content(), metadata=each.metadata) for each in found]


if __name__ == "__main__":
    _serve(*sys.argv[1:])
