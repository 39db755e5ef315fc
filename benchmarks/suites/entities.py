"""
How well a detector finds what identifies people.

The measures of the Text Anonymization Benchmark (Pilan et al. 2022, section 5): recall
and precision over tokens, and recall over entities, where an entity counts only when
every one of its mentions is covered to the last token. DIRECT and QUASI identifiers are
to be masked; NO_MASK is not, so masking it costs precision. For data with types and no
identifier classes, everything annotated is to be masked, and F2 is given. The
contextual spans of RedactionBench count neither way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.suites.json_files import read_rows
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector, available
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import replied, run
from sdrag.vocabulary import Confidential, Mention, Span

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

    def wanted(self, *also: str) -> list[Gold]:
        """Return the mentions that are to be masked, and those of other classes."""
        return [g for g in self.gold if g.identifier in {"DIRECT", "QUASI", *also}]


def entities(
    data: Path,
    engine: Literal["local", "rules"] = "local",
    part: Literal["all", "tuning", "aside"] = "all",
) -> dict[str, Any]:
    """
    Measure a detector of what identifies people on annotated texts.

    The engine is all that is installed, or its rules; the part two thirds of the
    documents to tune on, or the other third.
    """
    documents = [
        document
        for number, document in enumerate(read_annotated(data))
        if part == "all" or (number % 3 == 2) == (part == "aside")
    ]
    tagged = engine == "local" and available()
    return measure(TaggerDetector() if tagged else LocalDetector(), documents)


def read_annotated(path: Path) -> list[Annotated]:
    """Read rows of TAB's form, of presidio-research's, or of RedactionBench's."""
    return read_rows(path, _annotated)


def _annotated(row: Mapping[str, Any]) -> Annotated:
    if "entities" in row:
        gold = [
            Gold(
                Span(of["start_offset"], of["end_offset"]),
                str(of.get("entity_type", "")),
                of["identifier_type"],
                str(of["entity_id"]),
            )
            for of in row["entities"]
        ]
        return Annotated(row["text"], tuple(gold))
    if "full_text" in row:
        gold = [
            Gold(
                Span(of["start_position"], of["end_position"]),
                of["entity_type"],
                "QUASI",
                str(number),
            )
            for number, of in enumerate(row["spans"])
        ]
        return Annotated(row["full_text"], tuple(gold))
    gold = [
        Gold(Span(of["start"], of["end"]), "", _LABELS[of["label"]], str(number))
        for number, of in enumerate(row["spans"])
    ]
    return Annotated(row["raw_text"], tuple(gold))


def measure(detector: Detector, documents: Sequence[Annotated]) -> dict[str, Any]:
    """
    Measure a detector.

    Raises:
        SdragError: A text could not be read to its end.
    """
    texts = [document.text for document in documents]
    detected: list[tuple[Mention, ...]] = [
        replied(outcome) for outcome in run(detector.detect(texts), PortRunner(Ports()))
    ]
    found = [
        [mention for mention in mentions if mention.confidence >= MASKED_FROM]
        for mentions in detected
    ]
    pairs = list(zip(documents, found, strict=True))
    known = frozenset(gold.type for document in documents for gold in document.gold)
    counts = sum((_count(*pair, known) for pair in pairs), Counter[str]())

    def share(part: str, whole: str) -> float:
        return counts[part] / counts[whole] if counts[whole] else 1.0

    return {
        "recall_token": share("right", "gold"),
        "precision_token": share("right", "masked"),
        "recall_direct": share("covered DIRECT", "DIRECT"),
        "recall_quasi": share("covered QUASI", "QUASI"),
        "f2": _f2(counts["right"], counts["masked"], counts["gold"]),
        "f2_typed": _f2(counts["typed right"], counts["typed"], counts["typed gold"]),
        "documents": len(documents),
        "errors": [error for pair in pairs for error in _errors(*pair)],
    }


def _count(
    document: Annotated, mentions: Sequence[Mention], known: frozenset[str]
) -> Counter[str]:
    text, wanted = document.text, document.wanted()
    masked = _tokens(text, [mention.span for mention in mentions])
    gold = _tokens(text, [each.span for each in wanted])
    both = _tokens(text, [each.span for each in document.wanted("EITHER")])
    complete: dict[tuple[str, str], bool] = {}
    for each in wanted:
        key = (each.identifier, each.entity)
        covered = _tokens(text, [each.span]) <= masked
        complete[key] = complete.get(key, True) and covered
    counts = Counter(gold=len(gold), right=len(gold & masked))
    counts["masked"] = len(masked - (both - gold))
    for (identifier, _), covered in complete.items():
        counts[identifier] += 1
        counts[f"covered {identifier}"] += covered
    return counts + _count_types(text, wanted, mentions, known)


def _count_types(
    text: str,
    wanted: Iterable[Gold],
    mentions: Iterable[Mention],
    known: frozenset[str],
) -> Counter[str]:
    """Count tokens whose type is right; a token has the type of its surest mention."""
    typed: dict[int, str] = {}
    for mention in sorted(mentions, key=lambda m: m.confidence):
        names = (mention.type, *_ALIASES.get(mention.type, ()))
        called = next((name for name in names if name in known), "")
        typed.update(dict.fromkeys(_tokens(text, [mention.span]), called))
    golden: dict[str, set[int]] = defaultdict(set)
    for gold in wanted:
        golden[gold.type] |= _tokens(text, [gold.span])
    counts = Counter({"typed": sum(type_ != "" for type_ in typed.values())})
    for type_, tokens in golden.items():
        counts["typed gold"] += len(tokens)
        counts["typed right"] += sum(typed.get(token) == type_ for token in tokens)
    return counts


def _errors(
    document: Annotated, mentions: Sequence[Mention]
) -> Iterator[dict[str, str]]:
    """
    Yield what was not covered, and what was masked for nothing, with its surroundings.

    This shows text: it is for the developer's own data and eyes.
    """
    text = document.text
    masked = _tokens(text, [mention.span for mention in mentions])
    wrong = [
        (f"missed {gold.identifier} {gold.type}", gold.span)
        for gold in document.wanted()
        if not _tokens(text, [gold.span]) <= masked
    ]
    spans = [gold.span for gold in document.wanted("EITHER")]
    wrong += [
        (f"needless {mention.type} {mention.reason}", mention.span)
        for mention in mentions
        if not any(mention.span.overlaps(span) for span in spans)
    ]
    for kind, span in wrong:
        yield {
            "kind": kind,
            "text": span.of(text),
            "before": text[max(0, span.start - 40) : span.start],
            "after": text[span.end : span.end + 40],
        }


def _tokens(text: str, spans: Iterable[Span]) -> set[int]:
    """Return where the tokens start that lie under the spans, in part or whole."""
    return {
        match.start()
        for span in spans
        for match in _TOKEN.finditer(text, span.start, span.end)
    }


def _f2(right: int, detected: int, wanted: int) -> float:
    """F with recall weighing twice as much as precision: 5PR / (4P + R)."""
    return 5 * right / (4 * wanted + detected) if wanted + detected else 1.0
