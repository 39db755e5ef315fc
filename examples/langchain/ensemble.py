"""An `EnsembleRetriever` as the wrapped one, and wrapped ones in an ensemble."""

from collection import POLICY, QUESTION, format_docs, store
from langchain_classic.retrievers import EnsembleRetriever

from langchain_sdrag import SelectiveDisclosureRetriever

plain = store().as_retriever()
around = SelectiveDisclosureRetriever(
    base_retriever=EnsembleRetriever(retrievers=[plain, plain]), policy=POLICY
)
wrapped = SelectiveDisclosureRetriever(base_retriever=plain, policy=POLICY)
inside = EnsembleRetriever(retrievers=[wrapped, wrapped])

print(format_docs(around.invoke(QUESTION)))
print(format_docs(inside.invoke(QUESTION)))
