"""An error says which step failed and how, and never what was said."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.effects.runner import Limits, Port, PortRunner, Ports
from sdrag.effects.steps import Authorize, Complete, Embed, Failure, Score, Search
from sdrag.errors import HostError, ModelError, ModelTimeoutError
from sdrag.vocabulary import Passage, Principal

from ..support.faces import RETRIEVERS, Scenario

RAW = "The witness Anna Karlsson saw it."


def failing(error):
    def call(_):
        raise error

    async def acall(_):
        raise error

    return Port(call, acall)


def outcomes(effect, error, limits):
    port = failing(error)
    runner = PortRunner(Ports(port, port, port, port, port), limits)
    once = runner.perform(effect)
    again = asyncio.run(runner.aperform(effect))
    assert [str(one.error) for one in once] == [str(one.error) for one in again]
    return once


@pytest.mark.parametrize(
    ("effect", "step", "kind"),
    [
        (
            Complete((Prompt("test", (Message("user", sensitive(RAW)),)),)),
            "language model",
            0,
        ),
        (Embed((RAW,)), "embedding model", 1),
        (Search((RAW,)), "retriever", 1),
        (Score(((RAW, RAW),), "entailment"), "judge of entailment", 1),
        (Authorize((Passage("p", RAW),), Principal("u")), "authorizer", 1),
    ],
)
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError(RAW), "failed with ValueError."),
        (KeyError(RAW), "failed with KeyError."),
        (TimeoutError(RAW), "took longer than its own limit."),
    ],
)
def test_an_error_names_the_step_and_the_type_of_its_cause(
    effect, step, kind, error, said
):
    """Sync and async, for whatever a host hands in; its message may quote a text."""
    (outcome,) = outcomes(effect, error, Limits(attempts=1))

    assert isinstance(outcome, Failure)
    assert str(outcome.error) == f"The {step} {said}"
    assert isinstance(outcome.error, (ModelError, HostError)[kind])
    assert outcome.error.__context__ is None


def test_a_call_that_is_not_answered_names_the_step():
    """The limit is ours, and the step is the host's."""
    released = threading.Event()
    hanging = Port(lambda _: released.wait(60))
    runner = PortRunner(Ports(score=hanging), Limits(seconds=0.05, attempts=1))

    (outcome,) = runner.perform(Score((("a", "b"),)))
    released.set()

    assert str(outcome.error) == "The judge of relevance: No answer within 0.05 s."


def test_an_error_of_ours_is_handed_on_as_it_is():
    """A wrapper in a wrapper has said already what failed."""
    ours = HostError("The retriever failed with ValueError.")

    (outcome,) = outcomes(Search(("q",)), ours, Limits())

    assert str(outcome.error) == str(ours)


@pytest.mark.parametrize("face", RETRIEVERS, ids=lambda face: face.__name__)
def test_a_retriever_that_fails_is_named_in_both_frameworks(face):
    """The host reads what to look at; nothing of the text."""
    with pytest.raises(HostError) as caught:
        face(Scenario("host", policy={}, query="q", fault=ConnectionError(RAW)))

    assert "The retriever failed with ConnectionError." in str(caught.value)
    assert "Karlsson" not in str(caught.value)


def test_a_late_call_stays_a_late_call():
    """Whoever catches time-outs still does."""
    (outcome,) = outcomes(
        Complete((Prompt("test", (Message("user", sensitive(RAW)),)),)),
        TimeoutError(),
        Limits(attempts=1),
    )

    assert isinstance(outcome.error, ModelTimeoutError)
