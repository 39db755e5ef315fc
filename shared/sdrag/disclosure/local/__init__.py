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
from sdrag.disclosure.local.by_cue import cued
from sdrag.disclosure.local.by_meaning import THRESHOLDS, decided, is_decided
from sdrag.disclosure.local.by_name import named
from sdrag.disclosure.local.by_type import typed
from sdrag.disclosure.local.joined_text import JoinedText, document_mentions
from sdrag.disclosure.local.scorer import is_available
from sdrag.disclosure.texts import by_document
from sdrag.effects.steps import Failure, Outcome, Reply, Steps, replied, try_each
from sdrag.embeddings import installed
from sdrag.text.spans import shifted
from sdrag.vocabulary import Constraint, Finding, Mention, Passage, Sensitivity

__all__ = ["LocalLocator", "networks"]

FindingsOutcome = Outcome[tuple[Finding, ...]]

_VERSION = 9
"""Raised with every change of what is found, so that corpora are located anew."""


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """
    Find what constraints withhold.

    Args:
        detector: Finds the mentions.
        sensitivity: A higher one withholds more, and a lower one leaves more text that
            can still be read.
    """

    detector: Detector = field(default_factory=LocalDetector)
    sensitivity: Sensitivity = "balanced"

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
        united = try_each(
            lambda read: _divided(*read, asked, self.sensitivity),
            zip(documents, found, strict=True),
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
    names = {
        "gate": is_available("gate"),
        "scorer": is_available("scorer"),
        "tagger": tagger.available(),
    }
    return ",".join(name for name, there in names.items() if there)


def _detector(own: Detector, asked: Sequence[ParsedConstraint]) -> Detector:
    """Add the tagger where a constraint asks for whatever identifies somebody."""
    wanted = any(parsed.identifying for parsed in asked)
    if not wanted or isinstance(own, TaggerDetector):
        return own
    return TaggerDetector(own) if tagger.available() else own


def _divided(
    document: JoinedText,
    mentions: Outcome[tuple[Mention, ...]],
    asked: Sequence[ParsedConstraint],
    sensitivity: Sensitivity,
) -> list[tuple[Finding, ...]]:
    """
    Unite what was found in a document, and hand it back to its passages.

    Raises:
        SdragError: A part of the document could not be read.
    """
    known = replied(mentions)
    gated = list(filter(is_decided, asked if installed() else ()))
    asked_sensitivities = (parsed.constraint.sensitivity for parsed in gated)
    thresholds = [THRESHOLDS[own or sensitivity] for own in asked_sensitivities]
    meant = {
        p.constraint.id: p.everywhere for p in gated if p.meaning and " " in p.subject
    }
    found = [
        *typed(document.text, known, asked, document.sentences),
        *_cued(document, asked),
    ]
    # Structured identifiers, names, and types that are all of a constraint are hidden
    # unasked.
    proposals = [
        finding
        for finding in found
        if finding.constraint_id in meant
        and finding.reason != "checked"
        and finding.type != "PERSON"
        and finding.type not in meant[finding.constraint_id]
    ]
    asked_for = set(found).difference(proposals)
    findings = [
        *asked_for,
        *named(document, known, asked),
        *decided(document, proposals, gated, thresholds),
    ]
    return document.divide(findings)


def _cued(document: JoinedText, asked: Sequence[ParsedConstraint]) -> Iterator[Finding]:
    """Yield the sentences of each passage that speak of a known concept."""
    for passage in filter(None, document.passages):
        for found in cued(passage.of(document.text), asked):
            yield replace(found, span=shifted(found.span, passage.start))
