"""OpenTelemetry: a span and counts for each request, in both frameworks, no text."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import langchain_sdrag
from sdrag import (
    AuditEvent,
    Decision,
    HostError,
    OpenTelemetrySink,
    Options,
    Passage,
    Principal,
    open_state,
)

from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    aask,
    ask,
    langchain_retriever,
    llamaindex_retriever,
)
from ..support.scripted import canary

SECRET = canary("name")
SCENARIO = Scenario(
    "traced",
    query=f"What did {canary('question')} see?",
    passages=[
        Passage(
            canary("id"),
            f"The witness, {SECRET} Karlsson, saw a van.",
            {"tenant": "ours"},
        ),
        Passage("p2", "The harbour opens at nine.", {"tenant": "other"}),
    ],
    policy={
        "constraints": [{"id": "names", "text": "Remove names of witnesses"}],
        "access": {},
    },
    principal=Principal(canary("principal"), tenant="ours"),
)


class Telemetry:
    """A sink, and what it exported."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracing = TracerProvider()
        self.tracing.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.sink = OpenTelemetrySink(
            tracer_provider=self.tracing,
            meter_provider=MeterProvider([self.reader]),
            data_source="harbour",
        )

    def points(self) -> dict[str, list]:
        data = self.reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def telemetry():
    return Telemetry()


def ask_async(wrapper, scenario):
    return asyncio.run(aask(wrapper, scenario))


@pytest.mark.parametrize("asking", [ask, ask_async])
@pytest.mark.parametrize("build", [langchain_retriever, llamaindex_retriever])
def test_a_retrieval_is_a_span_and_counts(build, asking, telemetry):
    """Named as the conventions name it, below the span of whoever asks; no text."""
    wrapper = build(SCENARIO, audit=telemetry.sink)
    tracer = telemetry.tracing.get_tracer("host")
    with SCENARIO.acting(), tracer.start_as_current_span("request") as asked:
        asking(wrapper, SCENARIO)

    span, request = telemetry.exporter.get_finished_spans()
    assert span.parent.span_id == asked.get_span_context().span_id
    assert span.name == "retrieval harbour"
    assert span.attributes.items() >= {
        ("gen_ai.operation.name", "retrieval"),
        ("gen_ai.data_source.id", "harbour"),
        ("openinference.span.kind", "RETRIEVER"),
        ("sdrag.decisions.redacted", 1),
        ("sdrag.decisions.dropped", 1),
        ("sdrag.reasons", ("tenant",)),
    }
    assert request.start_time <= span.start_time <= span.end_time <= request.end_time
    exported = span.to_json() + telemetry.reader.get_metrics_data().to_json()
    names = ("question", "id", "principal")
    for text in (SECRET, "Karlsson", SCENARIO.query, *map(canary, names)):
        assert text not in exported


def test_decisions_are_counted_by_action_and_reason(telemetry):
    """The seconds are a histogram."""
    wrapper = langchain_retriever(SCENARIO, audit=telemetry.sink)
    with SCENARIO.acting():
        for _ in range(2):
            ask(wrapper, SCENARIO)

    points = telemetry.points()
    counts = {
        (p.attributes["sdrag.action"], p.attributes["sdrag.reason"]): p.value
        for p in points["sdrag.decisions"]
    }
    assert counts == {("redacted", ""): 2, ("dropped", "tenant"): 2}
    (redacted,) = points["sdrag.redactions"]
    assert redacted.value == 2
    assert redacted.attributes["sdrag.type"] == "person"
    (seconds,), (local,) = points["sdrag.duration"], points["sdrag.local.duration"]
    assert seconds.count == local.count == 2
    assert 0 < local.sum <= seconds.sum


