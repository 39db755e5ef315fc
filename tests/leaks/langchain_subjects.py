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
from sdrag import Options, acting_as

from ..support.doubles import LangChainModel
from ..support.scripted import verbatim
from .agent import AGENT_MODES, Agent, AgentModel, collected
from .canaries import CLERK, QUERY, RAW, RESTORED, SETTINGS, planted_documents, reply
from .subject import AsyncMode, Mode, Subject
from .surfaces import audit


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


def build(kind: Any, folder: Path, **arguments: Any) -> Any:
    """Build a wrapper with a model that finds the canaries, and a state in a folder."""
    model = LangChainModel(reply=reply)
    shared = {"policy": SETTINGS, "llm": model, "state": folder / "state.sqlite"}
    shared["options"] = Options(audit=audit)
    return kind(**shared | arguments)


def _langchain_retriever(folder: Path) -> Runnable[Any, Any]:
    kind = langchain_sdrag.SelectiveDisclosureRetriever
    return build(kind, folder, base_retriever=_chatty())


def _langchain_compressor(folder: Path) -> Runnable[Any, Any]:
    return ContextualCompressionRetriever(
        base_compressor=build(langchain_sdrag.SelectiveDisclosureCompressor, folder),
        base_retriever=_chatty(),
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


def _restoring(folder: Path) -> Any:
    """The answer shows the clerk's values; nothing else may."""
    state = folder / "state.sqlite"
    kind = langchain_sdrag.SelectiveDisclosureRetriever
    retriever = build(kind, folder, base_retriever=_chatty(), policy=RESTORED)
    with acting_as(CLERK):
        context = retriever.invoke(QUERY)
    answer = "".join(document.page_content for document in context)
    assert "[name-" in answer
    restore = langchain_sdrag.Restore(RESTORED, state)
    return restore, {"context": context, "answer": answer}


def _as_clerk(mode: Mode | AsyncMode) -> Mode | AsyncMode:
    """Use a runnable on what it was built with."""

    def use(built: Any, config: Any) -> Any:
        restore, given = built
        asked = _Bound(restore, given)
        return mode(asked, {**config, "configurable": {"principal": CLERK}})

    return use


class _Bound:
    """A runnable that is given the same, whatever it is asked."""

    def __init__(self, runnable: Any, given: Any) -> None:
        self._runnable, self._given = runnable, given

    def __getattr__(self, name: str) -> Any:
        method, several = getattr(self._runnable, name), name.endswith("batch")
        given = [self._given] * 2 if several else self._given
        return lambda _, config, **more: method(given, config, **more)


def _separating(folder: Path) -> Runnable[Any, Any]:
    sources = _langchain_retriever(folder) | langchain_sdrag.separated_sources
    given = {"sources": sources, "question": RunnablePassthrough()}
    return given | langchain_sdrag.separated_prompt() | LangChainModel(reply=verbatim)


def _agent(folder: Path) -> Any:
    middleware = build(langchain_sdrag.SelectiveDisclosureMiddleware, folder)
    search = create_retriever_tool(
        _chatty(), "search", "Searches.", response_format="content_and_artifact"
    )
    saver = InMemorySaver()
    agent = create_agent(
        AgentModel(), [search], middleware=[middleware], checkpointer=saver
    )
    return Agent(agent, saver, middleware)


TRANSFORMER_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built.transform_documents(planted_documents()),
    "async": lambda built, _: built.atransform_documents(planted_documents()),
}


def _summarizer(folder: Path) -> Any:
    model = LangChainModel(reply=verbatim)
    kind = langchain_sdrag.HierarchySummarizer
    return build(kind, folder, llm=model, show_progress=True)


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
HANDLED_FIRST = frozenset(
    {
        "callbacks",
        "LangSmith tracer",
        "`collect_runs`",
        "`set_debug` output",
        "`astream_events`",
    }
)


def _subject(name: str, make: Any, modes: Any, **more: Any) -> Subject:
    return Subject("langchain", name, make, modes, **more)


SUBJECTS = (
    _subject("SelectiveDisclosureRetriever", _langchain_retriever, _langchain_modes()),
    _subject(
        "SelectiveDisclosureCompressor",
        _langchain_compressor,
        _langchain_modes(),
        wrapper=lambda built: built.base_compressor,
        host_first=HANDLED_FIRST,
    ),
    _subject(
        "ConstraintBinder",
        lambda folder: build(langchain_sdrag.ConstraintBinder, folder),
        TRANSFORMER_MODES,
        releases=False,
    ),
    _subject(
        "InjectionScanner",
        lambda folder: langchain_sdrag.InjectionScanner(policy=SETTINGS),
        TRANSFORMER_MODES,
        releases=False,
    ),
    _subject(
        "LinkageMasker",
        lambda folder: langchain_sdrag.LinkageMasker(
            policy=SETTINGS, whole_corpus=True
        ),
        TRANSFORMER_MODES,
        releases=False,
    ),
    _subject("HierarchySummarizer", _summarizer, SUMMARIZER_MODES, releases=False),
    _subject(
        "RedactingTransformer",
        lambda folder: build(langchain_sdrag.RedactingTransformer, folder),
        TRANSFORMER_MODES,
    ),
    _subject(
        "HighlightAndSummarize",
        _highlighting,
        _langchain_modes(),
        wrapper=lambda built: built.last,
    ),
    _subject(
        "AnswerGuard", _guarding, _langchain_modes(), wrapper=lambda built: built.last
    ),
    _subject(
        "Restore",
        _restoring,
        {name: _as_clerk(mode) for name, mode in _langchain_modes().items()},
        wrapper=lambda built: built[0],
        releases=False,
        goes="the values, for whom the policy exempts",
    ),
    _subject(
        "SelectiveDisclosureMiddleware",
        _agent,
        AGENT_MODES,
        wrapper=lambda built: built.middleware,
    ),
    _subject(
        "separated_prompt",
        _separating,
        _langchain_modes(),
        wrapper=lambda _: langchain_sdrag.separated_prompt(),
    ),
    _subject(
        "separated_sources",
        lambda folder: _langchain_retriever(folder) | langchain_sdrag.separated_sources,
        _langchain_modes(),
        wrapper=lambda built: built.last,
    ),
)
