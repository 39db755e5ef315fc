"""
Detectors over models that the application loads, and the union of several detectors.

`GlinerDetector`, `PresidioDetector` and `TokenClassificationDetector` take an object of
gliner, presidio-analyzer or transformers; nothing is imported or downloaded here. A
model does not tell where it stopped reading, so texts are cut into windows that it
reads to the end. A text that a model could not read, or did not read in time, is a
`Failure` and is withheld.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, ClassVar

from sdrag.detectors import Detector, detect_each, detector_identity, types_of
from sdrag.effects.calls import try_within
from sdrag.effects.steps import Failure, Outcome, Reply, Steps
from sdrag.errors import UsageError
from sdrag.text.sentences import windows
from sdrag.text.spans import shift
from sdrag.vocabulary import Mention, Span


def _read_whole(text: str, limit: int, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Yield windows; what a model does not read to its end is halved until it does."""
    for window in windows(text, limit):
        part = window.of(text)
        if len(part) > 1 and not fits(part):
            for half in _read_whole(part, (len(part) + 1) // 2, fits):
                yield shift(half, window.start)
        elif not part.isspace():
            yield window


@dataclass(frozen=True, slots=True)
class _ModelDetector(ABC):
    """
    A detector over a model of the application's.

    Args:
        seconds: How long a text may take; one that takes longer is withheld, and so
            are those after it.
        name: Of the model, read from it when empty. What was found is kept under it,
            so another model reads a corpus again.
    """

    seconds: float = field(default=60.0, kw_only=True)
    name: str = field(default="", kw_only=True)
    _name_at: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.name:
            with suppress(AttributeError):
                object.__setattr__(self, "name", str(attrgetter(self._name_at)(self)))

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_within(self.seconds, lambda text: _sort(self._read(text)), texts)

    @abstractmethod
    def _read(self, text: str) -> Iterator[Mention]:
        """Yield the mentions in a text."""


def _sort(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(mentions, key=lambda m: (m.span, m.type)))


def _mention(span: Span, type_: str, score: float, reason: str) -> Mention:
    return Mention(span, type_, min(1.0, max(0.0, float(score))), reason)


def _within(window: Span, start: int, end: int) -> Span:
    """Return a stretch of a window as one of the text."""
    if not 0 <= start < end <= len(window):
        raise UsageError("The model's offsets are not those of its text.")
    return Span(window.start + start, window.start + end)


PRESIDIO_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "CRYPTO": "CODE",
        "DATE_TIME": "DATE",
        "MAC_ADDRESS": "CODE",
        "MEDICAL_LICENSE": "CODE",
        "NRP": "NATIONALITY",
        "US_SSN": "US_SSN",
        "UUID": "CODE",
    }
)
"""The types that Presidio's entities become, where the two have other names."""
_OF_A_COUNTRY = re.compile(r"[A-Z]{2}_")
"""Presidio's names of national identifiers, such as `UK_NHS`, begin so."""


@dataclass(frozen=True, slots=True)
class PresidioDetector(_ModelDetector):
    """
    Find what a Presidio analyzer finds.

    An analyzer made without arguments downloads a language model. A pattern that
    Presidio stops for time is skipped by it without a word.

    Args:
        analyzer: Your `AnalyzerEngine`. One whose `nlp` you set yourself is still named
            by its `models`: give it a `name`.
        language: Of the texts, as Presidio names it.
        entities: Presidio's names of what to look for; all it knows when empty.
        threshold: The least score.
        types: More types that entities become, by Presidio's names; they add to
            `PRESIDIO_TYPES`. An entity in neither keeps its name; a national identifier
            becomes a `CODE`.
    """

    _name_at = "analyzer.nlp_engine.models"
    analyzer: Any = field(repr=False)
    language: str = "en"
    entities: tuple[str, ...] = ()
    threshold: float = 0.0
    types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super(PresidioDetector, self).__post_init__()
        object.__setattr__(self, "types", {**PRESIDIO_TYPES, **self.types})

    def _read(self, text: str) -> Iterator[Mention]:
        for result in self.analyzer.analyze(
            text=text,
            language=self.language,
            entities=list(self.entities) or None,
            score_threshold=self.threshold,
        ):
            entity = result.entity_type
            is_national = _OF_A_COUNTRY.match(entity) is not None
            type_ = self.types.get(entity, "CODE" if is_national else entity)
            if result.start < result.end:
                span = Span(result.start, result.end)
                yield _mention(span, type_, result.score, "presidio")


