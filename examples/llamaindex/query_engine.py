"""A query engine: only the retriever is wrapped."""

from collection import POLICY, QUESTION, hijacked, index
from llama_index.core.query_engine import RetrieverQueryEngine

from llamaindex_sdrag import SelectiveDisclosureRetriever

retriever = SelectiveDisclosureRetriever(
    base_retriever=index().as_retriever(), policy=POLICY
)
engine = RetrieverQueryEngine.from_args(retriever, llm=hijacked)
response = engine.query(QUESTION)

print(response)
print([(found.node.node_id, found.score) for found in response.source_nodes])
