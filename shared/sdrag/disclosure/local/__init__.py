"""
From a constraint's words to spans, without a language model.

The passages are read as one text, so that what one of them says about a name holds in
the others. Types named in a constraint are looked up among the mentions a detector
found; where it asks for whatever identifies somebody, the tagger finds what has no
type. What needs understanding is marked by the trained scorer, or without it by
sentences close in meaning. The question is never seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sdrag.detectors import Detector, tagger
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.local.dossier import Dossier, gather
from sdrag.disclosure.local.named import is_name, named
from sdrag.disclosure.local.reading import Reading, read
from sdrag.disclosure.local.scored import CAUTIONS, Caution, scored
from sdrag.disclosure.local.scorer import available
from sdrag.disclosure.local.similar import similar
from sdrag.disclosure.local.typed import sparing_officials, typed
from sdrag.policy import CautionName
from sdrag.steps import Failure, Outcome, Reply, Steps
from sdrag.vocabulary import Constraint, Finding, Passage

__all__ = ["LocalLocator", "networks"]

_LONG = 100_000
"""Characters from which on a constraint that names types and little else is left to
them, and the tagger asked no more: each network reads some ten kilobytes a second."""


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """
    Find what constraints withhold.

    Args:
        detector: Finds the mentions.
        caution: `high` puts privacy first, `balanced` gives some of it up for text
            that can still be read.
    """

    detector: Detector = field(default_factory=LocalDetector)
    caution: CautionName = "high"

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """
        Find, in each passage, what each constraint withholds.

        Args:
            passages: Neighbours of one another: what one says of a person holds in all.
            constraints: All that apply.

        Returns:
            One outcome per passage; a passage that cannot be judged is a `Failure`.
        """
        if not passages or not constraints:
            return [Reply(()) for _ in passages]
        dossier = gather(passages)
        readings = [read(constraint) for constraint in constraints]
        detector = _detector(self.detector, dossier, readings)
        (outcome,) = yield from detector.detect([dossier.text])
        if isinstance(outcome, Failure):
            return [outcome for _ in passages]
        mentions = outcome.value
        others = [reading for reading in readings if not is_name(reading)]
        meant = yield from _meant(dossier, others, CAUTIONS[self.caution])
        if isinstance(meant, Failure):
            return [meant for _ in passages]
        found = [
            *typed(dossier, mentions, readings),
            *named(dossier, mentions, readings),
            *meant.value,
        ]
        kept = sparing_officials(found, dossier, mentions, readings)
        return [Reply(findings) for findings in dossier.divide(kept)]


def networks() -> str:
    """Name the networks that are installed: what is found depends on them."""
    names = {"scorer": available(), "tagger": tagger.available()}
    return ",".join(name for name, there in names.items() if there)


def _detector(own: Detector, dossier: Dossier, readings: Sequence[Reading]) -> Detector:
    """Add the tagger where a constraint asks for whatever identifies somebody."""
    asked = any(reading.identifying for reading in readings)
    if not asked or isinstance(own, TaggerDetector) or len(dossier.text) > _LONG:
        return own
    return TaggerDetector(own) if tagger.available() else own


def _meant(
    dossier: Dossier, readings: Sequence[Reading], caution: Caution
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find what types do not tell."""
    if available():
        long = len(dossier.text) > _LONG
        asked = [r for r in readings if not (r.plain and long)]
        return (yield from scored(dossier, asked, caution))
    return (yield from similar(dossier, [r for r in readings if r.meaning]))
