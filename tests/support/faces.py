"""
Every face of the package as one function: a scenario in, what was released out.

A face is a plain function; the async ones run a loop of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

import langchain_sdrag
import llamaindex_sdrag
from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.runner import PortRunner
from sdrag.effects.steps import arun, run
from sdrag.options import Options
from sdrag.pipeline import Engine, Request, disclose, retrieve
from sdrag.principals import acting_as, current_principal
from sdrag.state import StateSource
from sdrag.vocabulary import Passage, Principal

from .doubles import LangChainModel, LlamaIndexModel, Reply
from .scripted import answer_control
from .wrappers import build


@dataclass(frozen=True)
class Scenario:
    """
    One request.

    Args:
        name: What it is about.
        passages: What the host's retriever returns.
        policy: The mapping of a policy.
        reply: The model; None for the local engine.
        principal: On whose behalf.
        fault: What the host's retriever raises instead.
        limits: Of model calls.
        state: What is remembered; in memory when missing.
    """

    name: str
    passages: Sequence[Passage] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    query: str = "What happened on the quay?"
    reply: Reply | None = None
    principal: Principal | None = None
    fault: Exception | None = None
    limits: Limits = field(default_factory=lambda: Limits(seconds=60))
    state: StateSource = None

    def retrieve(self) -> Sequence[Passage]:
        if self.fault is not None:
            raise self.fault
        return self.passages

    def acting(self) -> Any:
        return acting_as(self.principal) if self.principal else nullcontext()


Seen = list[tuple[str, str, dict[str, Any]]]
Face = Callable[[Scenario], Seen]


class Documents(LangChainRetriever):
    """The host's retriever, in LangChain."""

    scenario: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        return documents(self.scenario)


