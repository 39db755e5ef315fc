"""Every public class of llamaindex_sdrag, used as its host uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import RetrieverTool

import llamaindex_sdrag

from ..support.doubles import LlamaIndexModel
from ..support.scripted import verbatim
from .canaries import QUERY, SETTINGS, planted_nodes, reply
from .subject import AsyncMode, Mode, Subject


class PlantedRetriever(LlamaIndexRetriever):
    """A host's retriever over planted nodes."""

    def _retrieve(self, query_bundle: QueryBundle) -> Any:
        return planted_nodes()


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
            state=folder / "state.sqlite",
        )
    )


def _llamaindex_separator(folder: Path) -> Any:
    return _engine(
        _llamaindex_sources(folder),
        node_postprocessors=[llamaindex_sdrag.SourceSeparator()],
    )


def _llamaindex_postprocessor(folder: Path) -> Any:
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        state=folder / "state.sqlite",
    )
    return _engine(PlantedRetriever(), node_postprocessors=[hook])


def _llamaindex_binder(folder: Path) -> Any:
    return llamaindex_sdrag.ConstraintBinder(
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        state=folder / "state.sqlite",
    )


def _llamaindex_summarizer(folder: Path) -> Any:
    return llamaindex_sdrag.HierarchySummarizer(
        policy=SETTINGS,
        llm=LlamaIndexModel(verbatim),
        state=folder / "state.sqlite",
        show_progress=True,
    )


def _llamaindex_view(folder: Path) -> Any:
    return llamaindex_sdrag.RedactingTransformer(
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        state=folder / "state.sqlite",
    )


def _bare_nodes() -> list[Any]:
    return [scored.node for scored in planted_nodes()]


def _llamaindex_highlighting(folder: Path) -> Any:
    def build(*, streaming: bool) -> RetrieverQueryEngine:
        answering = llamaindex_sdrag.HighlightAndSummarize(
            policy=SETTINGS, state=folder / "state.sqlite", streaming=streaming
        )
        retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=PlantedRetriever(),
            policy=SETTINGS,
            llm=LlamaIndexModel(reply),
            state=folder / "state.sqlite",
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
            answering,
            policy={**SETTINGS, "grounding": {}},
            state=folder / "state.sqlite",
        )
        retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=PlantedRetriever(),
            policy=SETTINGS,
            llm=LlamaIndexModel(reply),
            state=folder / "state.sqlite",
        )
        return RetrieverQueryEngine(retriever, guard)

    return build


def _llamaindex_tool(folder: Path) -> Any:
    return llamaindex_sdrag.guard_tool(
        RetrieverTool.from_defaults(PlantedRetriever(), name="search"),
        policy=SETTINGS,
        llm=LlamaIndexModel(reply),
        state=folder / "state.sqlite",
    )


NODE_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built(_bare_nodes()),
    "async": lambda built, _: built.acall(_bare_nodes()),
}


SUBJECTS = (
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
    Subject(
        "llamaindex",
        "HierarchySummarizer",
        _llamaindex_summarizer,
        NODE_MODES,
        releases=False,
    ),
    Subject("llamaindex", "RedactingTransformer", _llamaindex_view, NODE_MODES),
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
        "SourceSeparator",
        _llamaindex_separator,
        _llamaindex_modes(),
        wrapper=lambda built: built(streaming=False)._node_postprocessors[0],
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
