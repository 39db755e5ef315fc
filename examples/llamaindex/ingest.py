r"""
Ingest: bind the policy once, and give visitors an index that holds no secret.

    pip install -c constraints.txt ".[llamaindex,local]" \
        llama-index-vector-stores-chroma
"""

from tempfile import TemporaryDirectory

import chromadb
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_sdrag import (
    ConstraintBinder,
    RedactingTransformer,
    SelectiveDisclosureRetriever,
)
from llamaindex_sdrag.local_embeddings import LocalEmbeddings

documents = [
    Document(
        text="The witness was Anna Karlsson. Karlsson left at nine.",
        metadata={"source": "log.txt"},
    ),
    Document(text="The harbour opens at six.", metadata={"source": "hours.txt"}),
]
with TemporaryDirectory() as folder:  # keep it: state and stores belong together
    client = chromadb.PersistentClient(f"{folder}/chroma")
    staff = ChromaVectorStore(client.get_or_create_collection("staff"))
    visitors = ChromaVectorStore(client.get_or_create_collection("visitors"))
    shared = {
        "policy": {
            "constraints": ["Remove names of witnesses"],
            "metadata": {"allow": ["source"]},
        },
        "state": f"{folder}/sdrag.sqlite",
        # With "llm", such as OpenAI(model="gpt-4.1-mini"), your model finds more.
    }
    # Staff: the store keeps the text, and each question redacts what is retrieved.
    steps = [SentenceSplitter(), ConstraintBinder(**shared)]
    nodes = IngestionPipeline(transformations=steps).run(documents=documents)
    staff.add(LocalEmbeddings()(nodes))

    # Visitors: the store itself is redacted, so neither text nor vectors hold a name.
    visitors.add(LocalEmbeddings()(RedactingTransformer(**shared)(nodes)))

    index = VectorStoreIndex.from_vector_store(staff, embed_model=LocalEmbeddings())
    retriever = SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(similarity_top_k=2), **shared
    )
    print("retrieved:", [scored.text for scored in retriever.retrieve("Who left?")])
    print("stored:", client.get_collection("visitors").get()["documents"])
