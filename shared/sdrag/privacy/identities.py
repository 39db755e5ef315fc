"""
Ids of passages in audits: an id that nobody has checked may hold a secret.

Hosts name passages after files, titles and people. A passage that redaction has looked
at is in audits under its id, or under an alias where the id holds what was withheld.
Nobody has looked at a passage that a guard dropped before. So its id is shown only
where it can say nothing: a UUID, a digest, a number, the words for parts of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b

from sdrag.vocabulary import Decision

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WORDS = "chunk|doc|document|node|note|page|paragraph|part|passage|section|unnamed"
_PART = rf"(?:{_UUID}|[0-9a-f]{{32,64}}|(?:{_WORDS})[-_]?\d{{0,6}}|[a-z]\d{{1,6}})"
_OPAQUE = re.compile(
    rf"\d{{1,6}}|{_PART}(?:[-_:.#/]{_PART}){{0,4}}(?:[-_:.#/]\d{{1,6}})?", re.IGNORECASE
)
NO_PASSAGES = {"answer", "constraints", "query"}
"""Subjects that are no passages."""


def alias(identity: str, key: bytes) -> str:
    """Return an id that tells nothing and is the same for the same id and key."""
    data = identity.encode("utf-8", "surrogatepass")
    return f"p-{blake2b(data, key=key, digest_size=8).hexdigest()}"


def shown_id(identity: str, key: bytes) -> str:
    """Return an id that can say nothing as it is, and an alias of any other."""
    return identity if _OPAQUE.fullmatch(identity) else alias(identity, key)


def pseudonymized(
    decisions: Iterable[Decision], checked: Mapping[str, str], key: bytes
) -> tuple[Decision, ...]:
    """
    Return decisions whose subjects may be shown.

    `checked`: the ids that redaction has looked at, and what each is shown as.
    """

    def subject(name: str) -> str:
        if name in checked:
            return checked[name]
        return name if name in NO_PASSAGES else shown_id(name, key)

    return tuple(
        replace(decision, subject=subject(decision.subject)) for decision in decisions
    )
