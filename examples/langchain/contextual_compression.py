"""The hook after retrieval, in a `ContextualCompressionRetriever`."""

from collection import POLICY, QUESTION, format_docs, store
from langchain_classic.retrievers import ContextualCompressionRetriever

from langchain_sdrag import SelectiveDisclosureCompressor

retriever = ContextualCompressionRetriever(
    base_compressor=SelectiveDisclosureCompressor(policy=POLICY),
    base_retriever=store().as_retriever(),
)

print(format_docs(retriever.invoke(QUESTION)))
