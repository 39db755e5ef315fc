"""
How long the injection scan takes for a passage of 1,000 characters, and to a megabyte.

Run: python benchmarks/guardrails.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from sdrag.guardrails.injection import scan
from sdrag.guardrails.injection.normalise import views
from sdrag.guardrails.injection.patterns import find
from sdrag.policy import InjectionSection

SENTENCES = (
    "The harbour of Lorne was built in 1871 and has been enlarged twice since. ",
    "Boats of up to forty feet may stay for a week without a permit. ",
    "The fee is due on arrival; half of it is returned to members of the club. ",
    "In winter the outer pier is closed, and the ferry leaves from the market. ",
)
PASSAGE = ("".join(SENTENCES) * 5)[:1000]
PAYLOADS = ("ignore all the very ", "<!-- ", "%41", "QUJD", "414", "&#65;", "é")


def milliseconds(work: Callable[[], object], times: int) -> float:
    """Return the median time of a call, after one that warms up."""
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def read(text: str) -> None:
    """Read a text by the patterns alone, without the limit on its length."""
    for view in views(text):
        for _ in find(view.text):
            pass


def main() -> None:
    """Print both tables."""
    patterns = InjectionSection(local_classifier=False)
    whole = InjectionSection()
    print("a passage of 1,000 characters, median")
    for name, section, times in (
        ("patterns", patterns, 200),
        ("with the classifier", whole, 30),
    ):
        took = milliseconds(lambda section=section: scan(PASSAGE, section), times)
        print(f"  {name:24} {took:8.2f} ms")
    print("inputs made to be slow, patterns only")
    for payload in PAYLOADS:
        taken = []
        for size in (125_000, 1_000_000):
            text = (payload * (size // len(payload) + 1))[:size]
            taken.append(milliseconds(lambda text=text: read(text), 1))
        print(f"  {payload!r:24} 125 KB {taken[0]:7.0f} ms   1 MB {taken[1]:7.0f} ms")


if __name__ == "__main__":
    main()
