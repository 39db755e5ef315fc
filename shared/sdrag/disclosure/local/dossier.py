"""Passages as one text, and its findings handed back to each passage."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sdrag.vocabulary import Confidential, Finding, Passage, Span

__all__ = ["Dossier", "gather"]

_JOINT = "\n\n"


@dataclass(frozen=True, slots=True, repr=False)
class Dossier(Confidential):
    """
    Texts that belong together.

    Args:
        text: All of them, a blank line between each two.
        starts: Where each begins.
        lengths: How long each is.
        documents: The number of each one's document.
    """

    text: str
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    documents: tuple[int, ...]

    def document_at(self, offset: int) -> int:
        """Return the number of the document that an offset of the text lies in."""
        return self.documents[bisect_right(self.starts, offset) - 1]

    def divide(self, findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
        """Return the findings of each passage, in its own offsets, without repeats."""
        divided: list[dict[Finding, None]] = [{} for _ in self.starts]
        for finding in findings:
            first = bisect_right(self.starts, finding.span.start) - 1
            for index in range(first, len(self.starts)):
                offset = self.starts[index]
                start = max(0, finding.span.start - offset)
                end = min(self.lengths[index], finding.span.end - offset)
                if finding.span.end <= offset:
                    break
                if start < end:
                    divided[index][
                        Finding(
                            Span(start, end),
                            finding.constraint_id,
                            finding.reason,
                            finding.confidence,
                        )
                    ] = None
        return [tuple(sorted(d, key=lambda f: f.span)) for d in divided]


def gather(passages: Sequence[Passage]) -> Dossier:
    """Join the texts of passages; one of no known document is one."""
    starts = []
    length = 0
    numbers: dict[tuple[str, str], int] = {}
    documents = []
    for passage in passages:
        starts.append(length)
        length += len(passage.text) + len(_JOINT)
        known = passage.document_id
        name = ("passage", passage.id) if known is None else ("document", known)
        documents.append(numbers.setdefault(name, len(numbers)))
    return Dossier(
        _JOINT.join(passage.text for passage in passages),
        tuple(starts),
        tuple(len(passage.text) for passage in passages),
        tuple(documents),
    )
