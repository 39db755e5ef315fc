"""
Handing down to chunks what their documents say of themselves, at ingest.

`inherited` says what a stretch of a document takes over. Here each chunk is placed
first: the document that it names is looked up, and the chunk's text in it. Where a
framework says at which character a chunk begins, the document is looked at there. A
text that is in the document once alone is found without that. A chunk that cannot be
placed may be of any section, so it is stored, and seen by no principal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.guardrails.inheritance import DocumentSection, inherited, nobodys
from sdrag.guardrails.screened import Screened
from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Decision, Passage, Span

__all__ = ["Chunk", "ParentDocuments", "inherit"]

Sections = Mapping[str, Sequence[DocumentSection]]
_WHOLE: Sequence[DocumentSection] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Confidential):
    """
    A chunk, and where its framework says that it begins in its document.

    Args:
        passage: The chunk.
        start: In characters; None where nobody says.
    """

    passage: Passage
    start: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ParentDocuments(Confidential):
    """
    The documents that chunks were cut from.

    Args:
        documents: By id, whole.
        sections: By the id of the document; one without sections is all of a piece.
    """

    documents: Mapping[str, Passage]
    sections: Sections = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Name all that a chunk can take over of them; hash it before it leaves."""
        said = blake2b(digest_size=16)
        for name, document in self.documents.items():
            own = self.sections.get(name, _WHOLE)
            stretches = [(one.span, sorted(one.metadata.items())) for one in own]
            facts = sorted(document.metadata.items(), key=str)
            said.update(repr((name, document.text, facts, stretches)).encode())
        return said.hexdigest()

    def of(self, passage: Passage, keys: Sequence[str]) -> str | None:
        """Return the id of a chunk's document, if it is one of these."""
        named = (passage.document_id, *(passage.metadata.get(key) for key in keys))
        return next((str(name) for name in named if str(name) in self.documents), None)


def inherit(
    chunks: Sequence[Chunk], parents: ParentDocuments, policy: Policy
) -> Steps[Screened]:
    """
    Put over the metadata of each chunk what it inherits.

    Args:
        chunks: In any order.
        parents: Of the chunks.
        policy: Names the keys.

    Returns:
        All chunks, in their order. A decision names each that could not be placed.

    Raises:
        UsageError: A tag is of a type that cannot be compared.
    """
    yield from ()
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for chunk in chunks:
        facts, placed = _facts(chunk, parents, policy)
        metadata = {**chunk.passage.metadata, **facts}
        kept.append(replace(chunk.passage, metadata=metadata))
        if not placed:
            decisions.append(
                Decision(chunk.passage.id, "withheld", "access", "unplaced")
            )
    return Screened(tuple(kept), tuple(decisions))


def _facts(
    chunk: Chunk, parents: ParentDocuments, policy: Policy
) -> tuple[dict[str, Any], bool]:
    """Return what a chunk inherits, and whether it could be placed."""
    closed = nobodys(policy.access) if policy.access else {}
    name = parents.of(chunk.passage, policy.disclosure.document_keys)
    if name is None:
        return closed, False
    document, sections = parents.documents[name], parents.sections.get(name, _WHOLE)
    whole = Span(0, max(1, len(document.text)))
    found = _place(chunk, document.text) if sections else whole
    # In doubt all sections are touched, and the most closed of them holds.
    facts = inherited(found or whole, document.metadata, sections, policy)
    return (facts, True) if found else (facts | closed, False)


def _place(chunk: Chunk, text: str) -> Span | None:
    """Return where a chunk is in the text of its document, if that is certain."""
    own, start = chunk.passage.text, chunk.start
    if not own:
        return None
    if start is None or start < 0 or text[start : start + len(own)] != own:
        start = text.find(own)
        if start < 0 or text.find(own, start + 1) >= 0:
            return None
    return Span(start, start + len(own))
