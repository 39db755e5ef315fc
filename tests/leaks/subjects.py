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

from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
)
from langchain_core.callbacks import dispatch_custom_event
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import Runnable
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import QueryBundle

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
    """

    framework: str
    name: str
    build: Callable[[Path], Any]
    modes: Mapping[str, Mode | AsyncMode]
    wrapper: Callable[[Any], Any] = lambda built: built
    host_first: frozenset[str] = field(default_factory=frozenset)
    releases: bool = True


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


def _bare_nodes() -> list[Any]:
    return [scored.node for scored in planted_nodes()]


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
        {
            "sync": lambda built, _: built.transform_documents(planted_documents()),
            "async": lambda built, _: built.atransform_documents(planted_documents()),
        },
        releases=False,
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
        {
            "sync": lambda built, _: built(_bare_nodes()),
            "async": lambda built, _: built.acall(_bare_nodes()),
        },
        releases=False,
    ),
)
