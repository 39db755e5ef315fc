"""
How well a detector finds what identifies people.

The measures of the Text Anonymization Benchmark (Pilan et al. 2022, section 5): recall
and precision over tokens, and recall over entities, where an entity counts only when
every one of its mentions is covered to the last token. DIRECT and QUASI identifiers are
to be masked; NO_MASK is not, so masking it costs precision. For data with types and no
identifier classes, everything annotated is to be masked, and F2 is given for each type.
The contextual spans of RedactionBench count neither way.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.suites.json_files import read_rows
from sdrag.detectors import Detector
from sdrag.effects.steps import EffectRunner, replied, run
from sdrag.vocabulary import Confidential, Mention, Span

__all__ = ["Annotated", "Gold", "measure", "missed", "read_annotated"]

MASKED_FROM = 0.5
"""Mentions less sure than this name what many share; masking them identifies nobody."""

_TOKEN = re.compile(r"\w+")
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "ORGANIZATION": ("ORG",),
    "LOCATION": ("GPE", "LOC"),
    "ADDRESS": ("STREET_ADDRESS", "LOC"),
    "DATE": ("DATE_TIME", "DATETIME"),
    "TIME": ("DATE_TIME", "DATETIME"),
    "DURATION": ("DATE_TIME", "DATETIME"),
    "AGE": ("DEM",),
    "NATIONALITY": ("NRP", "DEM"),
    "RELIGION": ("NRP", "DEM"),
    "JOB_TITLE": ("TITLE", "DEM"),
    "CONDITION": ("DEM",),
    "RELATION": ("DEM",),
    "TITLE": ("PERSON",),
    "MONEY": ("QUANTITY",),
    "DOSE": ("QUANTITY",),
    "PHONE_NUMBER": ("CODE",),
    "EMAIL_ADDRESS": ("CODE",),
    "URL": ("DOMAIN_NAME", "CODE"),
    "TERM": ("MISC",),
    "SUBSTANCE": ("MISC",),
    "WEAPON": ("MISC",),
}
"""What data sets call our types; the first name that a data set uses counts."""


_LABELS = {"mandatory": "QUASI", "contextual": "EITHER"}
"""What RedactionBench says of a span: to be masked, or a matter of taste."""
_NOT_WANTED = {"NO_MASK", "EITHER"}


@dataclass(frozen=True, slots=True)
class Gold:
    """
    An annotated mention.

    Args:
        span: Where.
        type: The data set's name for what it is.
        identifier: DIRECT, QUASI, NO_MASK or EITHER.
        entity: Which mentions belong together.
    """

    span: Span
    type: str
    identifier: str
    entity: str


@dataclass(frozen=True, slots=True, repr=False)
class Annotated(Confidential):
    """A text and its gold mentions."""

    text: str
    gold: tuple[Gold, ...]


@dataclass(slots=True)
class _Counts:
    """Running sums over documents."""

    gold: int = 0
    masked: int = 0
    right: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    covered: Counter[str] = field(default_factory=Counter)
    by_type: dict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )


def read_annotated(path: Path) -> list[Annotated]:
    """
    Read rows of `text` and `entities`, `full_text` and `spans`, or RedactionBench's.

    Raises:
        UsageError: The file is neither.
    """
    return read_rows(path, _annotated, "an annotated text")


def measure(
    detector: Detector, documents: Sequence[Annotated], runner: EffectRunner
) -> dict[str, Any]:
    """
    Measure a detector.

    Raises:
        SdragError: A text could not be read to its end.
    """
    started = time.perf_counter()
    outcomes = run(detector.detect([document.text for document in documents]), runner)
    seconds = time.perf_counter() - started
    counts = _Counts()
    known = frozenset(gold.type for document in documents for gold in document.gold)
    for document, outcome in zip(documents, outcomes, strict=True):
        detected: tuple[Mention, ...] = replied(outcome)
        _count(counts, document, detected, known)
    characters = sum(len(document.text) for document in documents)
    return {
        "recall_token": _share(counts.right, counts.gold),
        "precision_token": _share(counts.right, counts.masked),
        "recall_direct": _share(counts.covered["DIRECT"], counts.entities["DIRECT"]),
        "recall_quasi": _share(counts.covered["QUASI"], counts.entities["QUASI"]),
        "f2": _f2(counts.right, counts.masked, counts.gold),
        **_typed(counts.by_type),
        "documents": len(documents),
        "characters_per_second": characters / seconds if seconds else 0.0,
    }


def missed(
    detector: Detector, documents: Sequence[Annotated], runner: EffectRunner
) -> Iterator[dict[str, str]]:
    """
    Yield what was not covered, and what was masked for nothing, with its surroundings.

    This shows text: it is for the developer's own data and eyes.
    """
    outcomes = run(detector.detect([document.text for document in documents]), runner)
    for document, outcome in zip(documents, outcomes, strict=True):
        detected: tuple[Mention, ...] = replied(outcome)
        mentions = _masking(detected)
        covering = [mention.span for mention in mentions]
        for gold in document.gold:
            if gold.identifier not in _NOT_WANTED and not _covers(
                document.text, gold.span, _tokens(document.text, covering)
            ):
                kind = f"missed {gold.identifier} {gold.type}"
                yield {"kind": kind, **_shown(document.text, gold.span)}
        wanted = [g.span for g in document.gold if g.identifier != "NO_MASK"]
        for mention in mentions:
            if not any(mention.span.overlaps(span) for span in wanted):
                kind = f"needless {mention.type} {mention.reason}"
                yield {"kind": kind, **_shown(document.text, mention.span)}


def _annotated(row: Mapping[str, Any]) -> Annotated:
    if "raw_text" in row:
        text = row["raw_text"]
        gold = [
            Gold(Span(of["start"], of["end"]), "", _LABELS[of["label"]], str(number))
            for number, of in enumerate(row["spans"])
        ]
    elif "full_text" in row:
        text = row["full_text"]
        gold = [
            Gold(
                Span(of["start_position"], of["end_position"]),
                of["entity_type"],
                "QUASI",
                str(number),
            )
            for number, of in enumerate(row["spans"])
        ]
    else:
        text = row["text"]
        gold = [
            Gold(
                Span(of["start_offset"], of["end_offset"]),
                str(of.get("entity_type", "")),
                of["identifier_type"],
                str(of["entity_id"]),
            )
            for of in row["entities"]
        ]
    return Annotated(text, tuple(gold))


def _count(
    counts: _Counts,
    document: Annotated,
    detected: Iterable[Mention],
    known: frozenset[str],
) -> None:
    text = document.text
    mentions = _masking(detected)
    either = [gold.span for gold in document.gold if gold.identifier == "EITHER"]
    masked = _tokens(text, [mention.span for mention in mentions])
    wanted = [gold for gold in document.gold if gold.identifier not in _NOT_WANTED]
    gold_tokens = _tokens(text, [gold.span for gold in wanted])
    counts.gold += len(gold_tokens)
    counts.masked += len(masked - (_tokens(text, either) - gold_tokens))
    counts.right += len(gold_tokens & masked)
    complete: dict[tuple[str, str], bool] = {}
    for gold in wanted:
        key = (gold.identifier, gold.entity)
        complete[key] = complete.get(key, True) and _covers(text, gold.span, masked)
    for (identifier, _), covered in complete.items():
        counts.entities[identifier] += 1
        counts.covered[identifier] += covered
    _count_types(counts, text, wanted, mentions, known)


def _count_types(
    counts: _Counts,
    text: str,
    wanted: Iterable[Gold],
    mentions: Iterable[Mention],
    known: frozenset[str],
) -> None:
    """Count tokens by type; a token has the type of its surest mention."""
    typed: dict[int, str] = {}
    for mention in sorted(mentions, key=lambda m: m.confidence):
        type_ = _called(mention.type, known)
        typed.update(dict.fromkeys(_tokens(text, [mention.span]), type_))
    detected: dict[str, set[int]] = defaultdict(set)
    for token, type_ in typed.items():
        detected[type_].add(token)
    golden: dict[str, set[int]] = defaultdict(set)
    for gold in wanted:
        golden[gold.type] |= _tokens(text, [gold.span])
    for type_ in golden.keys() | detected.keys():
        right, ours = golden[type_], detected[type_]
        counts.by_type[type_].update(
            gold=len(right), masked=len(ours), right=len(right & ours)
        )


def _called(type_: str, known: frozenset[str]) -> str:
    """Return what a data set with those types calls one of ours."""
    if type_ in known:
        return type_
    return next((name for name in _ALIASES.get(type_, ()) if name in known), type_)


def _masking(mentions: Iterable[Mention]) -> list[Mention]:
    return [mention for mention in mentions if mention.confidence >= MASKED_FROM]


def _tokens(text: str, spans: Iterable[Span]) -> set[int]:
    """Return where the tokens start that lie under the spans, in part or whole."""
    return {
        match.start()
        for span in spans
        for match in _TOKEN.finditer(text, span.start, span.end)
    }


def _covers(text: str, span: Span, masked: set[int]) -> bool:
    return _tokens(text, [span]) <= masked


def _typed(by_type: Mapping[str, Counter[str]]) -> dict[str, Any]:
    """Return F2 by type, and over all types where a token's type must be right."""
    known = {type_: c for type_, c in by_type.items() if c["gold"]}
    total = sum(known.values(), Counter[str]())
    return {
        "f2_typed": _f2(total["right"], total["masked"], total["gold"]),
        "f2_by_type": {
            type_: _f2(c["right"], c["masked"], c["gold"])
            for type_, c in sorted(known.items())
        },
    }


def _f2(right: int, detected: int, wanted: int) -> float:
    """F with recall weighing twice as much as precision: 5PR / (4P + R)."""
    return 5 * right / (4 * wanted + detected) if wanted + detected else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _shown(text: str, span: Span) -> dict[str, str]:
    return {
        "text": span.of(text),
        "before": text[max(0, span.start - 40) : span.start],
        "after": text[span.end : span.end + 40],
    }
