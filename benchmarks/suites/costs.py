"""
What an evaluation asked of its model: calls, round trips, tokens, replies of no use.

A request is one binding or one question. Round trips are counted for the requests that
ask; all others wait for no model at all. A reply is unreadable when it leaves open
something that was asked, read as the engine reads it; most are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean
from threading import Lock
from typing import Any

from benchmarks.suites.scripted.asked import (
    CONFIRM,
    EXTRACT,
    REPHRASE,
    Confirming,
    Extracting,
    read_prompt,
)
from sdrag.disclosure.model.replies import read_answers, read_verdicts
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import PortRunner
from sdrag.effects.steps import Steps, run
from sdrag.effects.tokens import Completion, text_of
from sdrag.vocabulary import Confidential

__all__ = ["Costs", "Overheard"]

Complete = Callable[[Prompt], Completion | str]
"""How a prompt is completed."""


class Overheard(Confidential):
    """
    A model whose replies are looked at.

    Args:
        complete: The model.
    """

    __slots__ = ("_complete", "_lock", "unreadable")

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._lock = Lock()
        self.unreadable = 0

    def __call__(self, prompt: Prompt) -> Completion | str:
        """Ask the model, and count a reply that is of no use."""
        reply = self._complete(prompt)
        if not _is_readable(prompt, text_of(reply)):
            with self._lock:
                self.unreadable += 1
        return reply


@dataclass(slots=True)
class Costs:
    """
    What one run asked of its model.

    Args:
        calls: How many prompts were sent.
        tokens_in: What the model read; estimated where its provider does not say.
        tokens_out: What it wrote.
        trips: The round trips of each request.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    trips: list[int] = field(default_factory=list)

    def run(self, steps: Steps[Any], runner: PortRunner) -> Any:
        """Run one request, and count what it asks."""
        meter = runner.meter
        before = (meter.calls, meter.tokens_in, meter.tokens_out, meter.round_trips)
        result = run(steps, runner)
        now = (meter.calls, meter.tokens_in, meter.tokens_out, meter.round_trips)
        calls, read, written, trips = (b - a for a, b in zip(before, now, strict=True))
        self.calls += calls
        self.tokens_in += read
        self.tokens_out += written
        self.trips.append(trips)
        return result

    def as_dict(self) -> dict[str, float]:
        """Return the counts, as plain data."""
        asking = _asking(self.trips)
        return {
            "requests": len(self.trips),
            "requests_that_ask": len(asking),
            "round_trips": sum(asking),
            "round_trips_mean": round(fmean(asking), 2) if asking else 0.0,
            "round_trips_most": max(asking, default=0),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }


def _asking(trips: Iterable[int]) -> list[int]:
    return [item for item in trips if item]


def _is_readable(prompt: Prompt, reply: str) -> bool:
    if prompt.name not in {CONFIRM, EXTRACT, REPHRASE}:
        return True
    asked = read_prompt(prompt)
    if isinstance(asked, Extracting):
        names = list(asked.constraints)
        return len(read_verdicts(reply, names)) == len(names)
    if isinstance(asked, Confirming):
        questions = {item.id: tuple(item.constraints) for item in asked.questions}
        return len(read_answers(reply, questions)) == len(questions)
    return bool(reply.strip())
