"""
Ids of passages in audits: an id that was not judged may hold what must not be told.

Hosts name passages after files, titles and people. What redaction has looked at stands
in audits under its own id, or under an alias where the id holds what was withheld. A
passage that a guard dropped before that was looked at by nobody, so its id is told only
where it can say nothing: a UUID, a digest, a number, the words for parts of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b

from sdrag.vocabulary import Decision

__all__ = ["alias", "pseudonymized"]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WORDS = "chunk|doc|document|node|note|page|paragraph|part|passage|section|unnamed"
_PART = rf"(?:{_UUID}|[0-9a-f]{{32,64}}|(?:{_WORDS})[-_]?\d{{0,6}}|[a-z]\d{{1,6}})"
_OPAQUE = re.compile(
    rf"\d{{1,6}}|{_PART}(?:[-_:.#/]{_PART}){{0,4}}(?:[-_:.#/]\d{{1,6}})?", re.IGNORECASE
)
_REQUEST = {"answer", "constraints", "query"}
"""Subjects that are no passages."""


def alias(identity: str, key: bytes) -> str:
    """Return an id that tells nothing and is the same for the same id and key."""
    data = identity.encode("utf-8", "surrogatepass")
    return f"p-{blake2b(data, key=key, digest_size=8).hexdigest()}"


def pseudonymized(
    decisions: Iterable[Decision], judged: Mapping[str, str], key: bytes
) -> tuple[Decision, ...]:
    """
    Return decisions whose subjects may be told.

    Args:
        decisions: On passages by their own ids, or on the request.
        judged: The ids that redaction has looked at, and what each is told as.
        key: Makes aliases.
    """

    def subject(name: str) -> str:
        if name in judged:
            return judged[name]
        plain = name in _REQUEST or _OPAQUE.fullmatch(name)
        return name if plain else alias(name, key)

    return tuple(replace(one, subject=subject(one.subject)) for one in decisions)
