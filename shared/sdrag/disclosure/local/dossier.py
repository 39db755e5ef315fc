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
    """

    text: str
    starts: tuple[int, ...]
    lengths: tuple[int, ...]

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
    """Join the texts of passages."""
    starts = []
    length = 0
    for passage in passages:
        starts.append(length)
        length += len(passage.text) + len(_JOINT)
    return Dossier(
        _JOINT.join(passage.text for passage in passages),
        tuple(starts),
        tuple(len(passage.text) for passage in passages),
    )
