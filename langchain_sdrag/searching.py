"""
Asking the host's retriever, within what the policy lets the store return.

A condition is put to the store where its language is known, ANDed with the filter that
the host set up: a filter given at call time replaces the host's in LangChain, which
could widen access. Elsewhere the condition is not pushed down; the core checks every
passage anyway. The host's retriever is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.structured_query import Visitor
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_sdrag.convert import passages_of
from langchain_sdrag.structured import pushed
from sdrag.effects.runner import Port
from sdrag.effects.steps import Search
from sdrag.engine import HostSearch
from sdrag.errors import HostError, UsageError
from sdrag.guardrails.conditions import Condition, as_chroma, both
from sdrag.vocabulary import Passage

__all__ = ["FilterTranslator", "FilteredRetriever", "HostRetriever", "searching"]

Translate = Callable[[Condition, Any], Any]
FilterTranslator = Translate | Visitor
"""Takes a condition and the host's own filter, which may be None, and returns a filter
that admits what both admit; or the store's own translator of structured queries."""


@dataclass(frozen=True, slots=True)
class FilteredRetriever:
    """
    A retriever of the host whose store is asked only for what may be seen.

    Chroma's filter language is known without it.

    Args:
        retriever: A retriever over a store.
        translator: Takes a condition and the host's own filter, which may be None, and
            returns a filter that admits what both admit; or the store's own translator
            of structured queries.
    """

    retriever: Runnable[str, Any]
    translator: FilterTranslator


HostRetriever = Runnable[str, Any] | FilteredRetriever
"""A retriever, any runnable from a question to documents, or one with filters."""
_FORWARDED = frozenset({"fetch_k", "lambda_mult", "score_threshold"})


def searching(
    base: HostRetriever, options: Mapping[str, Any], *, hidden: bool
) -> HostSearch:
    """
    Search with the host's retriever.

    Args:
        base: The one that is wrapped.
        options: What the caller gave at call time in addition to `k`.
        hidden: The handlers that the application bound to the retriever hear nothing;
            those of objects inside it still do.

    Raises:
        UsageError: An option is unknown, or could widen what the host allows.
    """
    translate: FilterTranslator | None
    if isinstance(base, FilteredRetriever):
        retriever, translate = base.retriever, base.translator
    else:
        retriever, translate = base, _known_language(base)
    _check(options, translate)
    if hidden:
        retriever = _without_handlers(retriever)

    def arguments(effect: Search, method: str) -> dict[str, Any]:
        given = {key: options[key] for key in _FORWARDED & options.keys()}
        if effect.limit is not None and _takes_limit(retriever, method):
            given["k"] = effect.limit
        if isinstance(translate, Visitor):
            return given | pushed(translate, effect.filters, _held(retriever))
        narrowed = _filter(retriever, translate, effect.filters, options)
        return given if narrowed is None else {**given, "filter": narrowed}

    def call(effect: Search) -> Sequence[Passage]:
        given = arguments(effect, "_get_relevant_documents")
        found = retriever.invoke(effect.items[0], **given)
        return passages_of(_documents(found))

    async def acall(effect: Search) -> Sequence[Passage]:
        given = arguments(effect, "_aget_relevant_documents")
        found = await retriever.ainvoke(effect.items[0], **given)
        return passages_of(_documents(found))

    return Port(call, acall)


def _without_handlers(retriever: Runnable[str, Any]) -> Runnable[str, Any]:
    """Return a retriever without the handlers that `with_config` bound to it."""
    if not isinstance(retriever, RunnableBindingBase):
        return retriever
    bound = _without_handlers(retriever.bound)
    config = {**retriever.config, "callbacks": None}
    update = {"bound": bound, "config": config, "config_factories": []}
    return retriever.model_copy(update=update)


def _check(options: Mapping[str, Any], translate: FilterTranslator | None) -> None:
    unknown = sorted(options.keys() - _FORWARDED - {"filter"})
    if unknown:
        raise UsageError(
            f"Unknown arguments at call time: {unknown}.",
            hint="Set them up on the retriever that is wrapped.",
        )
    if options.get("filter") is not None and translate is not _chroma:
        raise UsageError(
            "A filter given at call time could replace the host's and widen access.",
            hint="Set it up on the retriever that is wrapped.",
        )


def _filter(
    retriever: Runnable[str, Any],
    translate: Translate | None,
    condition: Condition | None,
    options: Mapping[str, Any],
) -> Any:
    """Return what to search with; None to keep the host's own filter."""
    asked = options.get("filter")
    if translate is None or (condition is None and asked is None):
        return None
    host = _held(retriever).get("filter")
    if asked is not None:
        host = both(asked, host)
    return host if condition is None else translate(condition, host)


def _held(retriever: Runnable[str, Any]) -> Mapping[str, Any]:
    """Return what the host set its store up to be asked with."""
    held: Mapping[str, Any] = getattr(retriever, "search_kwargs", {})
    return held


def _known_language(retriever: Runnable[str, Any]) -> FilterTranslator | None:
    if not isinstance(retriever, VectorStoreRetriever):
        return None
    store = type(retriever.vectorstore)
    chroma = any(
        base.__module__.partition(".")[0] == "langchain_chroma"
        for base in store.__mro__
    )
    return _chroma if chroma else None


def _chroma(condition: Condition, host: Any) -> Any:
    return both(as_chroma(condition), host)


def _takes_limit(retriever: Runnable[str, Any], method: str) -> bool:
    """
    Say whether the retriever's own method takes `k` at call time.

    Whoever writes a synchronous method alone inherits an async one that does not.
    """
    if not isinstance(retriever, BaseRetriever):
        return False
    parameters = signature(getattr(retriever, method)).parameters
    return "k" in parameters or any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _documents(found: object) -> Sequence[Document]:
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise HostError(f"The retriever returned a {type(found).__name__}, not a list.")
    return found
