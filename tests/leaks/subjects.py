"""
Every public class, used as its host uses it, in every mode its framework has.

A subject whose host has shown raw text before it calls us says in which surfaces. The
matrix checks that too: such a cell must see a canary, or the table would be a lie.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
)
from langchain_core.callbacks import dispatch_custom_event
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import RetrieverTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag.testing import verbatim

from ..support.doubles import LangChainModel, LlamaIndexModel
from .canaries import QUERY, RAW, SETTINGS, planted_documents, planted_nodes, reply

Config = dict[str, Any]
Mode = Callable[[Any, Config], Any]
AsyncMode = Callable[[Any, Config], Awaitable[Any]]


@dataclass(frozen=True)
class Subject:
    """
    A class under test.

    Args:
        framework: `langchain` or `llamaindex`.
        name: Of the class.
        build: Makes the object that the modes are called on, in a folder.
        wrapper: Finds our object in it.
        modes: What a host does, by mode; an async one returns an awaitable.
        host_first: Surfaces in which the host shows raw text before it calls us.
        releases: What it returns is for the asker; else it goes to the host's store.
        carries_policy: Surfaces that take the policy to worker processes on purpose.
    """

    framework: str
    name: str
    build: Callable[[Path], Any]
    modes: Mapping[str, Mode | AsyncMode]
    wrapper: Callable[[Any], Any] = lambda built: built
    host_first: frozenset[str] = field(default_factory=frozenset)
    releases: bool = True
    carries_policy: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Agent:
    """An agent, its checkpointer and its middleware."""

    graph: Any
    saver: InMemorySaver
    middleware: Any


ASK = {"messages": [HumanMessage(QUERY)]}
STREAMED = ["values", "updates", "messages", "custom", "debug"]


class AgentModel(BaseChatModel):
    """Calls the tool, then answers with all that it was given."""

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(content=str(messages))
        if isinstance(messages[-1], HumanMessage):
            call = {"name": "search", "args": {"query": QUERY}, "id": "call"}
            message = AIMessage(content="", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


class ChattyRetriever(LangChainRetriever):
    """A host's retriever that asks a model and sends events of its own."""

    model: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        self.model.invoke(RAW)
        child = run_manager.get_child()
        dispatch_custom_event("found", RAW, config={"callbacks": child})
        run_manager.on_text(RAW)
        return planted_documents()


class PlantedRetriever(LlamaIndexRetriever):
    """A host's retriever over planted nodes."""

    def _retrieve(self, query_bundle: QueryBundle) -> Any:
        return planted_nodes()


def _chatty() -> LangChainRetriever:
    """A nested retriever; that its own model is not cached is the host's business."""
    model = LangChainModel(reply=lambda prompt: f"{prompt} {RAW}", cache=False)
    inner = ChattyRetriever(model=model)
    return EnsembleRetriever(retrievers=[inner, inner], weights=[0.5, 0.5])


async def _collected(stream: Any) -> list[Any]:
    return [chunk async for chunk in stream]


def _langchain_modes() -> Mapping[str, Mode | AsyncMode]:
    return {
        "sync": lambda built, config: built.invoke(QUERY, config),
        "async": lambda built, config: built.ainvoke(QUERY, config),
        "batch": lambda built, config: built.batch([QUERY, QUERY], config),
        "abatch": lambda built, config: built.abatch([QUERY, QUERY], config),
        "stream": lambda built, config: list(built.stream(QUERY, config)),
        "astream": lambda built, config: _collected(built.astream(QUERY, config)),
        "astream_events": lambda built, config: _collected(
            built.astream_events(QUERY, config, version="v2")
        ),
    }


def _langchain_retriever(folder: Path) -> Runnable[Any, Any]:
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=_chatty(),
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        bindings=folder / "bindings.sqlite",
    )


def _langchain_compressor(folder: Path) -> Runnable[Any, Any]:
    return ContextualCompressionRetriever(
        base_compressor=langchain_sdrag.SelectiveDisclosureCompressor(
            policy=SETTINGS,
            llm=LangChainModel(reply=reply),
            bindings=folder / "bindings.sqlite",
        ),
        base_retriever=_chatty(),
    )


def _langchain_binder(folder: Path) -> Any:
    return langchain_sdrag.ConstraintBinder(
        policy=SETTINGS, bindings=folder / "bindings.sqlite"
    )


def _highlighting(folder: Path) -> Runnable[Any, Any]:
    answering = langchain_sdrag.HighlightAndSummarize(policy=SETTINGS, redacted=True)
    context = _langchain_retriever(folder)
    return {"context": context, "question": RunnablePassthrough()} | answering


def _guarding(folder: Path) -> Runnable[Any, Any]:
    guard = langchain_sdrag.AnswerGuard(policy={**SETTINGS, "grounding": {}})
    context = _langchain_retriever(folder)
    given = {"context": context, "question": RunnablePassthrough()}
    answered = RunnablePassthrough.assign(answer=lambda found: str(found["context"]))
    return given | answered | guard


