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
from sdrag import Options, acting_as

from ..support.doubles import LlamaIndexModel
from ..support.scripted import verbatim
from .canaries import CLERK, QUERY, RESTORED, SETTINGS, planted_nodes, reply
from .subject import AsyncMode, Mode, Subject
from .surfaces import audit


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


def build(kind: Any, folder: Path, *first: Any, **arguments: Any) -> Any:
    """Build a wrapper with a model that finds the canaries, and a state in a folder."""
    model = LlamaIndexModel(reply)
    shared = {"policy": SETTINGS, "llm": model, "state": folder / "state.sqlite"}
    shared["options"] = Options(audit=audit)
    return kind(*first, **shared | arguments)


def _retriever(folder: Path) -> LlamaIndexRetriever:
    kind = llamaindex_sdrag.SelectiveDisclosureRetriever
    return build(kind, folder, base_retriever=PlantedRetriever())


def _separator(folder: Path) -> Any:
    separator = llamaindex_sdrag.SourceSeparator()
    return _engine(_retriever(folder), node_postprocessors=[separator])


def _postprocessor(folder: Path) -> Any:
    hook = build(llamaindex_sdrag.SelectiveDisclosurePostprocessor, folder)
    return _engine(PlantedRetriever(), node_postprocessors=[hook])


def _bare_nodes() -> list[Any]:
    return [scored.node for scored in planted_nodes()]


def _highlighting(folder: Path) -> Any:
    def engine(*, streaming: bool) -> RetrieverQueryEngine:
        answering = llamaindex_sdrag.HighlightAndSummarize(
            policy=SETTINGS, state=folder / "state.sqlite", streaming=streaming
        )
        return RetrieverQueryEngine(_retriever(folder), answering)

    return engine


def _separating(folder: Path) -> Any:
    make = _engine(_retriever(folder))
    prompt = llamaindex_sdrag.separated_prompt()

    def separating(*, streaming: bool) -> RetrieverQueryEngine:
        engine: RetrieverQueryEngine = make(streaming=streaming)
        engine.update_prompts({"response_synthesizer:text_qa_template": prompt})
        return engine

    return separating


def _guarding(folder: Path) -> Any:
    def engine(*, streaming: bool) -> RetrieverQueryEngine:
        answering = get_response_synthesizer(
            llm=LlamaIndexModel(verbatim), streaming=streaming
        )
        guard = llamaindex_sdrag.AnswerGuard(
            answering,
            policy={**SETTINGS, "grounding": {}},
            state=folder / "state.sqlite",
        )
        return RetrieverQueryEngine(_retriever(folder), guard)

    return engine


def _restoring(folder: Path) -> Any:
    """The answer shows the clerk's values; nothing else may."""
    kind = llamaindex_sdrag.SelectiveDisclosureRetriever
    first = {"base_retriever": PlantedRetriever(), "policy": RESTORED}
    retriever = build(kind, folder, **first)
    with acting_as(CLERK):
        nodes = retriever.retrieve(QUERY)

    answering = get_response_synthesizer(llm=LlamaIndexModel(verbatim))
    state = folder / "state.sqlite"
    return llamaindex_sdrag.Restore(answering, RESTORED, state), nodes


def _restored(built: Any) -> Any:
    synthesizer, nodes = built
    with acting_as(CLERK):
        return synthesizer.synthesize(QUERY, nodes)


async def _arestored(built: Any) -> Any:
    synthesizer, nodes = built
    with acting_as(CLERK):
        return await synthesizer.asynthesize(QUERY, nodes)


def _tool(folder: Path) -> Any:
    inner = RetrieverTool.from_defaults(PlantedRetriever(), name="search")
    return build(llamaindex_sdrag.guard_tool, folder, inner)


def _summarizer(folder: Path) -> Any:
    model = LlamaIndexModel(verbatim)
    kind = llamaindex_sdrag.HierarchySummarizer
    return build(kind, folder, llm=model, show_progress=True)


NODE_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, _: built(_bare_nodes()),
    "async": lambda built, _: built.acall(_bare_nodes()),
}


def _subject(name: str, make: Any, modes: Any, **more: Any) -> Subject:
    return Subject("llamaindex", name, make, modes, **more)


def _hook(built: Any) -> Any:
    return built(streaming=False)._node_postprocessors[0]


def _synthesizer(built: Any) -> Any:
    return built(streaming=False)._response_synthesizer


SUBJECTS = (
    _subject(
        "SelectiveDisclosureRetriever",
        lambda folder: _engine(_retriever(folder)),
        _llamaindex_modes(),
        wrapper=lambda built: built(streaming=False).retriever,
    ),
    _subject(
        "SelectiveDisclosurePostprocessor",
        _postprocessor,
        _llamaindex_modes(),
        wrapper=_hook,
        host_first=frozenset({"events", "spans", "callback handlers"}),
    ),
    _subject(
        "ConstraintBinder",
        lambda folder: build(llamaindex_sdrag.ConstraintBinder, folder),
        NODE_MODES,
        releases=False,
    ),
    _subject(
        "InjectionScanner",
        lambda folder: llamaindex_sdrag.InjectionScanner(policy=SETTINGS),
        NODE_MODES,
        releases=False,
    ),
    _subject("HierarchySummarizer", _summarizer, NODE_MODES, releases=False),
    _subject(
        "RedactingTransformer",
        lambda folder: build(llamaindex_sdrag.RedactingTransformer, folder),
        NODE_MODES,
    ),
    _subject(
        "HighlightAndSummarize",
        _highlighting,
        _llamaindex_modes(),
        wrapper=_synthesizer,
    ),
    _subject(
        "LinkageMasker",
        lambda folder: llamaindex_sdrag.LinkageMasker(
            policy=SETTINGS, whole_corpus=True
        ),
        NODE_MODES,
        releases=False,
        carries_policy=frozenset({"pickles"}),
    ),
    _subject(
        "AnswerGuard",
        _guarding,
        {name: mode for name, mode in _llamaindex_modes().items() if name != "stream"},
        wrapper=_synthesizer,
    ),
    _subject(
        "Restore",
        _restoring,
        {
            "sync": lambda built, _: _restored(built),
            "async": lambda built, _: _arestored(built),
        },
        wrapper=lambda built: built[0],
        traced=frozenset({"spans"}),
        releases=False,
        goes="the values, for whom the policy exempts",
    ),
    _subject(
        "guard_tool",
        _tool,
        {
            "sync": lambda built, _: built.call(QUERY),
            "async": lambda built, _: built.acall(QUERY),
        },
    ),
    _subject("SourceSeparator", _separator, _llamaindex_modes(), wrapper=_hook),
    _subject(
        "separated_prompt",
        _separating,
        _llamaindex_modes(),
        wrapper=lambda _: llamaindex_sdrag.separated_prompt(),
    ),
    _subject(
        "separated_sources",
        _retriever,
        {
            "sync": lambda built, _: llamaindex_sdrag.separated_sources(
                built.retrieve(QUERY)
            )
        },
        wrapper=lambda _: llamaindex_sdrag.separated_sources,
    ),
)
