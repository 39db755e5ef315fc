"""
Your authorization service decides who sees a document, a role who sees names.

    pip install -c constraints.txt ".[langchain,chroma,local]"
"""

from collections.abc import Sequence
from tempfile import TemporaryDirectory

from langchain_chroma import Chroma
from langchain_core.documents import Document

from langchain_sdrag import SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Options, Passage, Principal, acting_as

READERS = {"log.txt": {"clerk-7", "judge-1"}, "plan.txt": {"judge-1"}}
POLICY = {
    "constraints": [
        {"text": "Remove names of witnesses", "unless": {"roles": ["judge"]}}
    ],
    "metadata": {"allow": ["source"]},
}


def authorize(principal: Principal, passages: Sequence[Passage]) -> Sequence[bool]:
    """Ask your service here, such as OpenFGA; an error shows nothing."""
    return [principal.id in READERS[passage.metadata["source"]] for passage in passages]


with TemporaryDirectory() as folder:  # keep it, and the store is kept
    store = Chroma("authorize", LocalEmbeddings(), persist_directory=folder)
    store.add_documents(
        [
            Document(
                "The witness Anna Karlsson saw two men at dawn.",
                metadata={"source": "log.txt"},
            ),
            Document(
                "The raid on the two men begins at four.",
                metadata={"source": "plan.txt"},
            ),
        ]
    )

    retriever = SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(search_kwargs={"k": 2}),
        policy=POLICY,
        options=Options(authorize=authorize),
        # With `llm=ChatOpenAI(model="gpt-4.1-mini")`, your model finds more.
    )
    for user in (Principal("clerk-7"), Principal("judge-1", roles={"judge"})):
        with acting_as(user):
            documents = retriever.invoke("What is known of the two men?")
        print(user.id, [document.page_content for document in documents])
