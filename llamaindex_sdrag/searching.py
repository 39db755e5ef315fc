"""
Asking the host's retriever, within what the policy lets the store return.

A retriever keeps its filters to itself, so a condition can be put to the store only by
a retriever that is made for it: a `FilteredRetriever` makes one of the filters. For any
other the condition is not pushed down; the core checks every passage
anyway. The public `retrieve` of the inner retriever is called, so that what it does
with `IndexNode` objects is done before the core looks. The host's retriever is never
changed: where a number of nodes is wanted, a copy of it is changed. Some stores, Chroma
among them, refuse to be asked what a list holds: they are asked for less, and the core
fetches more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from llamaindex_sdrag.convert import passages_of
from llamaindex_sdrag.tracing import mute
from sdrag.effects.runner import Port
from sdrag.effects.steps import Search
from sdrag.engine import HostSearch
from sdrag.guardrails.conditions import (
    And,
    Condition,
    Contains,
    Eq,
    In,
    Lte,
    Or,
    unlisted,
)
from sdrag.vocabulary import Passage

__all__ = [
    "FilteredRetriever",
    "HostRetriever",
    "RetrieverFactory",
    "filters_of",
    "forgotten_on_error",
    "searching",
]

RetrieverFactory = Callable[[MetadataFilters], BaseRetriever]
"""Takes filters to hold to, besides the host's own, and returns a retriever."""


@dataclass(frozen=True, slots=True)
class FilteredRetriever:
    """
    A retriever of the host whose store is asked only for what may be seen.

    Args:
        retriever: The host's own.
        factory: Takes filters to hold to, besides the host's own, and returns a
            retriever.
    """

    retriever: BaseRetriever
    factory: RetrieverFactory


HostRetriever = BaseRetriever | FilteredRetriever
_REFUSALS = (ValueError, NotImplementedError)


@contextmanager
def forgotten_on_error(nodes: list[NodeWithScore]) -> Iterator[None]:
    """Empty the nodes of a request that fails: its error holds the frames it passed."""
    try:
        yield
    except BaseException:
        nodes.clear()
        raise


def searching(
    base: HostRetriever,
    bundle: QueryBundle,
    seen: list[NodeWithScore] | None = None,
) -> HostSearch:
    """
    Search with the host's retriever.

    Args:
        base: The one that is wrapped.
        bundle: What was asked; its embedding is used where it has one.
        seen: Takes the nodes that are found in this request.
    """

    def host(effect: Search) -> BaseRetriever:
        if isinstance(base, BaseRetriever):
            narrowed = base
        elif effect.filters is None:
            narrowed = base.retriever
        else:
            narrowed = base.factory(filters_of(effect.filters))
        return narrowed if effect.limit is None else _limited(narrowed, effect.limit)

    def asked(effect: Search) -> QueryBundle:
        """Make a bundle of our own: retrievers write the embedding into it."""
        question = copy(bundle)
        if effect.items[0] != bundle.query_str:
            question = QueryBundle(effect.items[0])
        return question

    def call(effect: Search) -> Sequence[Passage]:
        question, narrowed = asked(effect), host(effect)
        mute(narrowed.callback_manager)
        return _read(narrowed.retrieve(question), seen)

    async def acall(effect: Search) -> Sequence[Passage]:
        question, narrowed = asked(effect), host(effect)
        mute(narrowed.callback_manager)
        return _read(await narrowed.aretrieve(question), seen)

    return _unrefused(call, acall)


def _read(
    nodes: list[NodeWithScore], seen: list[NodeWithScore] | None
) -> Sequence[Passage]:
    passages = passages_of(nodes)
    if seen is not None:
        seen.extend(nodes)
    return passages


def _unrefused(
    call: Callable[[Search], Sequence[Passage]],
    acall: Callable[[Search], Awaitable[Sequence[Passage]]],
) -> Port[Search, Sequence[Passage]]:
    """Ask for less where the store refuses the filters."""

    def once(effect: Search) -> Sequence[Passage]:
        try:
            return call(effect)
        except _REFUSALS:
            return call(_asking_less(effect))

    async def aonce(effect: Search) -> Sequence[Passage]:
        try:
            return await acall(effect)
        except _REFUSALS:
            return await acall(_asking_less(effect))

    return Port(once, aonce)


def _asking_less(effect: Search) -> Search:
    """Return a search that asks for no list; a refusal of that is the host's."""
    filters = effect.filters
    return replace(effect, filters=None if filters is None else unlisted(filters))


def filters_of(condition: Condition) -> MetadataFilters:
    """Put a condition into LlamaIndex's filters."""
    match condition:
        case And(parts):
            return _all_of(parts, FilterCondition.AND)
        case Or(parts):
            return _all_of(parts, FilterCondition.OR)
    return MetadataFilters(filters=[_single(condition)])


def _all_of(parts: Sequence[Condition], how: FilterCondition) -> MetadataFilters:
    return MetadataFilters(
        filters=[
            filters_of(part) if isinstance(part, (And, Or)) else _single(part)
            for part in parts
        ],
        condition=how,
    )


def _single(condition: Eq | In | Contains | Lte) -> MetadataFilter:
    match condition:
        case Eq(key, value):
            return MetadataFilter(key=key, value=value, operator=FilterOperator.EQ)
        case In(key, values):
            listed: Any = list(values)
            return MetadataFilter(key=key, value=listed, operator=FilterOperator.IN)
        case Contains(key, value):
            return MetadataFilter(
                key=key, value=value, operator=FilterOperator.CONTAINS
            )
        case Lte(key, value):
            return MetadataFilter(key=key, value=value, operator=FilterOperator.LTE)


def _limited(retriever: BaseRetriever, limit: int) -> BaseRetriever:
    """Return a copy that fetches so many, where the retriever takes a limit."""
    if not isinstance(retriever, VectorIndexRetriever):
        return retriever
    limited = copy(retriever)
    limited.similarity_top_k = limit
    return limited
