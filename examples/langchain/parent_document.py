"""A `ParentDocumentRetriever` inside: chunks are found, whole parents redacted."""

from collection import NOTES, POLICY, QUESTION, format_docs
from langchain_chroma import Chroma
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_classic.storage import InMemoryStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_sdrag import SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings

parents = ParentDocumentRetriever(
    vectorstore=Chroma("chunks", LocalEmbeddings()),
    docstore=InMemoryStore(),
    child_splitter=RecursiveCharacterTextSplitter(chunk_size=40, chunk_overlap=0),
)
parents.add_documents(NOTES)
retriever = SelectiveDisclosureRetriever(base_retriever=parents, policy=POLICY)

print(format_docs(retriever.invoke(QUESTION)))