GLINER_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "person": "PERSON",
        "organization": "ORGANIZATION",
        "location": "LOCATION",
        "address": "ADDRESS",
        "date": "DATE",
        "phone number": "PHONE_NUMBER",
        "email": "EMAIL_ADDRESS",
        "identification number": "CODE",
        "medical condition": "CONDITION",
        "medication dose": "DOSE",
        "amount of money": "MONEY",
        "job title": "JOB_TITLE",
        "nationality": "NATIONALITY",
        "age": "AGE",
    }
)
"""What GLiNER is asked for, and the type each label becomes."""
_GLINER_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
_GLINER_WORDS = 300
"""GLiNER leaves out what is behind its 384th word; a mark is a word to it."""


@dataclass(frozen=True, slots=True)
class GlinerDetector(_ModelDetector):
    """
    Find what a GLiNER model finds.

    Args:
        model: Your `GLiNER`. It knows the name of its backbone only: give two that
            share one a `name` each.
        labels: Labels in plain words, and the type each becomes.
        threshold: The least score.
        window: The most characters that the model is given at once.
    """

    _name_at = "model.config.model_name"
    model: Any = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=lambda: GLINER_LABELS)
    threshold: float = 0.4
    window: int = 1200

    def _read(self, text: str) -> Iterator[Mention]:
        for window in _read_whole(text, self.window, _gliner_reads):
            for entity in self.model.predict_entities(
                window.of(text), list(self.labels), threshold=self.threshold
            ):
                label = entity["label"]
                span = _within(window, entity["start"], entity["end"])
                type_ = self.labels.get(label, label.upper())
                yield _mention(span, type_, entity["score"], "gliner")


def _gliner_reads(text: str) -> bool:
    return sum(1 for _ in _GLINER_WORD.finditer(text)) <= _GLINER_WORDS


