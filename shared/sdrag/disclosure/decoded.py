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
from sdrag.effects.steps import Failure, Reply, Steps, compute
from sdrag.text.decoding import decode
from sdrag.text.mapped import MappedText
from sdrag.vocabulary import Confidential, Finding

__all__ = ["ENCODED", "Decoded", "DecodedGroup", "as_encoded", "decoded"]

ENCODED = "encoded"
"""The reason of a finding that only the decoded text shows."""


@dataclass(frozen=True, slots=True, repr=False)
class Decoded(Confidential):
    """
    What was found in what a text decodes to.

    Args:
        text_index: Of the text, among all.
        text: What it decodes to.
        found: There, by rule.
    """

    text_index: int
    text: str
    found: dict[bytes, list[Finding]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class DecodedGroup(Confidential):
    """
    The texts of a group in which something is encoded.

    Args:
        group: What they decode to.
        ways_back: From there, by the text's index.
        failed: Why texts could not be decoded, by their indices.
    """

    group: Group
    ways_back: Mapping[int, MappedText]
    failed: Mapping[int, Failure]


def decoded(group: Group) -> Steps[DecodedGroup]:
    """Decode the texts of a group; those in which nothing is encoded are left out."""
    outcomes = yield from compute(decode, [text.text for text in group.texts])
    back = {
        text_index: outcome.value
        for text_index, outcome in zip(group.text_indices, outcomes, strict=True)
        if isinstance(outcome, Reply) and outcome.value.before is not None
    }
    texts = tuple(
        replace(
            text, text=back[text_index].text, document_id=f"{text.document_id} decoded"
        )
        for text_index, text in zip(group.text_indices, group.texts, strict=True)
        if text_index in back
    )
    failed = {
        text_index: outcome
        for text_index, outcome in zip(group.text_indices, outcomes, strict=True)
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
