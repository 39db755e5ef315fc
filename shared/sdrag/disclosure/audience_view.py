"""
A redacted view: what one audience may read, for an index of its own.

Vectors are made from text. Made from unredacted text, they answer a guess: whoever asks
for a name sees by ids and scores whether the corpus holds it. In an index of the view
nothing of what is withheld has left a trace, at the price that a question which names
it finds its passages less well.

Each document is located as a whole and redacted under every constraint that binds the
audience: no question is there to rank them, and no neighbour of another document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.disclose import disclose
from sdrag.disclosure.ingest import locate
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import by_document
from sdrag.effects.steps import Steps
from sdrag.policy import Policy
from sdrag.vocabulary import EVIDENCE_KEY, Confidential, Decision, Passage, Principal

__all__ = ["DOCUMENT_KEY", "AudienceView", "control_keys", "redacted_view"]

DOCUMENT_KEY = "document_id"
"""The metadata key of a document's alias in the view."""


@dataclass(frozen=True, slots=True, repr=False)
class AudienceView(Confidential):
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
) -> Steps[AudienceView]:
    """
    Redact passages for an index of their own.

    Args:
        passages: Of the corpus; those of one document come together.
        audience: For whom; without one, every constraint holds.
        setup: The engine. Its limits on constraints do not hold here.
    """
    unlimited = replace(setup, policy=setup.policy.without_limits())
    yield from locate(passages, setup)
    keys = control_keys(setup.policy)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for indices in by_document(passages):
        document = [passages[index] for index in indices]
        found = yield from disclose(document, "", audience, unlimited)
        decisions += found.decisions
        for passage, redaction in zip(document, found.redactions, strict=True):
            if redaction.passage is not None:
                kept.append(_shown(passage, redaction.passage, keys, setup))
    return AudienceView(tuple(kept), tuple(decisions))


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


def _shown(
    passage: Passage, released: Passage, keys: Sequence[str], setup: DisclosureSetup
) -> Passage:
    metadata = {k: v for k, v in released.metadata.items() if k != EVIDENCE_KEY}
    metadata |= {key: passage.metadata[key] for key in keys if key in passage.metadata}
    document = passage.document_id
    if document is not None:
        document = setup.state.keys.of("view", document).hex()
        metadata[DOCUMENT_KEY] = document
    return replace(released, metadata=metadata, document_id=document)
