"""A `QueryFusionRetriever` around a wrapped retriever, and inside one."""

from collection import POLICY, QUESTION, hijacked, index
from llama_index.core.retrievers import QueryFusionRetriever

from llamaindex_sdrag import SelectiveDisclosureRetriever

plain = index().as_retriever()
wrapped = SelectiveDisclosureRetriever(base_retriever=plain, policy=POLICY)
outside = QueryFusionRetriever([wrapped], llm=hijacked, num_queries=1)
inside = SelectiveDisclosureRetriever(
    base_retriever=QueryFusionRetriever([plain], llm=hijacked, num_queries=1),
    policy=POLICY,
)

for retriever in (outside, inside):
    print([found.text for found in retriever.retrieve(QUESTION)])
