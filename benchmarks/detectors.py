"""
Characters a second: the local detector next to Presidio's pattern recognisers.

Runs on text made here, on one core, without embeddings. Presidio is measured where it
is installed, with its pattern recognisers alone, which is the quickest it can be.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from time import process_time
from typing import Any

from sdrag.detectors.local import mentions

SENTENCES = (
    "The applicant, {name}, was born in {year} and lives in {place}.",
    "On {day} {month} {year} the company paid {sum} euros to {name}.",
    "Ring {phone} or write to {first}@example.org before the end of the week.",
    "Nothing of what was said at the meeting has been written down by anybody.",
    "It was late, and the rain that had begun in the morning would not stop.",
    "According to {name} the parcel had stood in the hall for {count} days.",
    "The committee looked at the plans again and found them too expensive.",
)
NAMES = ("Jonathan Meyers", "Farida Qureshi", "Ines Tavares", "Tobias Lindqvist")
PLACES = ("Nicosia", "Port Ellery", "Oslo", "Lund Cross")
MONTHS = ("January", "March", "June", "November")


def text(characters: int) -> str:
    """Compose text of about that many characters."""
    rng = random.Random(7)
    parts: list[str] = []
    length = 0
    while length < characters:
        name = rng.choice(NAMES)
        sentence = rng.choice(SENTENCES).format(
            name=name,
            first=name.split()[0].lower(),
            place=rng.choice(PLACES),
            month=rng.choice(MONTHS),
            day=rng.randint(1, 28),
            year=rng.randint(1950, 2024),
            sum=f"{rng.randint(1, 900)},{rng.randint(100, 999)}",
            count=rng.randint(2, 90),
            phone=f"0770 555 {rng.randint(1000, 9999)}",
        )
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)


def speed(find: Callable[[str], Any], sample: str) -> float:
    """Return characters a second of processor time, the best of three."""
    find(sample[:1000])
    best = 0.0
    for _ in range(3):
        started = process_time()
        find(sample)
        best = max(best, len(sample) / (process_time() - started))
    return best


def presidio_patterns() -> Callable[[str], Any] | None:
    """Return Presidio's recognisers that need no model, if installed."""
    if importlib.util.find_spec("presidio_analyzer") is None:
        return None
    import tldextract  # noqa: PLC0415 -- optional
    from presidio_analyzer import (  # noqa: PLC0415 -- optional
        PatternRecognizer,
        RecognizerRegistry,
    )
    from presidio_analyzer.predefined_recognizers import (  # noqa: PLC0415 -- optional
        PhoneRecognizer,
    )

    # It would ask the network for its list of domains: take the packaged one.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    plain = (PatternRecognizer, PhoneRecognizer)
    recognizers = [r for r in registry.recognizers if isinstance(r, plain)]

    def find(sample: str) -> list[Any]:
        return [
            result
            for recognizer in recognizers
            for result in recognizer.analyze(sample, recognizer.supported_entities)
        ]

    return find


def main() -> None:
    """Print both speeds side by side, on the same text."""
    sample = text(1_000_000)
    print(f"{'detector':32}{'MB/s':>8}   (processor time)")
    print(f"{'local':32}{speed(mentions, sample) / 1e6:8.3f}")
    patterns = presidio_patterns()
    if patterns is None:
        print(f"{'presidio, patterns only':32}   not installed (sdrag[presidio])")
        return
    print(f"{'presidio, patterns only':32}{speed(patterns, sample) / 1e6:8.3f}")


if __name__ == "__main__":
    main()
