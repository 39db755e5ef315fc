"""
What is counted: requests, seconds, and what sdrag decided. No text, no user, no tenant.

With several worker processes, set `PROMETHEUS_MULTIPROC_DIR` to an empty folder. Then
each process writes its counts there, and `/metrics` of any of them shows the sum.
"""

from __future__ import annotations

import os

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from sdrag import AuditEvent

REQUESTS = Counter("rag_requests", "Requests that ended.", ["path", "outcome"])
SECONDS = Histogram("rag_request_seconds", "How long they took.", ["path"])
RUNNING = Gauge(
    "rag_requests_running", "Requests that hold a slot.", multiprocess_mode="livesum"
)
DECISIONS = Counter("rag_decisions", "What sdrag decided.", ["action", "reason"])
DISCLOSURE = Histogram("rag_disclosure_seconds", "How long retrieval took.")


def count_decisions(event: AuditEvent) -> None:
    """Count what one retrieval decided; this is an audit sink of sdrag."""
    DISCLOSURE.observe(event.seconds)
    for decision in event.decisions:
        DECISIONS.labels(decision.action, decision.reason).inc()


def exposition() -> bytes:
    """Write the counts as Prometheus reads them."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return generate_latest(registry)
