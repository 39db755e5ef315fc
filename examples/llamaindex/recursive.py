"""Recursive retrieval: the object behind an `IndexNode` is followed, then redacted."""

from collection import NOTES, POLICY, QUESTION
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import IndexNode

from llamaindex_sdrag import SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

pointer = IndexNode(text="Notes on the harbour", index_id="notes", obj=NOTES[0])
index = VectorStoreIndex(objects=[pointer], embed_model=LocalEmbeddings())
retriever = SelectiveDisclosureRetriever(
    base_retriever=index.as_retriever(), policy=POLICY
)

print([found.text for found in retriever.retrieve(QUESTION)])
