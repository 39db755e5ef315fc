"""
From a constraint's words to spans, without a language model.

Documents are read one by one, and within each nothing that is found is taken away: see
`document_mentions` and `scored`. Types named in a constraint are looked up among the
mentions a detector found; where it asks for whatever identifies somebody, the tagger
finds what has no type. What a document says of a known concept goes by the sentence.
What needs understanding is marked by the trained scorer. Without the scorer it is left
to the model, and without either it is refused: see `sdrag.disclosure.understood`. The
question is never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sdrag.detectors import Detector, detector_identity, tagger
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.documents import by_document
from sdrag.disclosure.local.cue_locator import cued
from sdrag.disclosure.local.joined_text import JoinedText, document_mentions
from sdrag.disclosure.local.name_locator import named
from sdrag.disclosure.local.public_officials import spared, titled_officials
from sdrag.disclosure.local.scorer import available
from sdrag.disclosure.local.scorer_locator import Thresholds, scored
from sdrag.disclosure.local.type_locator import typed
from sdrag.engine.deadlines import check_time
from sdrag.engine.steps import Failure, Outcome, Reply, Steps, compute, replied
from sdrag.errors import UsageError
from sdrag.minilm import installed
from sdrag.text.spans import shifted
from sdrag.vocabulary import Constraint, Finding, Mention, Passage

__all__ = ["LocalLocator", "networks"]

FindingsOutcome = Outcome[tuple[Finding, ...]]

_VERSION = 6
"""Raised with every change of what is found, so that corpora are located anew."""


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """
    Find what constraints withhold.

    Args:
        detector: Finds the mentions.
        sensitivity: From 0 to 1. A higher one withholds more, and a lower one leaves
            more text that can still be read; see `sdrag.policy.SENSITIVITIES`.

    Raises:
        UsageError: The sensitivity is no number from 0 to 1.
    """

    detector: Detector = field(default_factory=LocalDetector)
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.sensitivity <= 1.0:
            raise UsageError("`sensitivity` must be a number from 0 to 1.")

    @property
    def identity(self) -> str:
        """Name everything that decides what is found."""
        detector = detector_identity(self.detector)
        return f"local {_VERSION} {networks()} {self.sensitivity} {detector}"

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[FindingsOutcome]]:
        """
        Find, in each passage, what each constraint withholds.

        Args:
            passages: Of any documents: what one says of a person holds in the others
                of its document. One of no known document is read by itself.
            constraints: All that apply.

        Returns:
            One outcome per passage; a passage that cannot be decided is a `Failure`.
        """
        if not passages or not constraints:
            return [Reply(()) for _ in passages]
        asked = [parse(constraint) for constraint in constraints]
        places = by_document(passages)
        documents = [JoinedText.of([passages[i] for i in own]) for own in places]
        found = yield from document_mentions(documents, _detector(self.detector, asked))
        others = [parsed for parsed in asked if not parsed.surely_names]
        thresholds = Thresholds.at(self.sensitivity)
        meant = yield from _meant(documents, others, thresholds)
        united = yield from compute(
            lambda read: _divided(*read, asked, thresholds),
            zip(documents, found, meant, strict=True),
        )
        located: dict[int, FindingsOutcome] = {}
        for own, outcome in zip(places, united, strict=True):
            for index, passage_index in enumerate(own):
                located[passage_index] = (
                    outcome
                    if isinstance(outcome, Failure)
                    else Reply(outcome.value[index])
                )
        return [located[index] for index in range(len(passages))]


def networks() -> str:
    """Name the networks that are installed: what is found depends on them."""
    if not installed():
        return ""
    names = {"scorer": available(), "tagger": tagger.available()}
    return ",".join(name for name, there in names.items() if there)


def _detector(own: Detector, asked: Sequence[ParsedConstraint]) -> Detector:
    """Add the tagger where a constraint asks for whatever identifies somebody."""
    wanted = any(parsed.identifying for parsed in asked)
    if not wanted or isinstance(own, TaggerDetector):
        return own
    return TaggerDetector(own) if tagger.available() else own


def _meant(
    documents: Sequence[JoinedText],
    asked: Sequence[ParsedConstraint],
    thresholds: Thresholds,
) -> Steps[list[FindingsOutcome]]:
    """Find what types do not tell."""
    if available():
        return (yield from scored(documents, asked, thresholds))
    return [Reply(()) for _ in documents]


def _divided(
    document: JoinedText,
    mentions: Outcome[tuple[Mention, ...]],
    understood: FindingsOutcome,
    asked: Sequence[ParsedConstraint],
    thresholds: Thresholds,
) -> list[tuple[Finding, ...]]:
    """
    Unite what was found in a document, and hand it back to its passages.

    Raises:
        SdragError: A part of the document could not be read.
    """
    known, meant = replied(mentions), replied(understood)
    findings = [
        *typed(document.text, known, asked, document.sentences),
        *named(document, known, asked),
        *_cued(document, asked, thresholds.plain_in_cued),
        *meant,
    ]
    check_time()
    officials = titled_officials(document.text, known)
    return document.divide(spared(findings, asked, officials))


def _cued(
    document: JoinedText, asked: Sequence[ParsedConstraint], plain: int
) -> Iterator[Finding]:
    """Yield the sentences of each passage that speak of a known concept."""
    for passage in filter(None, document.passages):
        for found in cued(passage.of(document.text), asked, plain):
            yield replace(found, span=shifted(found.span, passage.start))
