"""What LlamaIndex's own packages test of a retriever, postprocessor and synthesizer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import (
    BaseSynthesizer,
    get_response_synthesizer,
)
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import BaseTool, FunctionTool

from llamaindex_sdrag import (
    AnswerGuard,
    HighlightAndSummarize,
    SelectiveDisclosurePostprocessor,
    SelectiveDisclosureRetriever,
    SourceSeparator,
    guard_tool,
)

from ..support.doubles import LlamaIndexModel
from ..support.faces import Nodes, Scenario
from ..support.scripted import verbatim

POLICY = {"constraints": ["Remove the names of people"]}
SCENARIO = Scenario("standard")


def find(query: str) -> str:
    """Search."""
    return query


def answering() -> BaseSynthesizer:
    return get_response_synthesizer(llm=LlamaIndexModel(verbatim))


def guard() -> AnswerGuard:
    return AnswerGuard(answering(), policy={"grounding": {}})


def summarizer() -> HighlightAndSummarize:
    return HighlightAndSummarize(llm=LlamaIndexModel(lambda _: "{}"))


BUILT: dict[str, tuple[Any, type[Any]]] = {
    "retriever": (
        lambda: SelectiveDisclosureRetriever(Nodes(SCENARIO), POLICY),
        BaseRetriever,
    ),
    "postprocessor": (
        lambda: SelectiveDisclosurePostprocessor(POLICY),
        BaseNodePostprocessor,
    ),
    "separator": (SourceSeparator, BaseNodePostprocessor),
    "guard": (guard, BaseSynthesizer),
    "summarizer": (summarizer, BaseSynthesizer),
    "tool": (lambda: guard_tool(FunctionTool.from_defaults(find), POLICY), BaseTool),
}


@pytest.mark.parametrize("name", BUILT)
def test_it_is_what_it_is_used_as(name):
    build, base = BUILT[name]

    assert isinstance(build(), base)


@pytest.mark.parametrize("name", ["postprocessor", "separator"])
def test_a_postprocessor_is_dumped_by_its_name_and_its_policys_hash(name):
    """LlamaIndex finds what its caches hold by what `to_dict` says."""
    hook = BUILT[name][0]()

    dumped = hook.to_dict()

    assert dumped["class_name"] == type(hook).class_name() == type(hook).__name__
    assert "names of people" not in hook.to_json()


@pytest.mark.parametrize("name", ["postprocessor", "separator"])
@pytest.mark.parametrize(
    "query", [{"query_str": "q"}, {"query_bundle": QueryBundle("q")}, {}]
)
def test_a_postprocessor_takes_a_question_in_each_form(name, query):
    """Or none, sync and async; no node is none that is released."""
    hook = BUILT[name][0]()
    nodes = [NodeWithScore(node=TextNode(id_="n", text="The ferry leaves."), score=0.5)]

    for released in (
        hook.postprocess_nodes(nodes, **query),
        asyncio.run(hook.apostprocess_nodes(nodes, **query)),
    ):
        assert [(n.node_id, n.text, n.score) for n in released] == [
            ("n", "The ferry leaves.", 0.5)
        ]
    assert hook.postprocess_nodes([], **query) == []


@pytest.mark.parametrize("name", ["guard", "summarizer"])
def test_a_synthesizer_stands_in_a_query_engine(name):
    """It answers without nodes, sync and async, and its prompts are listed."""
    retriever = SelectiveDisclosureRetriever(Nodes(SCENARIO), POLICY)
    engine = RetrieverQueryEngine(retriever, response_synthesizer=BUILT[name][0]())

    answers = [engine.query("q"), asyncio.run(engine.aquery("q"))]

    assert str(answers[0]) == str(answers[1]) != ""
    assert answers[0].source_nodes == []
    assert isinstance(engine.get_prompts(), dict)


def test_prompts_belong_to_what_answers():
    """A guard passes them on; Highlight & Summarize has none that may be replaced."""
    template = PromptTemplate("Read {context_str}. Answer {query_str}.")
    guarded = guard()

    guarded.update_prompts({"text_qa_template": template})

    assert guarded.get_prompts()["text_qa_template"] == template
    assert summarizer().get_prompts() == {}
    with pytest.raises(Exception, match="not replaced"):
        summarizer().update_prompts({"text_qa_template": template})
