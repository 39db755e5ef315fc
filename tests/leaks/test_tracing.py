"""Who hears what happens inside a wrapper, and who goes on hearing everything else."""

from __future__ import annotations

import subprocess
import sys
from contextvars import ContextVar
from threading import Thread
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import CallbackManager
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import ConfigurableField, RunnableBranch
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import Field

import langchain_sdrag
import llamaindex_sdrag
from llamaindex_sdrag.tracing import uninstall

from ..support.doubles import LangChainModel, LlamaIndexModel
from .canaries import QUERY, RAW, SETTINGS, leaked, reply
from .matrix import settled
from .surfaces import Handler, watching_llamaindex

TENANT: ContextVar[str] = ContextVar("tenant", default="nobody")
MODES = ["sync", "async"]


class Documents(LangChainRetriever):
    """Retrieves raw text, asks a model, and tells all it can."""

    model: Any = None
    heard: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        self.heard.append(TENANT.get())
        run_manager.on_text(RAW)
        if self.model is not None:
            self.model.invoke(RAW)
        return [Document(RAW, id="1")]


class Nodes(LlamaIndexRetriever):
    """The same in LlamaIndex."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.heard.append(TENANT.get())
        return [NodeWithScore(node=TextNode(text=RAW), score=1.0)]


def wrap_langchain(inner: Any, llm: Any = None) -> Any:
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=inner, policy=SETTINGS, llm=llm
    )


def wrap_llamaindex(inner: Any) -> Any:
    return llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=inner, policy=SETTINGS, llm=LlamaIndexModel(reply)
    )


def ask_langchain(wrapper: Any, mode: str, **config: Any) -> Any:
    call = wrapper.invoke if mode == "sync" else wrapper.ainvoke
    return settled(call(QUERY, config))


def ask_llamaindex(wrapper: Any, mode: str) -> Any:
    return settled(
        wrapper.retrieve(QUERY) if mode == "sync" else wrapper.aretrieve(QUERY)
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_model_does_not_tell_its_own_handlers_the_prompts(mode):
    """Nor does it keep them: whatever has it as a field, it is copied without both."""
    handler, cache = Handler(), InMemoryCache()
    model = LangChainModel(reply=reply, callbacks=[handler], cache=cache)
    for llm in (
        model,
        LangChainModel(reply=reply).with_config(callbacks=[handler]),
        model.configurable_fields(name=ConfigurableField("name")),
        model.configurable_alternatives(ConfigurableField("which"), other=model),
        RunnableBranch((lambda _: False, model), model),
    ):
        ask_langchain(wrap_langchain(Documents(), llm), mode)

    assert not leaked([handler.seen, cache._cache])


@pytest.mark.parametrize("mode", MODES)
def test_a_retriever_does_not_tell_the_handlers_that_are_bound_to_it(mode):
    handler = Handler()
    bound = Documents().with_config(callbacks=[handler])

    assert ask_langchain(wrap_langchain(bound, LangChainModel(reply=reply)), mode)
    assert not leaked([handler.seen])


def test_a_manager_in_a_context_variable_is_not_found_inside():
    """A retriever that passes on what its application keeps in one passes nothing."""
    handler, kept = Handler(), ContextVar[Any]("kept", default=None)

    class Passing(Documents):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            model = LangChainModel(reply=lambda _: "fine")
            model.invoke(RAW, {"callbacks": kept.get()})
            return super()._get_relevant_documents(query, run_manager=run_manager)

    kept.set(CallbackManager([handler]))
    ask_langchain(wrap_langchain(Passing(), LangChainModel(reply=reply)), "sync")

    assert handler.seen == []
    assert kept.get() is not None


@pytest.mark.parametrize("mode", MODES)
def test_a_retriever_inside_a_graph_does_not_write_to_its_stream(mode):
    """The `custom` stream of LangGraph; a node of the application still writes."""

    class Writing(Documents):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            get_stream_writer()({"found": RAW})
            return super()._get_relevant_documents(query, run_manager=run_manager)

    wrapper = wrap_langchain(Writing(), LangChainModel(reply=reply))

    def node(state: dict[str, Any]) -> dict[str, Any]:
        get_stream_writer()("asked")
        return {"found": str(wrapper.invoke(QUERY))}

    async def anode(state: dict[str, Any]) -> dict[str, Any]:
        get_stream_writer()("asked")
        return {"found": str(await wrapper.ainvoke(QUERY))}

    graph = StateGraph(dict).add_node("ask", node if mode == "sync" else anode)
    built = graph.add_edge(START, "ask").add_edge("ask", END).compile()

    async def collect() -> list[Any]:
        return [item async for item in built.astream({}, stream_mode=["custom"])]

    streamed = (
        list(built.stream({}, stream_mode=["custom"]))
        if mode == "sync"
        else settled(collect())
    )

    assert streamed == [("custom", "asked")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_openinference_exports_no_raw_text(framework, mode):
    """Its spans hold inputs, outputs and documents."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    kinds = {"langchain": LangChainInstrumentor, "llamaindex": LlamaIndexInstrumentor}
    instrumentor = kinds[framework]()
    instrumentor.instrument(tracer_provider=provider)
    try:
        if framework == "langchain":
            inner = Documents(model=LangChainModel(reply=reply))
            ask_langchain(wrap_langchain(inner, LangChainModel(reply=reply)), mode)
        else:
            ask_llamaindex(wrap_llamaindex(Nodes()), mode)
    finally:
        instrumentor.uninstrument()
    spans = exporter.get_finished_spans()

    assert spans
    assert not leaked([[span.to_json() for span in spans]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_context_variables_of_the_application_reach_its_retriever(framework, mode):
    """A retriever may read its tenant from one."""
    token = TENANT.set("harbour")
    try:
        if framework == "langchain":
            inner = Documents()
            ask_langchain(wrap_langchain(inner, LangChainModel(reply=reply)), mode)
        else:
            inner = Nodes()
            ask_llamaindex(wrap_llamaindex(inner), mode)
    finally:
        TENANT.reset(token)

    assert set(inner.heard) == {"harbour"}


def test_handlers_of_other_threads_go_on_hearing_in_langchain():
    outside = Handler()

    class Meanwhile(Documents):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            thread = Thread(
                target=LangChainModel(reply=lambda _: "fine").invoke,
                args=("Hello.", {"callbacks": [outside]}),
            )
            thread.start()
            thread.join()
            return super()._get_relevant_documents(query, run_manager=run_manager)

    ask_langchain(wrap_langchain(Meanwhile(), LangChainModel(reply=reply)), "sync")

    assert "on_chat_model_start" in {name for name, *_ in outside.seen}


def test_handlers_of_other_threads_go_on_hearing_in_llamaindex(tmp_path):
    """And so do those of the same thread, once the wrapper has returned."""

    class Meanwhile(Nodes):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            thread = Thread(target=Nodes().retrieve, args=("Question A",))
            thread.start()
            thread.join()
            return super()._retrieve(query_bundle)

    wrapper = wrap_llamaindex(Meanwhile())
    with watching_llamaindex(tmp_path) as seen:
        ask_llamaindex(wrapper, "sync")
        Nodes().retrieve("Question B")

    heard = str(seen["events"])
    assert "Question A" in heard
    assert "Question B" in heard


@pytest.mark.parametrize("mode", MODES)
def test_a_postprocessor_puts_no_raw_node_into_a_span(mode, tmp_path):
    """What retrieved the nodes has shown them; the postprocessor does not again."""
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        SETTINGS, LlamaIndexModel(reply)
    )
    nodes = [NodeWithScore(node=TextNode(text=RAW), score=1.0)]
    with watching_llamaindex(tmp_path) as seen:
        if mode == "sync":
            hook.postprocess_nodes(nodes)
        else:
            settled(hook.apostprocess_nodes(nodes))

    assert not leaked([seen["spans"], seen["events"]])


def test_handlers_can_be_added_and_removed_and_the_lists_put_back():
    ask_llamaindex(wrap_llamaindex(Nodes()), "sync")
    root = get_dispatcher()
    with_wrapper = type(root.event_handlers)
    uninstall()

    assert with_wrapper is not list
    assert type(root.event_handlers) is list


PROBE = """
import logging, sys, warnings
import langchain_core.callbacks.manager, langchain_core.runnables, langgraph.graph
import langchain_core.tracers, langsmith, langchain.agents.middleware
import llama_index.core, llama_index_instrumentation.dispatcher
import llama_index.core.agent.workflow

HOSTS = ("langchain_core", "langchain", "langgraph", "langsmith", "llama_index")
HOSTS += ("llama_index_instrumentation", "workflows", "logging", "warnings")
PROCESS = (logging.getLogRecordFactory, logging.getLoggerClass)

def names():
    held = {("process", get.__name__): id(get()) for get in PROCESS}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in HOSTS:
            continue
        for key, value in list(vars(module).items()):
            held[name, key] = id(value)
            if isinstance(value, type) and value.__module__ == name:
                for inner, item in list(vars(value).items()):
                    held[name, key, inner] = id(item)
    return held

before = names()
import langchain_sdrag, llamaindex_sdrag
from langchain_core.runnables import RunnableLambda
policy = {"constraints": [{"id": "a", "text": "Hide email addresses"}]}
langchain_sdrag.SelectiveDisclosureRetriever(
    base_retriever=RunnableLambda(lambda question: []), policy=policy
)
llamaindex_sdrag.SelectiveDisclosurePostprocessor(policy=policy)
after = names()
lazy = ("_abc_impl", "__pydantic", "__annotations__", "__signature__")
print([
    key for key in before
    if after.get(key) != before[key] and not key[-1].startswith(lazy)
])
"""


def test_importing_and_building_changes_no_name_of_the_host_and_warns_of_nothing():
    """Every attribute of the frameworks' modules, and every method of their classes."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
    assert "_sdrag/" not in done.stderr
