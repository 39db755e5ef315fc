"""
Conditions as structured queries, which every store's own translator understands.

What a translator makes of a query are arguments for the store's search. Nothing says
how two of them are joined, so where the host has set one of them up already, nothing is
pushed down: the host's own is kept, and the core fetches more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.structured_query import (
    Comparator,
    Comparison,
    FilterDirective,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)

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

__all__ = ["directive_of", "pushed"]


def pushed(
    visitor: Visitor, condition: Condition | None, held: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return the arguments that put a condition to a store.

    Args:
        visitor: The store's translator.
        condition: What it is asked to hold to.
        held: What the host has set up.

    Returns:
        Nothing where the store cannot be asked, not even for less.
    """
    if condition is None:
        return {}
    for form in (condition, unlisted(condition)):
        if form is None:
            continue
        query = StructuredQuery(query=" ", filter=directive_of(form))
        try:
            _, arguments = visitor.visit_structured_query(query)
        except (ValueError, NotImplementedError):
            continue
        taken = {key for key in arguments if held.get(key) is not None}
        return {} if taken else dict(arguments)
    return {}


def directive_of(condition: Condition) -> FilterDirective:
    """Put a condition into LangChain's structured query language."""
    match condition:
        case And(parts):
            return _all_of(Operator.AND, parts)
        case Or(parts):
            return _all_of(Operator.OR, parts)
        case Eq(key, value):
            return Comparison(Comparator.EQ, key, value)
        case In(key, values):
            return Comparison(Comparator.IN, key, list(values))
        case Contains(key, value):
            return Comparison(Comparator.CONTAIN, key, value)
        case Lte(key, value):
            return Comparison(Comparator.LTE, key, value)


def _all_of(operator: Operator, parts: Sequence[Condition]) -> FilterDirective:
    if len(parts) == 1:
        return directive_of(parts[0])
    return Operation(operator, [directive_of(part) for part in parts])
