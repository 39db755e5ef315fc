"""
Asking the application's retriever, within what the policy lets the store return.

A condition is put to the store where its language is known, ANDed with the filter that
the application set up: a filter given at call time replaces that one in LangChain,
which could widen access. Elsewhere the condition is not pushed down; the core checks
every passage anyway. The application's retriever is never changed.

Every store but Chroma is asked by its own translator of structured queries. What that
makes are arguments of the store's search. Nothing says how two of them are joined, so
where the application has set one of them up already, nothing is pushed down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.structured_query import (
    Comparator,
    Comparison,
    FilterDirective,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_sdrag.convert import passages_of
from sdrag.effects.callers import Caller, call_sync, make_port
from sdrag.effects.steps import Search
from sdrag.engine import HostSearch
from sdrag.errors import HostError, UsageError
from sdrag.guardrails.conditions import (
    And,
    Condition,
    Contains,
    Eq,
    In,
    Or,
    as_chroma,
    both,
    drop_lists,
)
from sdrag.vocabulary import Passage

_FORWARDED = frozenset({"fetch_k", "lambda_mult", "score_threshold"})


@dataclass(frozen=True, slots=True)
class FilteredRetriever:
    """
    A retriever of the application whose store is asked only for what may be seen.

    Chroma's filter language is known without it.

    Args:
        retriever: A retriever over a store.
        translator: The store's translator of structured queries, such as
            `PGVectorTranslator()`.
    """

    retriever: Runnable[str, Any]
    translator: Visitor


HostRetriever = Runnable[str, Any] | FilteredRetriever
"""A retriever, any runnable from a question to documents, or one with filters."""


def search_with(
    base: HostRetriever, options: Mapping[str, Any], *, hidden: bool
) -> HostSearch:
    """
    Search with the application's retriever, by what the caller gave beside `k`.

    Where it is hidden, the handlers that the application bound to the retriever hear
    nothing; those of objects inside it still do.
    """
    translator = base.translator if isinstance(base, FilteredRetriever) else None
    retriever = base.retriever if isinstance(base, FilteredRetriever) else base
    is_chroma = translator is None and _is_over_chroma(retriever)
    preset: Mapping[str, Any] = getattr(retriever, "search_kwargs", {})
    _check(options, is_chroma=is_chroma)
    target = _without_handlers(retriever) if hidden else retriever

    async def search(do: Caller, effect: Search) -> Sequence[Passage]:
        given = {key: options[key] for key in _FORWARDED & options.keys()}
        if effect.limit is not None and _takes_limit(target, is_sync=do is call_sync):
            given["k"] = effect.limit
        if translator is not None:
            given |= _translate(translator, effect.filters, preset)
        elif is_chroma:
            filters = options.get("filter"), preset.get("filter")
            given |= _narrow(effect.filters, *filters)
        query = effect.items[0]
        documents = await do(target.invoke, target.ainvoke, query, **given)
        if not isinstance(documents, Sequence) or isinstance(documents, str):
            kind = type(documents).__name__
            raise HostError(f"The retriever returned a {kind}, not a list.")
        return passages_of(documents)

    return make_port(search)


def _without_handlers(retriever: Runnable[str, Any]) -> Runnable[str, Any]:
    """Return a retriever without the handlers that `with_config` bound to it."""
    if not isinstance(retriever, RunnableBindingBase):
        return retriever
    bound = _without_handlers(retriever.bound)
    config = {**retriever.config, "callbacks": None}
    update = {"bound": bound, "config": config, "config_factories": []}
    return retriever.model_copy(update=update)


def _check(options: Mapping[str, Any], *, is_chroma: bool) -> None:
    unknown = sorted(options.keys() - _FORWARDED - {"filter"})
    if unknown:
        raise UsageError(
            f"Unknown arguments at call time: {unknown}.",
            hint="Set them up on the retriever that is wrapped.",
        )
    if options.get("filter") is not None and not is_chroma:
        raise UsageError(
            "A filter given at call time could replace the host's and widen access.",
            hint="Set it up on the retriever that is wrapped.",
        )


def _is_over_chroma(retriever: Runnable[str, Any]) -> bool:
    return isinstance(retriever, VectorStoreRetriever) and any(
        base.__module__.partition(".")[0] == "langchain_chroma"
        for base in type(retriever.vectorstore).__mro__
    )


def _narrow(condition: Condition | None, asked: Any, preset: Any) -> dict[str, Any]:
    """Return the filter for Chroma; nothing keeps the application's own."""
    if condition is None and asked is None:
        return {}
    narrowed = preset if asked is None else both(asked, preset)
    if condition is not None:
        narrowed = both(as_chroma(condition), narrowed)
    return {"filter": narrowed}


def _translate(
    translator: Visitor, condition: Condition | None, preset: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return the arguments that put a condition to a store.

    Nothing where the store cannot be asked, not even for less.
    """
    if condition is None:
        return {}
    less = drop_lists(condition)
    for form in (condition, less) if less else (condition,):
        query = StructuredQuery(query=" ", filter=_directive(form))
        try:
            _, arguments = translator.visit_structured_query(query)
        except (ValueError, NotImplementedError):
            continue
        taken = any(preset.get(key) is not None for key in arguments)
        return {} if taken else dict(arguments)
    return {}


def _directive(condition: Condition) -> FilterDirective:
    """Put a condition into LangChain's structured query language."""
    match condition:
        case And(parts) | Or(parts):
            if len(parts) == 1:
                return _directive(parts[0])
            operator = Operator.AND if isinstance(condition, And) else Operator.OR
            return Operation(operator, [_directive(part) for part in parts])
        case Eq(key, value):
            return Comparison(Comparator.EQ, key, value)
        case In(key, values):
            return Comparison(Comparator.IN, key, list(values))
        case Contains(key, value):
            return Comparison(Comparator.CONTAIN, key, value)
    return Comparison(Comparator.LTE, condition.key, condition.value)


def _takes_limit(retriever: Runnable[str, Any], *, is_sync: bool) -> bool:
    """
    Say whether the retriever's own method takes `k` at call time.

    Whoever writes a synchronous method alone inherits an async one that does not.
    """
    if not isinstance(retriever, BaseRetriever):
        return False
    name = "_get_relevant_documents" if is_sync else "_aget_relevant_documents"
    parameters = signature(getattr(retriever, name)).parameters.values()
    return any(p.name == "k" or p.kind is Parameter.VAR_KEYWORD for p in parameters)
