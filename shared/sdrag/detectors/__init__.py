"""
Finding sensitive spans, behind one Protocol.

A detector takes texts and gives, for each, the mentions it found or the failure that
kept it from looking. It is written as steps, so one shape holds for a scan of our own,
for a model of the host's (`Complete`) and for whatever a user hands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Protocol

from sdrag.effects.steps import Outcome, Steps
from sdrag.vocabulary import Mention

__all__ = ["Detector", "detector_identity"]


class Detector(Protocol):
    """Anything that finds mentions."""

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """
        Find the mentions in each text.

        The mentions of a text are sorted by span. A text that could not be read to
        its end is a `Failure`, never a shorter list.
        """
        ...


def detector_identity(detector: Detector) -> str:
    """
    Name a detector, and with it everything that decides what it finds.

    What one detector has found is kept under this name, and located anew under another
    one. A dataclass is named by the fields of its repr, others by their class.
    """
    return repr(detector) if is_dataclass(detector) else type(detector).__qualname__
