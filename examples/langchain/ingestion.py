"""Ingest: bind the constraints once, next to the store."""

import tempfile
from pathlib import Path

from collection import NOTES, POLICY, QUESTION, format_docs
from langchain_chroma import Chroma

from langchain_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings

with tempfile.TemporaryDirectory() as folder:
    state = Path(folder, "state.sqlite")
    binder = ConstraintBinder(policy=POLICY, state=state)
    store = Chroma.from_documents(
        binder.transform_documents(NOTES), LocalEmbeddings(), collection_name="bound"
    )
    retriever = SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(), policy=POLICY, state=state
    )

    print(format_docs(retriever.invoke(QUESTION)))
