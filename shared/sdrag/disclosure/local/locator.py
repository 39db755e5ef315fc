"""
The local engine: finds in each document what the constraints withhold.

Types named in a constraint are looked up among the mentions of a detector; where it
asks for whatever identifies somebody, the tagger finds what has no type. Names and
the cues of known concepts are matched; what needs understanding is decided by the
trained networks. Without them it is left to the model, and without either it is
refused: see `sdrag.disclosure.setup`. The question is never seen.

Detections are unioned; nothing suppresses one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sdrag.detectors import Detector, detector_identity, tagger, types_of
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_meaning import THRESHOLDS, find_by_meaning, needs_meaning
from sdrag.disclosure.local.by_name import find_by_name
from sdrag.disclosure.local.by_pattern import find_by_pattern
from sdrag.disclosure.local.by_type import find_by_cue, find_by_type, find_sure
from sdrag.disclosure.local.by_value import ValueWeigher
from sdrag.disclosure.local.joined_text import JoinedText, find_mentions
from sdrag.disclosure.local.scorer import is_available
from sdrag.disclosure.texts import by_document
from sdrag.effects.steps import Failure, Outcome, Reply, Steps, replied, try_each
from sdrag.embeddings import installed
from sdrag.text.spans import shift
from sdrag.vocabulary import Constraint, Finding, Mention, Passage, Sensitivity

FindingsOutcome = Outcome[tuple[Finding, ...]]

_VERSION = 20
"""Raised with every change of what is found, so that corpora are located anew."""


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """
    Find what constraints withhold.

    Args:
        detector: Finds the mentions.
        sensitivity: A higher one withholds more, and a lower one leaves more text that
            can still be read.
        meaning: Whether the trained networks decide too; else what needs them is left.
        off: Recognisers of the local detector that do not run inside links either.
    """

    detector: Detector = field(default_factory=LocalDetector)
    sensitivity: Sensitivity = "balanced"
    meaning: bool = True
    off: tuple[str, ...] = ()

    @property
    def finds(self) -> frozenset[str]:
        """The types of what its detector says that it finds."""
        return types_of(self.detector)

    @property
    def identity(self) -> str:
        """Name everything that decides what is found."""
        detector = detector_identity(self.detector)
        networks = _networks() if self.meaning else "by form"
        off = f" without {','.join(self.off)}" if self.off else ""
        return f"local {_VERSION} {networks} {self.sensitivity} {detector}{off}"

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[FindingsOutcome]]:
        """
        Find, in each passage, what each constraint withholds.

        Args:
            passages: Of any documents: what one says of a person holds in the others
                of its document. One of no known document is read by itself.
            constraints: All that apply.
        """
        if not passages or not constraints:
            return [Reply(()) for _ in passages]
        parsed_rules = [parse(constraint) for constraint in constraints]
        places = by_document(passages)
        documents = [JoinedText.of([passages[i] for i in part]) for part in places]
        mentions = yield from find_mentions(documents, self.detector_for(parsed_rules))
        outcomes = try_each(
            lambda read: _locate(*read, parsed_rules, self),
            zip(documents, mentions, strict=True),
        )
        located: dict[int, FindingsOutcome] = {}
        for part, outcome in zip(places, outcomes, strict=True):
            for number, index in enumerate(part):
                located[index] = (
                    outcome
                    if isinstance(outcome, Failure)
                    else Reply(outcome.value[number])
                )
        return [located[index] for index in range(len(passages))]

    def detector_for(self, parsed_rules: Sequence[ParsedConstraint]) -> Detector:
        """Return the detector, with the tagger where it is needed."""
        wanted = any(parsed.identifying for parsed in parsed_rules)
        if not wanted or isinstance(self.detector, TaggerDetector):
            return self.detector
        return TaggerDetector(self.detector) if tagger.available() else self.detector

    def weigher_for(self, parsed_rules: Sequence[ParsedConstraint]) -> ValueWeigher:
        """
        Return what weighs the values.

        Of a host's detector every finding stays, and where recognisers are switched off
        nothing takes their place.
        """
        return ValueWeigher(
            parsed_rules,
            self.sensitivity,
            judges=isinstance(self.detector, LocalDetector),
            adds=not self.off,
        )


def _networks() -> str:
    """Name the networks that are installed: what is found depends on them."""
    if not installed():
        return ""
    names = {
        "gate": is_available("gate"),
        "scorer": is_available("scorer"),
        "tagger": tagger.available(),
    }
    return ",".join(name for name, available in names.items() if available)


def _locate(
    document: JoinedText,
    outcome: Outcome[tuple[Mention, ...]],
    parsed_rules: Sequence[ParsedConstraint],
    locator: LocalLocator,
) -> list[tuple[Finding, ...]]:
    """Return the findings of each passage of a document."""
    mentions = replied(outcome)
    gated = list(filter(needs_meaning, parsed_rules if installed() else ()))
    default = locator.sensitivity
    limits = [THRESHOLDS[p.constraint.sensitivity or default] for p in gated]
    typed = list(find_by_type(document, mentions, parsed_rules, locator.off))
    by_form = [
        *locator.weigher_for(parsed_rules).weigh(document, mentions, typed),
        *_find_cues(document, parsed_rules),
    ]
    # The gate decides all of them but structured identifiers, people, and types that
    # are all that a constraint asks for.
    everywhere = {
        p.constraint.id: {*p.worded, "PERSON"}
        for p in gated
        if p.meaning and " " in p.subject
    }
    proposals = [
        finding
        for finding in by_form
        if finding.reason != "checked"
        and finding.type not in everywhere.get(finding.constraint_id, {finding.type})
    ]
    findings = [
        *set(by_form).difference(proposals),
        *find_by_name(document, mentions, parsed_rules),
        *find_sure(document.text, parsed_rules),
        *find_by_pattern(document, parsed_rules),
    ]
    if locator.meaning:
        findings += find_by_meaning(document, proposals, gated, limits)
    return document.divide(findings)


def _find_cues(
    document: JoinedText, parsed_rules: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield the sentences of each passage, read alone, that speak of a known topic."""
    for passage in filter(None, document.passages):
        for finding in find_by_cue(passage.of(document.text), parsed_rules):
            yield replace(finding, span=shift(finding.span, passage.start))