def _separating(folder: Path) -> Runnable[Any, Any]:
    sources = _langchain_retriever(folder) | langchain_sdrag.separated_sources
    given = {"sources": sources, "question": RunnablePassthrough()}
    return given | langchain_sdrag.separated_prompt() | LangChainModel(reply=verbatim)


def _agent(folder: Path) -> Any:
    middleware = langchain_sdrag.SelectiveDisclosureMiddleware(
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        bindings=folder / "bindings.sqlite",
    )
    search = create_retriever_tool(
        _chatty(), "search", "Searches.", response_format="content_and_artifact"
    )
    saver = InMemorySaver()
    agent = create_agent(
        AgentModel(), [search], middleware=[middleware], checkpointer=saver
    )
    return Agent(agent, saver, middleware)


def _told(config: Config) -> Config:
    return {**config, "configurable": {"thread_id": "t"}}


def _kept(agent: Agent, state: Any) -> Any:
    """What the agent says, and what its checkpointer keeps."""
    return [state, dict(agent.saver.blobs), dict(agent.saver.writes)]


async def _akept(agent: Agent, config: Config) -> Any:
    return _kept(agent, await agent.graph.ainvoke(ASK, _told(config)))


AGENT_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, config: _kept(built, built.graph.invoke(ASK, _told(config))),
    "async": _akept,
    "stream": lambda built, config: _kept(
        built, list(built.graph.stream(ASK, _told(config), stream_mode=STREAMED))
    ),
    "astream": lambda built, config: _collected(
        built.graph.astream(ASK, _told(config), stream_mode=STREAMED)
    ),
    "astream_events": lambda built, config: _collected(
        built.graph.astream_events(ASK, _told(config), version="v2")
    ),
}


def _llamaindex_modes() -> Mapping[str, Mode | AsyncMode]:
    return {
        "sync": lambda built, _: built(streaming=False).query(QUERY),
        "async": lambda built, _: built(streaming=False).aquery(QUERY),
        "stream": lambda built, _: _drained(built(streaming=True).query(QUERY)),
    }


def _drained(response: Any) -> Any:
    return [response, "".join(response.response_gen)]


def _engine(retriever: Any, **options: Any) -> Callable[..., RetrieverQueryEngine]:
    def build(*, streaming: bool) -> RetrieverQueryEngine:
        return RetrieverQueryEngine.from_args(
            retriever, llm=LlamaIndexModel(verbatim), streaming=streaming, **options
        )

    return build


def _llamaindex_retriever(folder: Path) -> Any:
    return _engine(
        llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=PlantedRetriever(),
            policy=SETTINGS,
            llm=LlamaIndexModel(reply),
            bindings=folder / "bindings.sqlite",
        )
    )


def _llamaindex_postprocessor(folder: Path) -> Any:
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        bindings=folder / "bindings.sqlite",
    )
    return _engine(PlantedRetriever(), node_postprocessors=[hook])


def _llamaindex_binder(folder: Path) -> Any:
    return llamaindex_sdrag.ConstraintBinder(
        policy=SETTINGS, bindings=folder / "bindings.sqlite"
    )


def _langchain_view(folder: Path) -> Any:
    return langchain_sdrag.RedactedView(
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        cache=folder / "cache.sqlite",
    )


def _llamaindex_view(folder: Path) -> Any:
    return llamaindex_sdrag.RedactedView(
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        cache=folder / "cache.sqlite",
    )


def _bare_nodes() -> list[Any]:
    return [scored.node for scored in planted_nodes()]


def _llamaindex_highlighting(folder: Path) -> Any:
    def build(*, streaming: bool) -> RetrieverQueryEngine:
        answering = llamaindex_sdrag.HighlightAndSummarize(
            policy=SETTINGS, redacted=True, streaming=streaming
        )
        retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=PlantedRetriever(),
            policy=SETTINGS,
            llm=LlamaIndexModel(reply),
            bindings=folder / "bindings.sqlite",
        )
        return RetrieverQueryEngine(retriever, answering)

    return build


def _llamaindex_separating(folder: Path) -> Any:
    build = _llamaindex_retriever(folder)
    prompt = llamaindex_sdrag.separated_prompt()

    def separating(*, streaming: bool) -> RetrieverQueryEngine:
        engine: RetrieverQueryEngine = build(streaming=streaming)
        engine.update_prompts({"response_synthesizer:text_qa_template": prompt})
        return engine

    return separating


def _llamaindex_sources(folder: Path) -> Any:
    return _llamaindex_retriever(folder)(streaming=False).retriever


def _llamaindex_guarding(folder: Path) -> Any:
    def build(*, streaming: bool) -> RetrieverQueryEngine:
        answering = get_response_synthesizer(
            llm=LlamaIndexModel(verbatim), streaming=streaming
        )
        guard = llamaindex_sdrag.AnswerGuard(
            answering, policy={**SETTINGS, "grounding": {}}
        )
        retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=PlantedRetriever(),
            policy=SETTINGS,
            llm=LlamaIndexModel(reply),
            bindings=folder / "bindings.sqlite",
        )
        return RetrieverQueryEngine(retriever, guard)

    return build


