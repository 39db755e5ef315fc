"""Every public class of langchain_sdrag, used as its host uses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
)
from langchain_core.callbacks import dispatch_custom_event
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver

import langchain_sdrag

from ..support.doubles import LangChainModel
from ..support.scripted import verbatim
from .agent import AGENT_MODES, Agent, AgentModel, collected
from .canaries import QUERY, RAW, SETTINGS, planted_documents, reply
from .subject import AsyncMode, Mode, Subject


class ChattyRetriever(LangChainRetriever):
    """A host's retriever that asks a model and sends events of its own."""

    model: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        self.model.invoke(RAW)
        child = run_manager.get_child()
        dispatch_custom_event("found", RAW, config={"callbacks": child})
        run_manager.on_text(RAW)
        return planted_documents()


def _chatty() -> LangChainRetriever:
    """A nested retriever; that its own model is not cached is the host's business."""
    model = LangChainModel(reply=lambda prompt: f"{prompt} {RAW}", cache=False)
    inner = ChattyRetriever(model=model)
    return EnsembleRetriever(retrievers=[inner, inner], weights=[0.5, 0.5])


def _langchain_modes() -> Mapping[str, Mode | AsyncMode]:
    return {
        "sync": lambda built, config: built.invoke(QUERY, config),
        "async": lambda built, config: built.ainvoke(QUERY, config),
        "batch": lambda built, config: built.batch([QUERY, QUERY], config),
        "abatch": lambda built, config: built.abatch([QUERY, QUERY], config),
        "stream": lambda built, config: list(built.stream(QUERY, config)),
        "astream": lambda built, config: collected(built.astream(QUERY, config)),
        "astream_events": lambda built, config: collected(
            built.astream_events(QUERY, config, version="v2")
        ),
    }


def _langchain_retriever(folder: Path) -> Runnable[Any, Any]:
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=_chatty(),
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        state=folder / "state.sqlite",
    )


def _langchain_compressor(folder: Path) -> Runnable[Any, Any]:
    return ContextualCompressionRetriever(
        base_compressor=langchain_sdrag.SelectiveDisclosureCompressor(
            policy=SETTINGS,
            llm=LangChainModel(reply=reply),
            state=folder / "state.sqlite",
        ),
        base_retriever=_chatty(),
    )


def _langchain_binder(folder: Path) -> Any:
    return langchain_sdrag.ConstraintBinder(
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        state=folder / "state.sqlite",
    )


def _highlighting(folder: Path) -> Runnable[Any, Any]:
    answering = langchain_sdrag.HighlightAndSummarize(
        policy=SETTINGS, state=folder / "state.sqlite"
    )
    context = _langchain_retriever(folder)
    return {"context": context, "question": RunnablePassthrough()} | answering


def _guarding(folder: Path) -> Runnable[Any, Any]:
    guard = langchain_sdrag.AnswerGuard(
        policy={**SETTINGS, "grounding": {}}, state=folder / "state.sqlite"
    )
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
        state=folder / "state.sqlite",
    )
    search = create_retriever_tool(
        _chatty(), "search", "Searches.", response_format="content_and_artifact"
    )
    saver = InMemorySaver()
    agent = create_agent(
        AgentModel(), [search], middleware=[middleware], checkpointer=saver
    )
    return Agent(agent, saver, middleware)


def _langchain_summarizer(folder: Path) -> Any:
    return langchain_sdrag.HierarchySummarizer(
        policy=SETTINGS,
        llm=LangChainModel(reply=verbatim),
        state=folder / "state.sqlite",
        show_progress=True,
    )


def _langchain_view(folder: Path) -> Any:
    return langchain_sdrag.RedactingTransformer(
        policy=SETTINGS,
        llm=LangChainModel(reply=reply),
        state=folder / "state.sqlite",
    )


TRANSFORMER_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built.transform_documents(planted_documents()),
    "async": lambda built, _: built.atransform_documents(planted_documents()),
}


def _of_one_source() -> list[Document]:
    """What is summarized together."""
    return [
        document.model_copy(
            update={"metadata": document.metadata | {"source": "log.txt"}}
        )
        for document in planted_documents()
    ]


SUMMARIZER_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built.transform_documents(_of_one_source()),
    "async": lambda built, _: built.atransform_documents(_of_one_source()),
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
    Subject(
        "langchain",
        "HierarchySummarizer",
        _langchain_summarizer,
        SUMMARIZER_MODES,
        releases=False,
    ),
    Subject("langchain", "RedactingTransformer", _langchain_view, TRANSFORMER_MODES),
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
)
