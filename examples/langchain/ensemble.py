"""
An `EnsembleRetriever` as the wrapped one, and wrapped ones in an ensemble.

An ensemble takes documents of the same text for one. After redaction the texts of two
sources can be the same: `id_key` names the metadata that tells them apart, and
`metadata.allow` of the policy lets it leave.
"""

from collection import POLICY, QUESTION, format_docs, store
from langchain_chroma import Chroma
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document

from langchain_sdrag import SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings

logs = store().as_retriever()
diary = Document(
    "The witness Mary Lund saw two men unload crates at dawn.",
    metadata={"source": "diary.txt"},
)
diaries = Chroma.from_documents([diary], LocalEmbeddings(), collection_name="diaries")
both = [logs, diaries.as_retriever()]

around = SelectiveDisclosureRetriever(
    base_retriever=EnsembleRetriever(retrievers=both), policy=POLICY
)
wrapped = [
    SelectiveDisclosureRetriever(base_retriever=retriever, policy=POLICY)
    for retriever in both
]
inside = EnsembleRetriever(retrievers=wrapped, id_key="source")

print(format_docs(around.invoke(QUESTION)))
for document in inside.invoke(QUESTION):
    print(document.metadata["source"], document.page_content)
