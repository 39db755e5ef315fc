"""What is left when a load is over: slots, calls of the model, and the counts."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

__all__ = ["Aftermath", "seen_after"]

_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Aftermath:
    """
    What a service shows once nobody asks any more.

    Args:
        ready: It would answer.
        running: Requests that hold a slot, in all of its processes.
        streams: Answers that the model is still writing.
        cut_off: Answers that the model stopped, since nobody waited for them.
        outcomes: Requests by their outcome, summed over all processes.
        metrics: All that it shows.
    """

    ready: bool
    running: float
    streams: int
    cut_off: int
    outcomes: Counter[str]
    metrics: str

    @property
    def free(self) -> bool:
        """Whether nothing goes on."""
        return self.ready and not self.running and not self.streams


def seen_after(service: str, model: str) -> Aftermath:
    """Look until nothing goes on, for some seconds at most."""
    deadline = time.monotonic() + _PATIENCE
    while not (seen := _seen(service, model)).free and time.monotonic() < deadline:
        time.sleep(0.2)
    return seen


def _seen(service: str, model: str) -> Aftermath:
    ready = httpx.get(f"{service}/health/ready", timeout=60).status_code == 200
    metrics = httpx.get(f"{service}/metrics", timeout=60).text
    calls = httpx.get(f"{model}/calls", timeout=60).json()
    running, outcomes = 0.0, Counter[str]()
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            if sample.name == "rag_requests_running":
                running += sample.value
            if sample.name == "rag_requests_total":
                outcomes[sample.labels["outcome"]] += int(sample.value)
    return Aftermath(
        ready, running, calls["running"], calls["cut off"], outcomes, metrics
    )
