"""
PatternScan one text for orders: what is suspicious, where, and how sure.

Views are read by patterns, which are certain of what they find, and by the trained
head, which gives each window of sentences a score. A text that is longer than the
policy allows, or is mostly padding, is suspicious as a whole: both push the rest of
the context, or an order, to where nobody looks.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.guardrails.injection import patterns
from sdrag.guardrails.injection.normalise import CIPHERS, TextView, views
from sdrag.policy import InjectionSection
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from sdrag.guardrails.injection.classifier import Windows

__all__ = [
    "PatternScan",
    "Scan",
    "Suspicion",
    "scan",
    "scan_patterns",
    "with_suspected",
]

_BLANK = re.compile(r"\s{200,}+|[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]{20,}+")
_PADDED_LENGTH = 600
_LEAST_INFORMATION = 0.06


@dataclass(frozen=True, slots=True)
class Suspicion:
    """
    A stretch that speaks to the model.

    Args:
        span: In the text as it was given.
        reason: The pattern, disguise or classifier that found it; never its words.
        score: From 0 to 1.
    """

    span: Span
    reason: str
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Scan:
    """
    What was found in a text.

    Args:
        suspicions: In no particular order; empty for a clean text.
        whole: The text as a whole is suspicious; no part of it can be cut out.
    """

    suspicions: tuple[Suspicion, ...] = ()
    whole: bool = False

    @property
    def score(self) -> float:
        """The highest score of a suspicion, 0 for a clean text."""
        return max((suspicion.score for suspicion in self.suspicions), default=0.0)


Classify = Callable[["Windows"], Sequence[tuple[Span, float]]]
"""Gives windows and the probability of each that it is an injection."""


@dataclass(frozen=True, slots=True)
class PatternScan:
    """
    What the patterns made of a text.

    Args:
        found: What they found.
        windows: The windows for the head; None where it is not to be asked.
    """

    found: Scan
    windows: Windows | None = None


def scan(
    text: str, section: InjectionSection, *, classify: Classify | None = None
) -> Scan:
    """
    Scan a text with the patterns and, where the policy says so, the trained head.

    Args:
        text: As the store holds it.
        section: The policy's.
        classify: Another head than the shipped one.

    Raises:
        MissingExtraError: The head is asked for and the extra `local` is missing.
    """
    reading = scan_patterns(text, section)
    if reading.windows is None:
        return reading.found
    if classify is None:
        from sdrag.guardrails.injection import classifier  # noqa: PLC0415 -- numpy

        classify = classifier.classify
    return with_suspected(reading, classify(reading.windows), section)


def scan_patterns(text: str, section: InjectionSection) -> PatternScan:
    """Read a text by the patterns, and cut it for the head where that is asked."""
    if not text:
        return PatternScan(Scan())
    everything = Span(0, len(text))
    if len(text) > section.max_characters:
        return PatternScan(Scan((Suspicion(everything, "oversized"),), whole=True))
    if _is_padding(text):
        return PatternScan(Scan((Suspicion(everything, "padding"),), whole=True))
    readings = tuple(views(text, section.decode_depth))
    found = Scan(tuple(_by_pattern(readings)))
    if not section.local_classifier:
        return PatternScan(found)
    from sdrag.guardrails.injection.classifier import cut  # noqa: PLC0415 -- numpy

    return PatternScan(found, cut(text, readings))


def with_suspected(
    reading: PatternScan,
    windows: Sequence[tuple[Span, float]],
    section: InjectionSection,
) -> Scan:
    """Add to what the patterns found the windows that the head suspects."""
    suspected = (
        Suspicion(span, "out-of-place", chance)
        for span, chance in windows
        if chance >= section.threshold
    )
    return Scan((*reading.found.suspicions, *suspected), reading.found.whole)


def _by_pattern(readings: Sequence[TextView]) -> Iterator[Suspicion]:
    for view in readings:
        ciphered = view.disguise in CIPHERS
        for name, start, end in patterns.find(view.text, ciphered=ciphered):
            reason = f"{view.disguise}:{name}" if view.disguise else name
            yield Suspicion(view.locate(start, end), reason)


def _is_padding(text: str) -> bool:
    """Say whether a text hides behind blanks, or repeats itself to fill the context."""
    if _BLANK.search(text):
        return True
    if len(text) < _PADDED_LENGTH:
        return False
    raw = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(raw, 1)) < _LEAST_INFORMATION * len(raw)
