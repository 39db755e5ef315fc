r"""
Your authorization service decides who sees a document, a role who sees names.

    pip install -c constraints.txt ".[llamaindex,local]" \
        llama-index-vector-stores-chroma
"""

from collections.abc import Sequence
from tempfile import TemporaryDirectory

import chromadb
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_sdrag import SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Options, Passage, Principal, acting_as

READERS = {"log.txt": {"clerk-7", "judge-1"}, "plan.txt": {"judge-1"}}
POLICY = {
    "constraints": [
        {"text": "Remove names of witnesses", "unless": {"roles": ["judge"]}}
    ],
    "metadata": {"allow": ["source"]},
}
TEXTS = {
    "log.txt": "The witness Anna Karlsson saw two men at dawn.",
    "plan.txt": "The raid on the two men begins at four.",
}


def authorize(principal: Principal, passages: Sequence[Passage]) -> Sequence[bool]:
    """Ask your service here, such as OpenFGA; an error shows nothing."""
    return [principal.id in READERS[passage.metadata["source"]] for passage in passages]


with TemporaryDirectory() as folder:  # keep it, and the store is kept
    client = chromadb.PersistentClient(folder)
    store = ChromaVectorStore(client.get_or_create_collection("authorize"))
    index = VectorStoreIndex.from_documents(
        [
            Document(text=text, metadata={"source": name})
            for name, text in TEXTS.items()
        ],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=LocalEmbeddings(),
    )

    retriever = SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(similarity_top_k=2),
        policy=POLICY,
        options=Options(authorize=authorize),
        # With `llm=OpenAI(model="gpt-4.1-mini")`, your model finds more.
    )
    for user in (Principal("clerk-7"), Principal("judge-1", roles={"judge"})):
        with acting_as(user):
            nodes = retriever.retrieve("What is known of the two men?")
        print(user.id, [scored.text for scored in nodes])
