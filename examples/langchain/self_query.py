"""
A `SelfQueryRetriever` inside: its model makes a filter of the question, out of sight.

What that model writes replaces the filter that the host set up, so who may see what
belongs into the policy's `access`, which holds for whatever is found.
"""

from collection import NOTES, POLICY, QUESTION, format_docs
from langchain_chroma import Chroma
from langchain_classic.chains.query_constructor.schema import AttributeInfo
from langchain_classic.retrievers import SelfQueryRetriever
from langchain_core.language_models import FakeListChatModel
from langchain_core.structured_query import (
    Comparison,
    Operation,
    StructuredQuery,
    Visitor,
)

from langchain_sdrag import SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings


class ToChroma(Visitor):
    """Stands for `ChromaTranslator` of langchain-community."""

    def visit_comparison(self, comparison: Comparison) -> dict:
        return {comparison.attribute: comparison.value}

    def visit_operation(self, operation: Operation) -> dict:
        parts = [argument.accept(self) for argument in operation.arguments]
        return {f"${operation.operator.value}": parts}

    def visit_structured_query(self, query: StructuredQuery) -> tuple[str, dict]:
        return query.query, {"filter": query.filter.accept(self)}


store = Chroma("self-query", LocalEmbeddings())
store.add_documents(NOTES)
reply = '```json\n{"query": "men", "filter": "eq(\\"kind\\", \\"report\\")"}\n```'
querying = SelfQueryRetriever.from_llm(
    FakeListChatModel(responses=[reply]),
    store,
    "notes of a harbour",
    [AttributeInfo(name="kind", description="report or notice", type="string")],
    structured_query_translator=ToChroma(),
)
retriever = SelectiveDisclosureRetriever(base_retriever=querying, policy=POLICY)

print(format_docs(retriever.invoke(QUESTION)))