def _llamaindex_tool(folder: Path) -> Any:
    return llamaindex_sdrag.guard_tool(
        RetrieverTool.from_defaults(PlantedRetriever(), name="search"),
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        bindings=folder / "bindings.sqlite",
    )


TRANSFORMER_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built.transform_documents(planted_documents()),
    "async": lambda built, _: built.atransform_documents(planted_documents()),
}
NODE_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built(_bare_nodes()),
    "async": lambda built, _: built.acall(_bare_nodes()),
}
SUBJECTS = (
    Subject(
        "langchain",
        "SelectiveDisclosureRetriever",
        _langchain_retriever,
        _langchain_modes(),
    ),
    Subject(
        "langchain",
        "SelectiveDisclosureCompressor",
        _langchain_compressor,
        _langchain_modes(),
        wrapper=lambda built: built.base_compressor,
        host_first=frozenset(
            {
                "callbacks",
                "LangSmith tracer",
                "`collect_runs`",
                "`set_debug` output",
                "`astream_events`",
            }
        ),
    ),
    Subject(
        "langchain",
        "ConstraintBinder",
        _langchain_binder,
        TRANSFORMER_MODES,
        releases=False,
    ),
    Subject(
        "langchain",
        "InjectionScanner",
        lambda folder: langchain_sdrag.InjectionScanner(policy=SETTINGS),
        TRANSFORMER_MODES,
        releases=False,
    ),
    Subject(
        "langchain",
        "LinkageMasker",
        lambda folder: langchain_sdrag.LinkageMasker(
            policy=SETTINGS, whole_corpus=True
        ),
        TRANSFORMER_MODES,
        releases=False,
    ),
    Subject("langchain", "RedactedView", _langchain_view, TRANSFORMER_MODES),
    Subject(
        "langchain",
        "HighlightAndSummarize",
        _highlighting,
        _langchain_modes(),
        wrapper=lambda built: built.last,
    ),
    Subject(
        "langchain",
        "AnswerGuard",
        _guarding,
        _langchain_modes(),
        wrapper=lambda built: built.last,
    ),
    Subject(
        "langchain",
        "SelectiveDisclosureMiddleware",
        _agent,
        AGENT_MODES,
        wrapper=lambda built: built.middleware,
    ),
    Subject(
        "langchain",
        "separated_prompt",
        _separating,
        _langchain_modes(),
        wrapper=lambda _: langchain_sdrag.separated_prompt(),
    ),
    Subject(
        "langchain",
        "separated_sources",
        lambda folder: _langchain_retriever(folder) | langchain_sdrag.separated_sources,
        _langchain_modes(),
        wrapper=lambda built: built.last,
    ),
    Subject(
        "llamaindex",
        "SelectiveDisclosureRetriever",
        _llamaindex_retriever,
        _llamaindex_modes(),
        wrapper=lambda built: built(streaming=False).retriever,
    ),
    Subject(
        "llamaindex",
        "SelectiveDisclosurePostprocessor",
        _llamaindex_postprocessor,
        _llamaindex_modes(),
        wrapper=lambda built: built(streaming=False)._node_postprocessors[0],
        host_first=frozenset({"events", "spans", "callback handlers"}),
    ),
    Subject(
        "llamaindex",
        "ConstraintBinder",
        _llamaindex_binder,
        NODE_MODES,
        releases=False,
    ),
    Subject(
        "llamaindex",
        "InjectionScanner",
        lambda folder: llamaindex_sdrag.InjectionScanner(policy=SETTINGS),
        NODE_MODES,
        releases=False,
    ),
    Subject("llamaindex", "RedactedView", _llamaindex_view, NODE_MODES),
    Subject(
        "llamaindex",
        "HighlightAndSummarize",
        _llamaindex_highlighting,
        _llamaindex_modes(),
        wrapper=lambda built: built(streaming=False)._response_synthesizer,
    ),
    Subject(
        "llamaindex",
        "LinkageMasker",
        lambda folder: llamaindex_sdrag.LinkageMasker(
            policy=SETTINGS, whole_corpus=True
        ),
        NODE_MODES,
        releases=False,
        carries_policy=frozenset({"pickles"}),
    ),
    Subject(
        "llamaindex",
        "AnswerGuard",
        _llamaindex_guarding,
        {name: mode for name, mode in _llamaindex_modes().items() if name != "stream"},
        wrapper=lambda built: built(streaming=False)._response_synthesizer,
    ),
    Subject(
        "llamaindex",
        "guard_tool",
        _llamaindex_tool,
        {
            "sync": lambda built, _: built.call(QUERY),
            "async": lambda built, _: built.acall(QUERY),
        },
    ),
    Subject(
        "llamaindex",
        "separated_prompt",
        _llamaindex_separating,
        _llamaindex_modes(),
        wrapper=lambda _: llamaindex_sdrag.separated_prompt(),
    ),
    Subject(
        "llamaindex",
        "separated_sources",
        _llamaindex_sources,
        {
            "sync": lambda built, _: llamaindex_sdrag.separated_sources(
                built.retrieve(QUERY)
            )
        },
        wrapper=lambda _: llamaindex_sdrag.separated_sources,
    ),
)
