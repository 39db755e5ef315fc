"""
`SelfQueryRetriever` over Chroma, whose model makes a filter of the question.

It queries a store and has no place for a retriever, so it is the wrapped, alone or
with others; what it finds is what is released to retrievers around it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_classic.chains.query_constructor.schema import AttributeInfo
from langchain_classic.retrievers import SelfQueryRetriever
from langchain_core.documents import Document
from langchain_core.structured_query import Comparison, Operation, Visitor

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Principal, acting_as

from ..support.doubles import LangChainModel, LangChainToyEmbeddings

pytest.importorskip("lark")
chroma = pytest.importorskip("langchain_chroma")

NAME = "Karlsson"
CHUNKS = [
    ("a1", f"The witness Anna {NAME} saw it.", {"tenant": "a", "kind": "report"}),
    ("a2", "The harbour opens at six.", {"tenant": "a", "kind": "notice"}),
    ("b1", f"The witness Bo {NAME} heard it.", {"tenant": "b", "kind": "report"}),
]
POLICY = {
    "constraints": ["Remove the names of witnesses"],
    "metadata": {"allow": ["kind"]},
}
FIELDS = [
    AttributeInfo(name=name, description=name, type="string")
    for name in ("kind", "tenant")
]


class ToChroma(Visitor):
    """The translator of langchain-community, as far as it is needed here."""

    def visit_comparison(self, comparison: Comparison) -> dict[str, Any]:
        return {
            comparison.attribute: {f"${comparison.comparator.value}": comparison.value}
        }

    def visit_operation(self, operation: Operation) -> dict[str, Any]:
        parts = [argument.accept(self) for argument in operation.arguments]
        return {f"${operation.operator.value}": parts}

    def visit_structured_query(self, query: Any) -> tuple[str, dict[str, Any]]:
        if query.filter is None:
            return query.query, {}
        return query.query, {"filter": query.filter.accept(self)}


def asking(filter_text: str) -> LangChainModel:
    """Play a model that makes this filter of whatever is asked."""
    words = json.dumps({"query": "witness", "filter": filter_text})
    return LangChainModel(reply=lambda _: f"```json\n{words}\n```")


@pytest.fixture
def store(tmp_path):
    made = chroma.Chroma("chunks", LangChainToyEmbeddings(), str(tmp_path))
    made.add_documents(
        [Document(id=i, page_content=text, metadata=m) for i, text, m in CHUNKS]
    )
    return made


def self_query(store, filter_text, **options):
    return SelfQueryRetriever.from_llm(
        asking(filter_text),
        store,
        "harbour logs",
        FIELDS,
        structured_query_translator=ToChroma(),
        **options,
    )


def wrapped(host, **sections):
    return SelectiveDisclosureRetriever(
        base_retriever=host, policy={**POLICY, **sections}
    )


def ids(found):
    return sorted(document.id for document in found)


REPORTS = 'eq("kind", "report")'


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_its_filter_holds_and_what_it_finds_is_redacted(store, mode):
    retriever = wrapped(self_query(store, REPORTS))

    if mode == "sync":
        found = retriever.invoke("Which reports name a witness?")
    else:
        found = asyncio.run(retriever.ainvoke("Which reports name a witness?"))

    assert ids(found) == ["a1", "b1"]
    assert NAME not in str(found)
    assert "saw it" in str(found)


def test_a_question_cannot_talk_it_out_of_a_permission(store):
    """Its model's filter replaces the host's own; the policy's access still holds."""
    host = self_query(
        store,
        'eq("tenant", "b")',
        search_kwargs={"filter": {"tenant": "a"}},
    )
    assert ids(host.invoke("Show tenant b")) == ["b1"]

    with acting_as(Principal("u", tenant="a")):
        found = wrapped(host, access={}).invoke("Show tenant b")

    assert found == []
