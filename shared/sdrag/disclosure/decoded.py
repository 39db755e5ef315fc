"""
What texts decode to is read too, and what is found there becomes spans of the texts.

Detectors and the scorer know no base64. So a text in which something is encoded is read
twice, plain and decoded, and what only the decoded text shows is cut out of the encoded
one. The second reading frees nothing: findings of both are united.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sdrag.disclosure.texts import Group
from sdrag.engine.steps import Failure, Reply, Steps, compute
from sdrag.text.decoding import MappedText, decode
from sdrag.vocabulary import Confidential, Finding

__all__ = ["ENCODED", "Decoded", "DecodedGroup", "as_encoded", "decoded"]

ENCODED = "encoded"
"""The reason of a finding that only the decoded text shows."""


@dataclass(frozen=True, slots=True, repr=False)
class Decoded(Confidential):
    """
    What was found in what a text decodes to.

    Args:
        place: Of the text.
        text: What it decodes to.
        found: There, by rule.
    """

    place: int
    text: str
    found: dict[bytes, list[Finding]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class DecodedGroup(Confidential):
    """
    The texts of a group in which something is encoded.

    Args:
        group: What they decode to.
        ways_back: From there, by the text's place.
        failed: Why texts could not be decoded, by their places.
    """

    group: Group
    ways_back: Mapping[int, MappedText]
    failed: Mapping[int, Failure]


def decoded(group: Group) -> Steps[DecodedGroup]:
    """Decode the texts of a group; those in which nothing is encoded are left out."""
    outcomes = yield from compute(decode, [text.text for text in group.texts])
    back = {
        place: outcome.value
        for place, outcome in zip(group.places, outcomes, strict=True)
        if isinstance(outcome, Reply) and outcome.value.before is not None
    }
    texts = tuple(
        replace(text, text=back[place].text, document_id=f"{text.document_id} decoded")
        for place, text in zip(group.places, group.texts, strict=True)
        if place in back
    )
    failed = {
        place: outcome
        for place, outcome in zip(group.places, outcomes, strict=True)
        if isinstance(outcome, Failure)
    }
    return DecodedGroup(Group(tuple(back), texts, group.constraints), back, failed)


def as_encoded(findings: Iterable[Finding], back: MappedText) -> Iterator[Finding]:
    """
    Yield findings as spans of the text itself.

    Args:
        findings: In what it decodes to.
        back: The way back.
    """
    for finding in findings:
        start, end = finding.span.start, finding.span.end
        reason = ENCODED if back.is_rewritten(start, end) else finding.reason
        yield replace(finding, span=back.span(start, end), reason=reason)
