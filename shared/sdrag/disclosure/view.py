"""
A redacted view: what one audience may read, for an index of its own.

Vectors are made from text. Made from unredacted text, they answer a guess: whoever asks
for a name sees by ids and scores whether the corpus holds it. In an index of the view
nothing of what is withheld has left a trace, at the price that a question which names
it finds its passages less well.

Each document is redacted as a whole, under every constraint that binds the audience:
no question is there to rank them, and no neighbour of another document. Where a history
is kept, what the view withholds of a chunk is withheld from then on, whatever a
question puts beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.disclose import disclose
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.policy import Policy
from sdrag.steps import Steps
from sdrag.vocabulary import EVIDENCE_KEY, Confidential, Decision, Passage, Principal

__all__ = ["DOCUMENT_KEY", "View", "control_keys", "redacted_view"]

DOCUMENT_KEY = "document_id"
"""The metadata key of a document's alias in the view."""


@dataclass(frozen=True, slots=True, repr=False)
class View(Confidential):
    """
    What an audience may read.

    Args:
        passages: Redacted, with the metadata that may leave and that guards look at;
            each document under an alias. What is withheld whole is left out.
        decisions: What was decided on each passage that came in.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]


def redacted_view(
    passages: Sequence[Passage], audience: Principal | None, setup: DisclosureSetup
) -> Steps[View]:
    """
    Redact passages for an index of their own.

    Args:
        passages: Of the corpus; those of one document come together.
        audience: For whom; without one, every constraint holds.
        setup: The engine. Its limits on constraints do not hold here.
    """
    unlimited = replace(setup, policy=_unlimited(setup.policy))
    keys = control_keys(setup.policy)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for document in _documents(passages):
        found = yield from disclose(document, "", audience, unlimited)
        decisions += found.decisions
        for passage, redaction in zip(document, found.redactions, strict=True):
            if redaction.passage is not None:
                kept.append(_shown(passage, redaction.passage, keys, setup))
    return View(tuple(kept), tuple(decisions))


def control_keys(policy: Policy) -> tuple[str, ...]:
    """Return the metadata keys that guards and constraints look at."""
    sections = (policy.access, policy.staleness)
    named = [
        getattr(section, field)
        for section in sections
        if section is not None
        for field in type(section).model_fields
        if field.endswith("_key") and field != "document_key"
    ]
    named += [key for rule in policy.rules for key in rule.where]
    return tuple(dict.fromkeys(key for key in named if key is not None))


def _unlimited(policy: Policy) -> Policy:
    unlimited = {
        "apply": "all_candidates",
        "top_k": None,
        "max_candidates": None,
        "candidates_by": "similarity",
    }
    section = policy.disclosure.model_dump() | unlimited
    return Policy.read(policy.model_dump() | {"disclosure": section})


def _documents(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield the passages of each document; one of no known document stands alone."""
    documents: dict[str, list[Passage]] = {}
    for place, passage in enumerate(passages):
        known = passage.document_id
        name = f"document {known}" if known is not None else f"passage {place}"
        documents.setdefault(name, []).append(passage)
    yield from documents.values()


def _shown(
    passage: Passage, released: Passage, keys: Sequence[str], setup: DisclosureSetup
) -> Passage:
    metadata = {k: v for k, v in released.metadata.items() if k != EVIDENCE_KEY}
    metadata |= {key: passage.metadata[key] for key in keys if key in passage.metadata}
    document = passage.document_id
    if document is not None:
        document = setup.cache.key(["document", document]).hex()[:32]
        metadata[DOCUMENT_KEY] = document
    return replace(released, metadata=metadata, document_id=document)
