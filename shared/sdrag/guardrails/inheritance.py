"""
What a chunk inherits from its document and its sections, at ingest.

"Each chunk needs its own access metadata, inherited from its parent document's
section-level permissions", and "document-level metadata (access permissions,
publication date, source credibility) is stored at the document level and inherited by
chunks" (section 3.5). A chunk that touches several sections is as closed as the most
closed of them: roles, tenants and uses are intersected, the highest level and the
earliest date of expiry hold. An empty intersection admits nobody. Neither does a chunk
that touches something without a tag, or without a tenant where another part has one.

A chunk is placed by its text, or by the character at which its splitter says that it
begins. A chunk that cannot be placed may be of any section, so no principal sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sdrag.errors import UsageError
from sdrag.guardrails.access import AccessSection
from sdrag.guardrails.results import Screened
from sdrag.guardrails.staleness import last_instant
from sdrag.policy import Policy
from sdrag.text.nested import items_of
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Decision, Passage, Span

NOBODY = "sdrag:nobody"
"""Stands in a list of tags that would else be empty; stores refuse those."""
_UNREACHABLE_LEVEL = 2**53
"""A level that no principal has, and that every store can hold."""

Metadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A stretch of a document's text, with what of its metadata differs."""

    span: Span
    metadata: Metadata


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Confidential):
    """A chunk, and the character of its document that it begins at, if that is said."""

    passage: Passage
    start: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ParentDocuments(Confidential):
    """
    The documents that chunks were cut from.

    Args:
        documents: By id, whole.
        sections: By the id of the document; where none is, the document's metadata
            holds for all of it.
    """

    documents: Mapping[str, Passage]
    sections: Mapping[str, Sequence[DocumentSection]] = field(default_factory=dict)

    def of(self, passage: Passage, keys: Sequence[str]) -> str | None:
        """Return the id of a chunk's document, if it is one of these."""
        names = (passage.document_id, *(passage.metadata.get(key) for key in keys))
        return next((str(name) for name in names if str(name) in self.documents), None)


def inherit(
    chunks: Sequence[Chunk], parents: ParentDocuments, policy: Policy
) -> Screened:
    """
    Put over the metadata of each chunk what it inherits, by the keys of a policy.

    All chunks are returned, in their order, and a decision for each that could not be
    placed. A tag that cannot be compared is a `UsageError`.
    """
    kept: list[Passage] = []
    decisions: list[Decision] = []
    closed = tags_for_nobody(policy.access) if policy.access else {}
    for chunk in chunks:
        passage, metadata = chunk.passage, {}
        name = parents.of(passage, policy.disclosure.document_keys)
        place = None
        if name is not None:
            document, sections = parents.documents[name], parents.sections.get(name, ())
            whole = Span(0, max(1, len(document.text)))
            place = _place(chunk, document.text) if sections else whole
            # In doubt all sections are touched, and the most closed of them holds.
            metadata = combine_metadata(
                place or whole, document.metadata, sections, policy
            )
        if place is None:
            metadata |= closed
            decisions.append(Decision(passage.id, "withheld", "access", "unplaced"))
        kept.append(replace(passage, metadata={**passage.metadata, **metadata}))
    return Screened(tuple(kept), tuple(decisions))


def _place(chunk: Chunk, text: str) -> Span | None:
    """Return where a chunk is in the text of its document, if that is certain."""
    part, start = chunk.passage.text, chunk.start
    if not part:
        return None
    if start is None or start < 0 or text[start : start + len(part)] != part:
        start = text.find(part)
        if start < 0 or text.find(part, start + 1) >= 0:
            return None
    return Span(start, start + len(part))


def combine_metadata(
    chunk: Span,
    document: Metadata,
    sections: Sequence[DocumentSection],
    policy: Policy,
) -> dict[str, Any]:
    """Return the metadata that a chunk takes over, to be put over its own."""
    touched = [section.metadata for section in sections if section.span.overlaps(chunk)]
    layers = [{**document, **metadata} for metadata in touched] or [dict(document)]
    covered = SpanUnion(section.span for section in sections)
    if touched and not covered.contains(chunk):
        layers.append(dict(document))
    metadata = {
        key: document[key]
        for key in _document_keys(policy)
        if document.get(key) is not None
    }
    for key, combine in _combiners(policy).items():
        values = [layer[key] for layer in layers if layer.get(key) is not None]
        if values:
            metadata[key] = combine(values)
    if policy.access and _mixes_tags(layers, policy.access):
        metadata |= tags_for_nobody(policy.access)
    return metadata


def _mixes_tags(layers: Sequence[Metadata], section: AccessSection) -> bool:
    """Say whether a part has no tag, or no tenant, where another part has one."""
    if section.without_principal == "public":
        return False
    names = (section.tenant_key, section.roles_key, section.level_key, section.uses_key)
    keys = [key for key in names if key]
    tagged = [any(layer.get(key) is not None for key in keys) for layer in layers]
    tenants = [layer.get(section.tenant_key or "") is not None for layer in layers]
    return any(any(has) and not all(has) for has in (tagged, tenants))


def tags_for_nobody(section: AccessSection) -> dict[str, Any]:
    """Return tags that admit nobody, under keys that the policy looks at."""
    listed = [key for key in (section.tenant_key, section.roles_key) if key]
    keys = listed or [key for key in (section.uses_key,) if key]
    if keys or not section.level_key:
        return {key: [NOBODY] for key in keys}
    return {section.level_key: _UNREACHABLE_LEVEL}


def _combiners(policy: Policy) -> dict[str, Callable[[list[Any]], Any]]:
    """Say by key how the values of several sections become one."""
    combined: dict[str, Callable[[list[Any]], Any]] = {}
    if access := policy.access:
        tags = (access.tenant_key, access.roles_key, access.uses_key)
        combined |= {key: _intersect for key in tags if key}
        if access.level_key:
            combined[access.level_key] = _highest
    if policy.staleness:
        combined[policy.staleness.valid_until_key] = _earliest
    return combined


def _document_keys(policy: Policy) -> list[str]:
    """Name the metadata that belongs to the document as a whole."""
    keys: list[str] = []
    if stale := policy.staleness:
        keys += [stale.updated_key, stale.version_key]
        keys += [stale.superseded_by_key, stale.document_key]
    if conflict := policy.contradictions:
        keys += [conflict.authority_key, conflict.updated_key, conflict.topic_key]
    return keys


def _intersect(values: list[Any]) -> Any:
    """Intersect tags; a single value stays unchanged."""
    if all(value == values[0] for value in values):
        return values[0]
    lists = [items_of(value) for value in values]
    if not all(isinstance(tag, (str, int, float)) for tags in lists for tag in tags):
        raise UsageError("A tag must be a string, a number or a list of them.")
    return sorted(frozenset.intersection(*map(frozenset, lists)), key=str) or [NOBODY]


def _highest(values: list[Any]) -> Any:
    if not all(isinstance(value, (int, float)) for value in values):
        raise UsageError("A level in the metadata must be a number.")
    return max(values)


def _earliest(values: list[Any]) -> Any:
    """Return the first to expire; what cannot be read is kept, since it is doubt."""
    unreadable = [value for value in values if last_instant(value) is None]
    if unreadable:
        return unreadable[0]
    return min(values, key=lambda value: last_instant(value) or value)
