"""
How long a warm answer takes to check, next to the time to embed the same sentences.

Seven claims are checked against eight passages by `grounding` and `contradictions`. No
check that embeds can be faster than the embedding, so the ratio says what is left.

Run: python benchmarks/answers.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.steps import run
from sdrag.guardrails.answer import Draft, guard
from sdrag.minilm import embed_tokens
from sdrag.policy import Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

PLACES = ("Arden", "Brook", "Corby", "Dale", "Elm", "Ford", "Glen", "Holt")
TEXT = (
    "The harbour of {0} was built in 18{1}1 by the town council. Boats of up to {1}0"
    " feet may stay a week. The fee is {1}5 pounds, due on arrival, and half of it is"
    " returned to members of the club. In winter the outer pier of {0} is closed, and"
    " the ferry leaves from the market."
)
CLAIM = "The harbour of {0} was built in 18{1}1, and its fee is {1}5 pounds on arrival."
PASSAGES = tuple(
    Passage(place, TEXT.format(place, at)) for at, place in enumerate(PLACES, start=1)
)
ANSWER = " ".join(CLAIM.format(place, at) for at, place in enumerate(PLACES[:7], 1))
POLICY = Policy.read({"grounding": {}, "contradictions": {}})
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def seconds(work: Callable[[], object], times: int = 7) -> float:
    """Return the median time of a call, after one that warms up."""
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def check() -> None:
    """Check the answer once."""
    draft = Draft("", ANSWER, PASSAGES)
    run(guard(draft, POLICY, now=NOW), PortRunner(Ports()))


def main() -> None:
    """Print both times and their ratio."""
    texts = [
        span.of(text)
        for text in (ANSWER, *(passage.text for passage in PASSAGES))
        for span in sentences(text)
    ]
    checked, embedded = seconds(check), seconds(lambda: embed_tokens(texts))
    print(f"checking 7 claims against 8 passages  {checked * 1000:7.0f} ms")
    print(f"embedding the same {len(texts)} sentences     {embedded * 1000:7.0f} ms")
    print(f"ratio                                 {checked / embedded:7.2f}")


if __name__ == "__main__":
    main()
