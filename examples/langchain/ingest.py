"""
Ingest: bind the policy once, and give visitors an index that holds no secret.

    pip install -c constraints.txt ".[langchain,chroma,local]"
"""

from tempfile import TemporaryDirectory

from langchain_chroma import Chroma
from langchain_core.documents import Document

from langchain_sdrag import (
    ConstraintBinder,
    RedactingTransformer,
    SelectiveDisclosureRetriever,
)
from langchain_sdrag.local_embeddings import LocalEmbeddings

chunks = [
    Document("The witness was Anna Karlsson.", id="1", metadata={"source": "log.txt"}),
    Document("Karlsson left at nine.", id="2", metadata={"source": "log.txt"}),
    Document("The harbour opens at six.", id="3", metadata={"source": "hours.txt"}),
]
with TemporaryDirectory() as folder:  # keep it: state and stores belong together
    shared = {
        "policy": {
            "constraints": ["Remove names of witnesses"],
            "metadata": {"allow": ["source"]},
        },
        "state": f"{folder}/sdrag.sqlite",
        # With "llm", such as ChatOpenAI(model="gpt-4.1-mini"), your model finds more.
    }
    # Staff: the store keeps the text, and each question redacts what is retrieved.
    kept = {"persist_directory": f"{folder}/chroma"}
    staff = Chroma("staff", LocalEmbeddings(), **kept)
    staff.add_documents(ConstraintBinder(**shared).transform_documents(chunks))

    # Visitors: the store itself is redacted, so neither text nor vectors hold a name.
    visitors = Chroma("visitors", LocalEmbeddings(), **kept)
    visitors.add_documents(RedactingTransformer(**shared).transform_documents(chunks))

    retriever = SelectiveDisclosureRetriever(
        base_retriever=staff.as_retriever(search_kwargs={"k": 3}), **shared
    )
    released = retriever.invoke("Who left?")
    print("retrieved:", [document.page_content for document in released])
    print("stored:", visitors.get()["documents"])
