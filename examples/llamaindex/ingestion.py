"""An `IngestionPipeline` that binds the constraints, next to the store."""

import tempfile
from pathlib import Path

from collection import NOTES, POLICY, QUESTION, storage
from llama_index.core import VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline

from llamaindex_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

with tempfile.TemporaryDirectory() as folder:
    state = Path(folder, "state.sqlite")
    binder = ConstraintBinder(policy=POLICY, state=state)
    pipeline = IngestionPipeline(transformations=[binder, LocalEmbeddings()])
    index = VectorStoreIndex(
        pipeline.run(nodes=NOTES),
        storage_context=storage("bound"),
        embed_model=LocalEmbeddings(),
    )
    retriever = SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(), policy=POLICY, state=state
    )

    print([found.text for found in retriever.retrieve(QUESTION)])
