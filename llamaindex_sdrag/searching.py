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

from collections.abc import Callable, Sequence
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
from sdrag.effects.callers import Caller, make_port
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
    drop_lists,
)
from sdrag.vocabulary import Passage

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


def search_with(
    base: HostRetriever, bundle: QueryBundle, seen: list[NodeWithScore]
) -> HostSearch:
    """Search with the application's retriever; `seen` takes the nodes it returns."""

    async def search_once(do: Caller, effect: Search) -> Sequence[Passage]:
        retriever = _narrow(base, effect.filters)
        if effect.limit is not None and isinstance(retriever, VectorIndexRetriever):
            retriever = copy(retriever)
            retriever.similarity_top_k = effect.limit
        # A bundle of our own: retrievers write the embedding into it.
        question = copy(bundle)
        if effect.items[0] != bundle.query_str:
            question = QueryBundle(effect.items[0])
        mute(retriever.callback_manager)
        nodes = await do(retriever.retrieve, retriever.aretrieve, question)
        passages = passages_of(nodes)
        seen.extend(nodes)
        return passages

    async def search(do: Caller, effect: Search) -> Sequence[Passage]:
        """Ask for less where the store refuses the filters."""
        try:
            return await search_once(do, effect)
        except (ValueError, NotImplementedError):
            filters = None if effect.filters is None else drop_lists(effect.filters)
        return await search_once(do, replace(effect, filters=filters))

    return make_port(search)


def _narrow(base: HostRetriever, condition: Condition | None) -> BaseRetriever:
    if isinstance(base, BaseRetriever):
        return base
    return base.retriever if condition is None else base.factory(filters_of(condition))


def filters_of(condition: Condition) -> MetadataFilters:
    """Put a condition into LlamaIndex's filters."""
    match condition:
        case And(parts) | Or(parts):
            how = FilterCondition.AND
            if isinstance(condition, Or):
                how = FilterCondition.OR
            filters = [
                filters_of(part) if isinstance(part, (And, Or)) else _single(part)
                for part in parts
            ]
            return MetadataFilters(filters=filters, condition=how)
    return MetadataFilters(filters=[_single(condition)])


def _single(condition: Eq | In | Contains | Lte) -> MetadataFilter:
    value: Any
    value = list(condition.values) if isinstance(condition, In) else condition.value
    operator = _OPERATORS[type(condition)]
    return MetadataFilter(key=condition.key, value=value, operator=operator)


_OPERATORS = {
    Eq: FilterOperator.EQ,
    In: FilterOperator.IN,
    Contains: FilterOperator.CONTAINS,
    Lte: FilterOperator.LTE,
}