TOKEN_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "PER": "PERSON",
        "ORG": "ORGANIZATION",
        "LOC": "LOCATION",
        "GPE": "LOCATION",
        "MISC": "TERM",
        "private_person": "PERSON",
        "private_address": "ADDRESS",
        "private_date": "DATE",
        "private_email": "EMAIL_ADDRESS",
        "private_phone": "PHONE_NUMBER",
        "private_url": "URL",
        "account_number": "CODE",
        "secret": "CREDENTIAL",
    }
)
"""The types that labels become: those of CoNLL-2003 and of openai/privacy-filter."""
_TAG = re.compile(r"(?:([BIESLU])-)?(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TokenClassificationDetector(_ModelDetector):
    """
    Find what a token-classification pipeline of Hugging Face finds.

    Tokens of one label side by side are one mention, whether the pipeline aggregates
    them or not. The pipeline's tokenizer must be a fast one: others give no offsets.

    Args:
        pipeline: Your `transformers.pipeline("token-classification", ...)`.
        labels: More types that labels become, without the `B-` or `I-` in front; they
            add to `TOKEN_LABELS`. A label in neither becomes a type in capitals; `O` is
            none.
        threshold: The least score of a token or of an aggregated entity.
        window: The most characters that the pipeline is given at once. What its
            tokenizer makes too many tokens of is halved.
    """

    _name_at = "pipeline.model.name_or_path"
    pipeline: Any = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    threshold: float = 0.5
    window: int = 1500

    def __post_init__(self) -> None:
        super(TokenClassificationDetector, self).__post_init__()
        object.__setattr__(self, "labels", {**TOKEN_LABELS, **self.labels})

    def _read(self, text: str) -> Iterator[Mention]:
        for window in _read_whole(text, self.window, self._fits):
            yield from self._mentions(text, window)

    def _fits(self, text: str) -> bool:
        """Return True if the pipeline, which cuts off the rest, reads all of a text."""
        tokenizer = self.pipeline.tokenizer
        return bool(len(tokenizer(text)["input_ids"]) <= tokenizer.model_max_length)

    def _mentions(self, text: str, window: Span) -> list[Mention]:
        joined: list[Mention] = []
        for entity in self.pipeline(window.of(text)):
            tag, label = self._tag(entity)
            if label == "O" or entity["score"] < self.threshold:
                continue
            if entity["start"] is None:
                raise UsageError(
                    "The pipeline gives no offsets.",
                    hint="Load it with a fast tokenizer.",
                )
            span = _within(window, entity["start"], entity["end"])
            word = span.of(text)
            if word.isspace():
                continue
            # Many tokenizers count the space in front as part of a word.
            span = Span(span.end - len(word.lstrip()), span.end)
            type_ = self.labels.get(label, "_".join(label.upper().split()))
            mention = _mention(span, type_, entity["score"], "token-classification")
            if joined and _continues(text, joined[-1], mention, tag):
                before = joined.pop()
                mention = Mention(
                    Span(before.span.start, span.end),
                    type_,
                    max(before.confidence, mention.confidence),
                    mention.reason,
                )
            joined.append(mention)
        return joined

    @staticmethod
    def _tag(entity: Mapping[str, Any]) -> tuple[str, str]:
        """Return how an entity goes on (`B`, `I`, ... or nothing), and its label."""
        label = entity["entity_group"] if "entity_group" in entity else entity["entity"]
        match = _TAG.fullmatch(label)
        return (match[1] or "", match[2]) if match else ("", label)


def _continues(text: str, before: Mention, mention: Mention, tag: str) -> bool:
    """Return True if a token belongs to the mention before it."""
    if mention.type != before.type or mention.span.start < before.span.end:
        return False
    gap = text[before.span.end : mention.span.start]
    return not gap or (gap.isspace() and tag in {"I", "E", "L"})


@dataclass(frozen=True, slots=True)
class UnionDetector:
    """
    Find what any of several detectors finds.

    A text that one of them could not read is a failure, since what that one would have
    found is not known.

    Args:
        detectors: At least one.
    """

    detectors: tuple[Detector, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "detectors", tuple(self.detectors))
        if not self.detectors:
            raise UsageError("A union needs at least one detector.")

    @property
    def identity(self) -> str:
        """The names of its detectors; see `detector_identity`."""
        return f"UnionDetector({', '.join(map(detector_identity, self.detectors))})"

    @property
    def finds(self) -> frozenset[str]:
        """The types of what its detectors say that they find."""
        return frozenset().union(*map(types_of, self.detectors))

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        outcomes: list[list[Outcome[tuple[Mention, ...]]]] = [[] for _ in texts]
        for detector in self.detectors:
            read = yield from detect_each(detector, texts)
            for of_text, outcome in zip(outcomes, read, strict=True):
                of_text.append(outcome)
        return [_unite(of_text) for of_text in outcomes]


def _unite(
    outcomes: Iterable[Outcome[tuple[Mention, ...]]],
) -> Outcome[tuple[Mention, ...]]:
    """Keep the surest of the mentions that have one place and type."""
    surest: dict[tuple[Span, str], Mention] = {}
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return outcome
        for mention in outcome.value:
            key = (mention.span, mention.type)
            known = surest.get(key)
            if known is None or known.confidence < mention.confidence:
                surest[key] = mention
    return Reply(tuple(surest[key] for key in sorted(surest)))
