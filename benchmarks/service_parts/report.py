"""What a load has shown, as it is printed, and what of it must not be."""

from __future__ import annotations

from benchmarks.service_parts.aftermath import Aftermath
from benchmarks.service_parts.clients import Load
from benchmarks.service_parts.record import Record, percentile

__all__ = ["faults", "printed"]

_PARTS = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def printed(load: Load, after: Aftermath) -> None:
    """Print it."""
    record, seconds = load.record, load.elapsed
    print(
        f"seconds: {seconds:.0f}; requests: {record.asked}; policy swaps: {load.swaps}"
    )
    print(f"answers: {record.answers}, {record.answers / seconds:.1f} a second")
    print(f"whole answer: {_times(record.latencies)}")
    print(f"first line: {_times(record.first_lines)}")
    print(f"/health/live meanwhile: {_times(record.probes)}")
    print(f"memory: {_memory(record)}")
    print(f"by status: {_counts(record.statuses)}")
    print(f"left by their clients: {_counts(record.left)}")
    print(f"errors: {_counts(record.errors)}")
    if load.wrapped:
        print(f"leaks: {_counts(record.leaks)}")
    print(f"counted by the service: {_counts(after.outcomes)}")
    print(
        f"afterwards: {after.running:.0f} slots taken, {after.streams} calls of the"
        f" model running, {after.cut_off} cut off in time"
    )


def faults(load: Load, after: Aftermath, written: int) -> list[str]:
    """
    Say what must not be.

    Args:
        load: That is over.
        after: What the service showed then.
        written: How many canaries are in its log and in its metrics.
    """
    record, left = load.record, load.record.left.total()
    ended, counted = record.statuses.total(), after.outcomes.total()
    found = {
        "There were errors.": record.errors.total(),
        "There was no answer.": not record.answers,
        "Something leaked, or could not be checked.": record.leaks.total(),
        "The log or the metrics hold a canary.": written,
        "Something goes on, or holds a slot.": not after.free,
        "The service has counted other requests.": not ended
        <= counted
        <= ended + left + record.errors.total(),
        "The service has counted other answers.": not record.answers
        <= after.outcomes["200"]
        <= record.answers + left,
        "The service has counted other refusals.": not record.statuses["503"]
        <= after.outcomes["503"]
        <= record.statuses["503"] + left,
    }
    return [fault for fault, is_so in found.items() if is_so]


def _times(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    times = ((name, percentile(seconds, part)) for name, part in _PARTS)
    return ", ".join(f"{name} {time:.0f} ms" for name, time in times)


def _memory(record: Record) -> str:
    step = max(1, len(record.memory) // 10)
    sizes = ", ".join(f"{size:.0f}" for _, size in record.memory[::step])
    return f"{sizes} MB; {record.slope():+.2f} MB a minute after warm-up"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {n}" for name, n in sorted(counts.items())) or "none"
