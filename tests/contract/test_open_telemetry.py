"""OpenTelemetry: a span and counts for each request, in both frameworks, no text."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import langchain_sdrag
import llamaindex_sdrag
from sdrag import OpenTelemetrySink, Options, Passage, Principal
from tests.support.faces import Documents, Nodes, Scenario

from ..support.scripted import canary

SECRET = canary("name")
QUESTION = f"What did {canary('question')} see?"
SCENARIO = Scenario(
    "traced",
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

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def points(self) -> dict[str, list]:
        data = self.reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


def of_langchain(scenario: Scenario, sink: OpenTelemetrySink) -> None:
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=scenario),
        policy=scenario.policy,
        options=Options(audit=sink),
    )
    with scenario.acting():
        retriever.invoke(QUESTION)


def of_langchain_async(scenario: Scenario, sink: OpenTelemetrySink) -> None:
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=scenario),
        policy=scenario.policy,
        options=Options(audit=sink),
    )
    with scenario.acting():
        asyncio.run(retriever.ainvoke(QUESTION))


def of_llamaindex(scenario: Scenario, sink: OpenTelemetrySink) -> None:
    retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(scenario),
        policy=scenario.policy,
        options=Options(audit=sink),
    )
    with scenario.acting():
        retriever.retrieve(QUESTION)


FACES = pytest.mark.parametrize(
    "ask", [of_langchain, of_langchain_async, of_llamaindex]
)


@FACES
def test_a_retrieval_is_a_span(ask):
    """Named as the conventions name it, below the span of whoever asks."""
    telemetry = Telemetry()
    with telemetry.tracing.get_tracer("host").start_as_current_span("request") as asked:
        ask(SCENARIO, telemetry.sink)

    span, request = telemetry.spans
    assert request.name == "request"
    assert span.parent is not None
    assert span.parent.span_id == asked.get_span_context().span_id
    assert span.name == "retrieval harbour"
    assert span.attributes["gen_ai.operation.name"] == "retrieval"
    assert span.attributes["gen_ai.data_source.id"] == "harbour"
    assert span.attributes["openinference.span.kind"] == "RETRIEVER"
    assert span.attributes["sdrag.decisions.redacted"] == 1
    assert span.attributes["sdrag.decisions.dropped"] == 1
    assert span.attributes["sdrag.reasons"] == ("tenant",)
    assert request.start_time <= span.start_time <= span.end_time <= request.end_time


@FACES
def test_no_text_is_in_it(ask):
    """Nor the question, an id, or who asks: in no span, and in no metric."""
    telemetry = Telemetry()
    ask(SCENARIO, telemetry.sink)

    said = "".join(span.to_json() for span in telemetry.spans)
    said += telemetry.reader.get_metrics_data().to_json()
    assert said
    for text in (SECRET, "Karlsson", QUESTION, canary("id"), canary("principal")):
        assert text not in said
    assert canary("question") not in said


@FACES
def test_decisions_are_counted(ask):
    """By action, rule and reason; the seconds are a histogram."""
    telemetry = Telemetry()
    ask(SCENARIO, telemetry.sink)
    ask(SCENARIO, telemetry.sink)

    points = telemetry.points()
    counted = {
        (
            point.attributes["sdrag.action"],
            point.attributes["sdrag.reason"],
        ): point.value
        for point in points["sdrag.decisions"]
    }
    assert counted["redacted", ""] == 2
    assert counted["dropped", "tenant"] == 2
    (seconds,) = points["sdrag.duration"]
    assert seconds.count == 2
    assert seconds.sum > 0


def test_an_answer_is_checked_by_a_guardrail():
    """Every stage that returns no documents is one."""
    telemetry = Telemetry()
    guard = langchain_sdrag.AnswerGuard(
        policy={"grounding": {}}, options=Options(audit=telemetry.sink)
    )
    guard.invoke(
        {
            "question": QUESTION,
            "answer": f"{SECRET} saw a van.",
            "context": [],
        }
    )

    (span,) = telemetry.spans
    assert span.name == "guardrail answer"
    assert span.attributes["openinference.span.kind"] == "GUARDRAIL"
    assert "gen_ai.operation.name" not in span.attributes
    assert SECRET not in span.to_json()


def test_a_model_is_counted():
    """Its calls and tokens, as the event tells them."""
    telemetry = Telemetry()
    asked = replace(
        SCENARIO,
        policy={"constraints": ["Remove names of witnesses"]},
        principal=None,
        reply=lambda prompt: "{}",
    )
    from tests.support.doubles import LangChainModel  # noqa: PLC0415 -- one test

    langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=asked),
        policy=asked.policy,
        llm=LangChainModel(reply=asked.reply),
        options=Options(audit=telemetry.sink),
    ).invoke(QUESTION)

    (span,) = telemetry.spans
    (calls,) = telemetry.points()["sdrag.model.calls"]
    assert calls.value == span.attributes["sdrag.model.calls"] >= 1
    assert span.attributes["gen_ai.usage.input_tokens"] > 0