@pytest.mark.parametrize("asking", [ask, ask_async])
@pytest.mark.parametrize("build", [langchain_retriever, llamaindex_retriever])
def test_a_request_that_raises_is_counted(build, asking, telemetry, monkeypatch):
    """By the code of its error; the store's own words are nowhere."""

    def fail(*_, **__):
        raise RuntimeError(SECRET)

    for store, name in ((Documents, "_get_relevant_documents"), (Nodes, "_retrieve")):
        monkeypatch.setattr(store, name, fail)
    wrapper = build(SCENARIO, audit=telemetry.sink)
    with SCENARIO.acting(), pytest.raises(HostError):
        asking(wrapper, SCENARIO)

    (seconds,) = telemetry.points()["sdrag.duration"]
    assert seconds.attributes["error.type"] == "failed-host"
    (span,) = telemetry.exporter.get_finished_spans()
    assert span.attributes["error.type"] == "failed-host"
    assert SECRET not in span.to_json()


def test_an_attribute_of_a_metric_has_few_values(telemetry):
    """Whatever an event holds: neither ids nor hosts, nor a code that nobody knows."""
    decision = Decision(SECRET, "dropped", "access", SECRET, (SECRET,), 1, ("person",))
    known = replace(decision, reason="metadata:base64:override")
    failed = (f"503@{SECRET}", "timeout", "OSError@h", SECRET, "1000000000", "True")
    event = AuditEvent("retrieve", SECRET, (decision, known), 1, model_failures=failed)
    telemetry.sink(replace(event, principal=SECRET, request_id=SECRET))

    points = [each for metric in telemetry.points().values() for each in metric]
    values = {value for point in points for value in point.attributes.values()}
    assert values == {
        *("retrieve", "dropped", "access", "other", "override", "person"),
        *("503", "timeout", "OSError", "input", "output"),
    }


def test_what_limits_a_session_is_in_the_audit_and_counted(telemetry):
    """A chain that a session would complete, by its action and its reason."""
    texts = ["Riverside Clinic, 4 May 2021.", "She left Riverside Clinic on May 4."]
    passages = [Passage(text, text, document_id=text) for text in texts]
    scenario = Scenario("session", passages, {"session": {}}, state=open_state())
    events = []
    ask(langchain_retriever(scenario, audit=[telemetry.sink, events.append]), scenario)

    (event,) = events
    (decision,) = [each for each in event.decisions if each.rule == "session"]
    assert (decision.action, decision.reason) == ("redacted", "session-risk")
    counted = [dict(p.attributes) for p in telemetry.points()["sdrag.decisions"]]
    assert counted.count(
        {
            "sdrag.stage": "retrieve",
            "sdrag.action": "redacted",
            "sdrag.rule": "session",
            "sdrag.reason": "session-risk",
        }
    )


def test_an_answer_is_checked_by_a_guardrail(telemetry):
    """Every stage that returns no documents is one."""
    options = Options(audit=telemetry.sink)
    guard = langchain_sdrag.AnswerGuard(policy={"grounding": {}}, options=options)
    answer = f"{SECRET} saw a van."
    guard.invoke({"question": SCENARIO.query, "answer": answer, "context": []})

    (span,) = telemetry.exporter.get_finished_spans()
    assert span.name == "guardrail answer"
    assert span.attributes["openinference.span.kind"] == "GUARDRAIL"
    assert "gen_ai.operation.name" not in span.attributes
    assert SECRET not in span.to_json()


def test_calls_and_tokens_of_a_model_are_counted(telemetry):
    """As the event tells them."""
    asked = Scenario(
        "model",
        SCENARIO.passages,
        {"constraints": ["Remove names of witnesses"]},
        reply=lambda prompt: "{}",
    )
    ask(langchain_retriever(asked, audit=telemetry.sink), asked)

    (span,) = telemetry.exporter.get_finished_spans()
    (calls,) = telemetry.points()["sdrag.model.calls"]
    assert calls.value == span.attributes["sdrag.model.calls"] >= 1
    assert span.attributes["gen_ai.usage.input_tokens"] > 0
