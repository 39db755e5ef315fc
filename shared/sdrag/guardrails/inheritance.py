"""
What a chunk inherits from its document, at ingest.

"Each chunk needs its own access metadata, inherited from its parent document's
section-level permissions", and "document-level metadata (access permissions,
publication date, source credibility) is stored at the document level and inherited by
chunks" (section 3.5). A chunk that touches several sections is as closed as the most
closed of them: roles, tenants and uses are intersected, the highest level and the
earliest date of expiry hold. What is left of an empty intersection is nobody, and so is
who may see a chunk that touches something without a tag, or without a tenant where
another part has one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdrag.errors import UsageError
from sdrag.guardrails.metadata_dates import last_instant
from sdrag.policy import AccessSection, Policy
from sdrag.vocabulary import Span

__all__ = ["NOBODY", "DocumentSection", "inherited", "nobodys"]

NOBODY = "sdrag:nobody"
"""Stands in a list of tags that would else be empty; stores refuse those."""
_ABOVE_ALL = 2**53
"""A level that nobody has, and that every store can hold."""


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """
    A stretch of a document with facts of its own.

    Args:
        span: In the document's text.
        metadata: What differs from the document's.
    """

    span: Span
    metadata: Mapping[str, Any]


def inherited(
    chunk: Span,
    document: Mapping[str, Any],
    sections: Sequence[DocumentSection],
    policy: Policy,
) -> dict[str, Any]:
    """
    Return the facts that a chunk takes over, to be put over its own metadata.

    Args:
        chunk: Where it is in the document.
        document: The document's metadata.
        sections: Of the document; where none is, the document's facts hold.
        policy: Names the keys.

    Raises:
        UsageError: A tag is of a type that cannot be compared.
    """
    touched = [section.metadata for section in sections if section.span.overlaps(chunk)]
    layers = [{**document, **metadata} for metadata in touched] or [dict(document)]
    if touched and not _covered(chunk, sections):
        layers.append(dict(document))
    facts: dict[str, Any] = {}
    for key, join in _joins(policy).items():
        values = [layer[key] for layer in layers if layer.get(key) is not None]
        if values:
            facts[key] = join(values)
    facts |= _closed(layers, policy.access) if policy.access else {}
    for key in _copied(policy):
        if document.get(key) is not None:
            facts[key] = document[key]
    return facts


def _closed(
    layers: Sequence[Mapping[str, Any]], section: AccessSection
) -> dict[str, Any]:
    """Close a chunk where something it touches has no tenant, or another."""
    if section.without_principal == "public":
        return {}
    names = (section.tenant_key, section.roles_key, section.level_key, section.uses_key)
    keys = [key for key in names if key]
    tagged = [any(layer.get(key) is not None for key in keys) for layer in layers]
    tenants = [layer.get(section.tenant_key or "") is not None for layer in layers]
    mixed = any(tagged) and not all(tagged)
    if mixed or (any(tenants) and not all(tenants)):
        return nobodys(section)
    return {}


def nobodys(section: AccessSection) -> dict[str, Any]:
    """Return tags that admit nobody, under keys that the policy looks at."""
    listed = [key for key in (section.tenant_key, section.roles_key) if key]
    keys = listed or [key for key in (section.uses_key,) if key]
    if keys or not section.level_key:
        return {key: [NOBODY] for key in keys}
    return {section.level_key: _ABOVE_ALL}


def _joins(policy: Policy) -> dict[str, Any]:
    """Say how the values of several sections become one, by key."""
    joins: dict[str, Any] = {}
    if policy.access:
        for key in (
            policy.access.tenant_key,
            policy.access.roles_key,
            policy.access.uses_key,
        ):
            if key:
                joins[key] = _common
        if policy.access.level_key:
            joins[policy.access.level_key] = _highest
    if policy.staleness:
        joins[policy.staleness.valid_until_key] = _earliest
    return joins


def _copied(policy: Policy) -> list[str]:
    """Name the facts that belong to the document as a whole."""
    keys: list[str] = []
    if policy.staleness:
        keys += [
            policy.staleness.updated_key,
            policy.staleness.version_key,
            policy.staleness.superseded_by_key,
            policy.staleness.document_key,
        ]
    if policy.contradictions:
        keys += [policy.contradictions.authority_key, policy.contradictions.updated_key]
        keys.append(policy.contradictions.topic_key)
    return keys


def _common(values: list[Any]) -> Any:
    """Intersect tags; a single value stays unchanged."""
    if all(value == values[0] for value in values):
        return values[0]
    sets = [frozenset(map(_tag, _listed(value))) for value in values]
    return sorted(frozenset.intersection(*sets), key=str) or [NOBODY]


def _listed(value: Any) -> Collection[Any]:
    return value if isinstance(value, (list, tuple, set, frozenset)) else (value,)


def _tag(value: Any) -> str | int | float:
    if not isinstance(value, (str, int, float)):
        raise UsageError(
            "A tag must be a string, a number or a list of them, got"
            f" {type(value).__name__}."
        )
    return value


def _highest(values: list[Any]) -> Any:
    if not all(isinstance(value, (int, float)) for value in values):
        raise UsageError("A level in the metadata must be a number.")
    return max(values)


def _earliest(values: list[Any]) -> Any:
    """The first to expire; what cannot be read is kept, since it is doubt."""
    unreadable = [value for value in values if last_instant(value) is None]
    if unreadable:
        return unreadable[0]
    return min(values, key=lambda value: last_instant(value) or value)


def _covered(chunk: Span, sections: Sequence[DocumentSection]) -> bool:
    """Say whether every character of a chunk lies in a section."""
    reached = chunk.start
    for section in sorted(sections, key=lambda item: item.span):
        if section.span.start > reached:
            return False
        reached = max(reached, section.span.end)
        if reached >= chunk.end:
            return True
    return False