class Nodes(LlamaIndexRetriever):
    """The host's retriever, in LlamaIndex."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        self.scenario = scenario

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes(self.scenario)


def documents(scenario: Scenario) -> list[Document]:
    return [
        Document(id=p.id, page_content=p.text, metadata={**p.metadata, **_of(p)})
        for p in scenario.retrieve()
    ]


def nodes(scenario: Scenario) -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(
                id_=p.id,
                text=p.text,
                metadata=dict(p.metadata),
                relationships=_source(p),
            ),
            score=p.score,
        )
        for p in scenario.retrieve()
    ]


def text_nodes(scenario: Scenario) -> list[Any]:
    """Return the nodes without scores, as a transformer takes them."""
    return [scored.node for scored in nodes(scenario)]


def _of(passage: Passage) -> dict[str, str]:
    return {"document_id": passage.document_id} if passage.document_id else {}


def _source(passage: Passage) -> dict[NodeRelationship, RelatedNodeInfo]:
    if not passage.document_id:
        return {}
    return {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document_id)}


def of_documents(released: Sequence[Document]) -> Seen:
    return [(d.id or "", d.page_content, dict(d.metadata)) for d in released]


def of_nodes(released: Sequence[NodeWithScore]) -> Seen:
    return [(n.node.node_id, n.node.get_content(), n.node.metadata) for n in released]


def of_passages(released: Sequence[Passage]) -> Seen:
    return [(p.id, p.text, dict(p.metadata)) for p in released]


def langchain_retriever(scenario: Scenario, **options: Any) -> Any:
    return build(
        langchain_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Documents(scenario=scenario),
        **_arguments(scenario, LangChainModel, options),
    )


def langchain_compressor(scenario: Scenario, **options: Any) -> Any:
    return build(
        langchain_sdrag.SelectiveDisclosureCompressor,
        **_arguments(scenario, LangChainModel, options),
    )


def llamaindex_retriever(scenario: Scenario, **options: Any) -> Any:
    return build(
        llamaindex_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Nodes(scenario),
        **_arguments(scenario, LlamaIndexModel, options),
    )


def llamaindex_postprocessor(scenario: Scenario, **options: Any) -> Any:
    return build(
        llamaindex_sdrag.SelectiveDisclosurePostprocessor,
        **_arguments(scenario, LlamaIndexModel, options),
    )


BUILDERS = (
    langchain_retriever,
    langchain_compressor,
    llamaindex_retriever,
    llamaindex_postprocessor,
)
"""Make a wrapper for a scenario; what it takes beside goes by name."""


def _arguments(scenario: Scenario, model: Any, options: Any) -> dict[str, Any]:
    return {
        "policy": scenario.policy,
        "llm": model(reply=scenario.reply) if scenario.reply else None,
        "limits": scenario.limits,
        "state": scenario.state,
        **options,
    }


def ask(wrapper: Any, scenario: Scenario) -> Seen:
    """Ask a wrapper as its framework does."""
    question = scenario.query
    match wrapper:
        case langchain_sdrag.SelectiveDisclosureRetriever():
            return of_documents(wrapper.invoke(question))
        case langchain_sdrag.SelectiveDisclosureCompressor():
            listed = documents(scenario)
            return of_documents(wrapper.compress_documents(listed, question))
        case llamaindex_sdrag.SelectiveDisclosureRetriever():
            return of_nodes(wrapper.retrieve(question))
    return of_nodes(wrapper.postprocess_nodes(nodes(scenario), query_str=question))


async def aask(wrapper: Any, scenario: Scenario) -> Seen:
    """Ask a wrapper by its async method."""
    question = scenario.query
    match wrapper:
        case langchain_sdrag.SelectiveDisclosureRetriever():
            return of_documents(await wrapper.ainvoke(question))
        case langchain_sdrag.SelectiveDisclosureCompressor():
            listed = documents(scenario)
            return of_documents(await wrapper.acompress_documents(listed, question))
        case llamaindex_sdrag.SelectiveDisclosureRetriever():
            return of_nodes(await wrapper.aretrieve(question))
    listed = nodes(scenario)
    return of_nodes(await wrapper.apostprocess_nodes(listed, query_str=question))


def _core(scenario: Scenario) -> tuple[Engine, Request, PortRunner]:
    reply = scenario.reply
    engine = Engine(
        scenario.policy,
        llm=(lambda prompt: _answer(prompt, reply)) if reply else None,
        state=scenario.state,
        options=Options(limits=scenario.limits),
    )
    ports = replace(engine.ports, search=Port(lambda effect: scenario.retrieve()))
    request = Request(scenario.query, current_principal())
    return engine, request, PortRunner(ports, scenario.limits)


def _words(prompt: Any) -> str:
    return "\n".join(message.content.text for message in prompt.messages)


def _answer(prompt: Any, reply: Reply) -> str:
    return answer_control(_words(prompt), reply(_words(prompt)))


def core_run(scenario: Scenario) -> Seen:
    engine, request, runner = _core(scenario)
    return of_passages(run(retrieve(request, engine), runner).passages)


def core_arun(scenario: Scenario) -> Seen:
    engine, request, runner = _core(scenario)
    return of_passages(asyncio.run(arun(retrieve(request, engine), runner)).passages)


def core_disclose(scenario: Scenario) -> Seen:
    engine, request, runner = _core(scenario)
    return of_passages(
        run(disclose(scenario.retrieve(), request, engine), runner).passages
    )


def langchain_invoke(scenario: Scenario) -> Seen:
    return ask(langchain_retriever(scenario), scenario)


def langchain_ainvoke(scenario: Scenario) -> Seen:
    return asyncio.run(aask(langchain_retriever(scenario), scenario))


def langchain_batch(scenario: Scenario) -> Seen:
    first, second = langchain_retriever(scenario).batch([scenario.query] * 2)
    assert of_documents(first) == of_documents(second)
    return of_documents(first)


def langchain_abatch(scenario: Scenario) -> Seen:
    retriever = langchain_retriever(scenario)
    first, second = asyncio.run(retriever.abatch([scenario.query] * 2))
    assert of_documents(first) == of_documents(second)
    return of_documents(first)


def langchain_stream(scenario: Scenario) -> Seen:
    (chunk,) = langchain_retriever(scenario).stream(scenario.query)
    return of_documents(chunk)


def langchain_astream(scenario: Scenario) -> Seen:
    async def collect() -> Any:
        stream = langchain_retriever(scenario).astream(scenario.query)
        return [chunk async for chunk in stream]

    (chunk,) = asyncio.run(collect())
    return of_documents(chunk)


def langchain_chain(scenario: Scenario) -> Seen:
    chain = RunnableLambda(str) | langchain_retriever(scenario)
    return of_documents(chain.invoke(scenario.query))


def langchain_compress(scenario: Scenario) -> Seen:
    return ask(langchain_compressor(scenario), scenario)


def langchain_acompress(scenario: Scenario) -> Seen:
    return asyncio.run(aask(langchain_compressor(scenario), scenario))


def langchain_pipe(scenario: Scenario) -> Seen:
    chain = Documents(scenario=scenario) | langchain_compressor(scenario)
    return of_documents(chain.invoke(scenario.query))


def langchain_apipe(scenario: Scenario) -> Seen:
    chain = Documents(scenario=scenario) | langchain_compressor(scenario)
    return of_documents(asyncio.run(chain.ainvoke(scenario.query)))


def llamaindex_retrieve(scenario: Scenario) -> Seen:
    return ask(llamaindex_retriever(scenario), scenario)


def llamaindex_aretrieve(scenario: Scenario) -> Seen:
    return asyncio.run(aask(llamaindex_retriever(scenario), scenario))


def llamaindex_postprocess(scenario: Scenario) -> Seen:
    return ask(llamaindex_postprocessor(scenario), scenario)


def llamaindex_apostprocess(scenario: Scenario) -> Seen:
    return asyncio.run(aask(llamaindex_postprocessor(scenario), scenario))


RETRIEVERS: tuple[Face, ...] = (
    core_run,
    core_arun,
    langchain_invoke,
    langchain_ainvoke,
    langchain_batch,
    langchain_abatch,
    langchain_stream,
    langchain_astream,
    langchain_chain,
    llamaindex_retrieve,
    llamaindex_aretrieve,
)
HOOKS: tuple[Face, ...] = (
    core_disclose,
    langchain_compress,
    langchain_acompress,
    langchain_pipe,
    langchain_apipe,
    llamaindex_postprocess,
    llamaindex_apostprocess,
)
FACES = RETRIEVERS + HOOKS
WRAPPERS: tuple[Face, ...] = (
    langchain_invoke,
    langchain_compress,
    llamaindex_retrieve,
    llamaindex_postprocess,
)
"""A face of every wrapper."""


def through(*faces: Face) -> Any:
    """Run a test through some faces."""
    return pytest.mark.parametrize("face", faces, ids=lambda face: face.__name__)
