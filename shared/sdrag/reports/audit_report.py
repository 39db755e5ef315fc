"""An audit log as one page: counts, reasons with what to do, and latencies."""

from __future__ import annotations

from html import escape
from statistics import quantiles

from sdrag.privacy.audit_log import AuditSummary
from sdrag.reasons import explain
from sdrag.reports.page import card, page, rest, table

__all__ = ["latencies", "render_audit"]

_MOST = 200


def render_audit(summary: AuditSummary) -> str:
    """
    Return the page. It holds ids, codes and counts, as the log does, and no text.

    Args:
        summary: Of a log. The page shows the 200 most frequent constraints.
    """
    told = (
        f"{summary.stages.total():,} events from {summary.first[:19]} to "
        f"{summary.last[:19]} (UTC)."
    )
    body = [
        "<h1>Audit</h1>",
        f'<p class="soft">{escape(told)}</p>',
        _cards(summary),
        "<h2>Decisions</h2>",
        table(("Decision", "count"), summary.actions.most_common()),
        "<h2>Reasons</h2>",
        _reasons(summary),
        "<h2>Constraints</h2>",
        table(("Constraint", "passages"), summary.constraints.most_common(_MOST)),
        rest(len(summary.constraints), _MOST),
        "<h2>Time</h2>",
        _times(summary),
        "<h2>Policies</h2>",
        table(("Policy", "events"), summary.policies.most_common()),
    ]
    return page("Audit", body)


def latencies(summary: AuditSummary) -> dict[str, dict[str, float]]:
    """Return the median, the 95th percentile and the most seconds of each stage."""
    return {
        stage: {
            "p50": _percentile(seconds, 50),
            "p95": _percentile(seconds, 95),
            "most": max(seconds),
        }
        for stage, seconds in summary.seconds.items()
    }


def _percentile(values: list[float], percent: int) -> float:
    if len(values) == 1:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _cards(summary: AuditSummary) -> str:
    figures = (
        (summary.stages.total(), "events"),
        (summary.actions.total(), "decisions"),
        (summary.actions["redacted"], "passages redacted"),
        (summary.actions["withheld"], "passages withheld"),
        (summary.actions["dropped"], "passages dropped"),
        (summary.spans, "spans replaced"),
        (summary.model_calls, "model calls"),
        (summary.tokens_in + summary.tokens_out, "tokens"),
    )
    cards = "".join(card(f"{value:,}", name) for value, name in figures)
    return f'<div class="cards">{cards}</div>'


def _reasons(summary: AuditSummary) -> str:
    rows = []
    for (rule, code), count in summary.rules.most_common():
        said = explain(code)
        happened, mend = said or ("", "")
        rows.append((rule, code, count, happened, mend))
    heads = ("Rule", "Reason", "count", "What happened", "What to do")
    return table(heads, rows)


def _times(summary: AuditSummary) -> str:
    rows = [
        (
            stage,
            summary.stages[stage],
            *(f"{1000 * time[name]:.1f} ms" for name in ("p50", "p95", "most")),
        )
        for stage, time in latencies(summary).items()
    ]
    return table(("Stage", "events", "median", "95 %", "longest"), rows)
