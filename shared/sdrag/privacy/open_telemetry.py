"""
OpenTelemetry: a span and metrics for each audit event, with codes and counts alone.

A retrieval is named as the semantic conventions for generative AI name it
(`gen_ai.operation.name` is `retrieval`). `openinference.span.kind` is RETRIEVER for it
and GUARDRAIL for every other stage. Neither questions nor documents are in a span, not
even where an application has opted into recording content. An attribute of a metric
has few values: no id, principal, host or document is one, and an unknown code or
class of error is `other`.
"""

from __future__ import annotations

import re
from collections import Counter
from time import time_ns
from typing import TYPE_CHECKING, Any

from sdrag.errors import require_extra
from sdrag.privacy.audit import AuditEvent
from sdrag.privacy.reasons import REASONS

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_NAME = "sdrag"
_NANOSECONDS = 1_000_000_000
_RETRIEVING = frozenset({"retrieve", "disclose", "view"})
"""The stages that return documents."""
_STATUS = re.compile("[1-5][0-9]{2}")
_FAILURES = frozenset(
    {
        *("timeout", "cut-off"),
        *("APIConnectionError", "APIError", "ClientError"),
        *("ConnectError", "ConnectionError"),
        *("ConnectionRefusedError", "ConnectionResetError"),
        *("EndpointConnectionError", "JSONDecodeError", "OSError"),
        *("RateLimitError", "ReadError", "RemoteProtocolError"),
        *("ResourceExhausted", "RuntimeError", "ServerError"),
        *("ServiceUnavailable", "ThrottlingException"),
        *("TypeError", "ValueError"),
    }
)
"""How a model fails beside HTTP statuses; the class of another error is `other`."""


class OpenTelemetrySink:
    """
    A sink that makes a span and counts of each event.

    The span is a child of the span in whose context the wrapper was called. It begins
    when the request did, and ends when its event is emitted.

    Counters: `sdrag.decisions` by action, rule and reason; `sdrag.redactions` by what
    was replaced; `sdrag.model.calls`; `sdrag.model.failures` by `error.type`;
    `sdrag.tokens` by `gen_ai.token.type`. Histograms, in seconds: `sdrag.duration`, one
    value a request, by `error.type` where it raised; `sdrag.local.duration`, without
    what models and the host took. All are by `sdrag.stage`.

    Args:
        tracer_provider: Makes the spans; the global one when missing.
        meter_provider: Makes the counters; the global one when missing.
        data_source: Names what is searched, as `gen_ai.data_source.id`. A name that
            the application chooses: it leaves with every span.

    Raises:
        MissingExtraError: The extra `otel` is not installed.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        data_source: str = "",
    ) -> None:
        with require_extra("otel", "OpenTelemetrySink"):
            from opentelemetry import metrics, trace  # noqa: PLC0415 -- an extra
        self._tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_NAME, meter_provider=meter_provider)
        self._decisions = meter.create_counter("sdrag.decisions", "{decision}")
        self._calls = meter.create_counter("sdrag.model.calls", "{call}")
        self._tokens = meter.create_counter("sdrag.tokens", "{token}")
        self._redactions = meter.create_counter("sdrag.redactions", "{redaction}")
        self._failures = meter.create_counter("sdrag.model.failures", "{failure}")
        self._duration = meter.create_histogram("sdrag.duration", "s")
        self._local = meter.create_histogram("sdrag.local.duration", "s")
        self._data_source = data_source

    def __call__(self, event: AuditEvent) -> None:
        """Make a span of an event, and count it."""
        end = time_ns()
        name = f"guardrail {event.stage}"
        if event.stage in _RETRIEVING:
            name = f"retrieval {self._data_source}".strip()
        span = self._tracer.start_span(
            name,
            attributes=self._attributes(event),
            start_time=end - int(event.seconds * _NANOSECONDS),
        )
        span.end(end)
        self._count(event)

    def _attributes(self, event: AuditEvent) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "openinference.span.kind": "GUARDRAIL",
            "sdrag.stage": event.stage,
            "sdrag.policy.hash": event.policy_hash,
            "sdrag.request.id": event.request_id,
            "sdrag.spans": sum(decision.spans for decision in event.decisions),
            "sdrag.model.calls": event.model_calls,
            "sdrag.model.round_trips": event.round_trips,
            "sdrag.model.failures": event.model_failures,
            "gen_ai.usage.input_tokens": event.tokens_in,
            "gen_ai.usage.output_tokens": event.tokens_out,
        }
        if event.stage in _RETRIEVING:
            attributes["openinference.span.kind"] = "RETRIEVER"
            attributes["gen_ai.operation.name"] = "retrieval"
            if self._data_source:
                attributes["gen_ai.data_source.id"] = self._data_source
        actions = Counter(decision.action for decision in event.decisions)
        attributes |= {f"sdrag.decisions.{each}": n for each, n in actions.items()}
        if event.error:
            attributes["error.type"] = event.error
        reasons = {decision.reason for decision in event.decisions} - {""}
        attributes["sdrag.reasons"] = tuple(sorted(reasons))
        return attributes

    def _count(self, event: AuditEvent) -> None:
        stage = {"sdrag.stage": event.stage}
        failed = {"error.type": event.error} if event.error else {}
        self._duration.record(event.seconds, {**stage, **failed})
        self._local.record(max(0.0, event.seconds - event.seconds_waited), stage)
        self._calls.add(event.model_calls, stage)
        for kind, tokens in (("input", event.tokens_in), ("output", event.tokens_out)):
            self._tokens.add(tokens, {**stage, "gen_ai.token.type": kind})
        for cause in event.model_failures:
            kind = cause.partition("@")[0]
            known = kind in _FAILURES or _STATUS.fullmatch(kind)
            self._failures.add(1, {**stage, "error.type": kind if known else "other"})
        decided = Counter((d.action, d.rule, _known(d.reason)) for d in event.decisions)
        for (action, rule, reason), count in decided.items():
            names = {"sdrag.action": action, "sdrag.rule": rule, "sdrag.reason": reason}
            self._decisions.add(count, {**stage, **names})
        types = Counter(type_ for d in event.decisions for type_ in d.types)
        for type_, count in types.items():
            self._redactions.add(count, {**stage, "sdrag.type": type_})


def _known(reason: str) -> str:
    """Return a code without where it was hidden, or `other` if it is none of ours."""
    if not reason or reason in REASONS:
        return reason
    code = reason.rpartition(":")[2]
    return code if code in REASONS else "other"
