"""What a model refuses for now is asked again in time; what it costs is counted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.prompts import Message, Prompt, constant, sensitive
from sdrag.effects.retrying import refusal
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Complete, Failure, Reply, Search, arun, complete, run
from sdrag.effects.tokens import Completion, text_of
from sdrag.errors import ModelError, UsageError
from sdrag.options import Options
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from ..support.doubles import verdicts
from ..support.scripted import canary
from ..support.tables import each_row

SECRET = canary("secret")
SECRET_PROMPT = Prompt("p", (Message("user", sensitive(SECRET)),))
PROMPT = Prompt(
    "p", (Message("system", constant("four")), Message("user", sensitive("five!")))
)
"""Nine characters: three tokens."""


class RateLimitError(Exception):
    """Named as the clients of providers name it."""


class QuotaError(RateLimitError):
    """A class below it."""


class Raising(Exception):  # noqa: N818 -- it is none of ours
    @property
    def status_code(self):
        raise RuntimeError


def having(**attributes):
    error = Exception(SECRET)
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


def responded(status=429, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return having(response=SimpleNamespace(status_code=status, headers=named))


def caused(cause):
    error = ValueError("wrapped")
    error.__cause__ = cause
    return error


@each_row(
    "error, seconds",
    [
        (RateLimitError(), 0),
        (QuotaError(), 0),
        (having(status_code=429), 0),
        (having(http_status=503), 0),
        (having(code=429), 0),
        (having(status_code=529), 0),
        (having(code=10**9, http_status=503), 0),
        (having(code=True, response=SimpleNamespace(status_code=429)), 0),
        (responded(503), 0),
        (responded(retry_after="7"), 7),
        (responded(Retry_After="0.5"), 0.5),
        (responded(retry_after="-3"), 0),
        (responded(retry_after="nan"), 0),
        (responded(retry_after="soon"), 0),
        (responded(retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), 0),
        (having(status_code=429, response=SimpleNamespace(headers=None)), 0),
        (caused(responded(retry_after="7")), 7),
        (caused(caused(RateLimitError())), 0),
        (ValueError(), None),
        (having(status_code=500), None),
        (having(status_code=400), None),
        (having(code="rate"), None),
        (having(code=lambda: 429), None),
        (responded(500, retry_after="7"), None),
        (having(status_code=429, code="insufficient_quota"), None),
        (TimeoutError(), None),
        (Raising(), None),
    ],
)
def test_refusals_are_told_from_faults(error, seconds):
    """By a class's name or by a status, on the error or on its cause."""
    assert refusal(error) == seconds


@dataclass
class Asking:
    """Ask a model in one of three ways; no time passes while it waits."""

    way: str
    naps: list[float] = field(default_factory=list)
    meter: object = None

    def __call__(self, call: Callable, prompts=(PROMPT,), **limits):
        async def acall(prompt):
            return call(prompt)

        port = Port(call, acall if self.way == "async" else None)
        runner = PortRunner(Ports(complete=port), Limits(**limits))
        self.meter = runner.meter
        if self.way == "sync":
            return run(complete(prompts), runner)
        return asyncio.run(arun(complete(prompts), runner))

    async def nap(self, seconds):
        self.naps.append(seconds)


@pytest.fixture(params=["sync", "async", "async on threads"])
def ask(request, monkeypatch):
    asking = Asking(request.param)
    monkeypatch.setattr("sdrag.effects.calls.sleep", asking.naps.append)
    monkeypatch.setattr("sdrag.effects.calls.asleep", asking.nap)
    return asking


def failing_first(*errors):
    """Raise the errors, one a call, then answer."""
    left = list(errors)

    def call(_):
        if left:
            raise left.pop(0)
        return "fine"

    return call


def test_waits_grow_and_are_bounded(ask):
    """Each is twice the one before, with a part that is drawn, and none is long."""
    ask(failing_first(*[RateLimitError()] * 8), attempts=1)

    least = [0.5, 1, 2, 4, 8, 8, 8, 8]
    assert len(ask.naps) == len(least)
    assert all(low <= n <= 1.5 * low for low, n in zip(least, ask.naps, strict=True))


def test_it_waits_as_long_as_it_is_told(ask):
    call = failing_first(responded(retry_after="20"))

    (outcome,) = ask(call, attempts=1)

    assert isinstance(outcome, Reply)
    assert 20 <= ask.naps[0] <= 21


def test_what_will_not_fit_is_not_waited_for(ask):
    """The failure is there at once, and quotes nothing."""
    call = failing_first(*[responded(retry_after="600")] * 9)

    (outcome,) = ask(call, [SECRET_PROMPT], seconds=60)

    assert ask.naps == []
    assert isinstance(outcome.error, ModelError)
    assert SECRET not in f"{outcome.error!r} {outcome}"


def test_the_wait_of_one_holds_up_no_other(ask, monkeypatch):
    """The other is asked and answers while the first still waits."""
    answered, refused = threading.Event(), []

    def call(prompt):
        if prompt.name == "p":
            if not refused:
                refused.append(prompt)
                raise RateLimitError
            assert answered.is_set()
        answered.set()
        return "fine"

    def sleep(_):
        assert answered.wait(60)

    async def asleep(_):
        assert await asyncio.to_thread(answered.wait, 10)

    monkeypatch.setattr("sdrag.effects.calls.sleep", sleep)
    monkeypatch.setattr("sdrag.effects.calls.asleep", asleep)

    outcomes = ask(call, [PROMPT, Prompt("q", ())], attempts=1)

    assert all(isinstance(outcome, Reply) for outcome in outcomes)


def test_the_applications_own_search_is_asked_once():
    """Its time is its own, and so are its retries."""
    asked = []

    def search(effect):
        asked.append(effect)
        raise RateLimitError

    (outcome,) = PortRunner(Ports(search=Port(search))).perform(Search(("q",)))

    assert isinstance(outcome, Failure)
    assert len(asked) == 1


@each_row(
    "reply, tokens",
    [
        ("seven!!", (3, 2)),
        ("", (3, 0)),
        (Completion("seven!!", 50, 20), (50, 20)),
        (Completion("seven!!", 50), (50, 2)),
        (Completion("seven!!", None, 20), (3, 20)),
        (Completion("seven!!"), (3, 2)),
        (Completion("seven!!", 0, "20"), (3, 2)),
        (None, None),
        (Completion(None, 3, 3), None),
    ],
)
def test_what_the_provider_reports_stands_and_the_rest_is_estimated(reply, tokens, ask):
    """What is no reply is a failure, and a call all the same."""
    (outcome,) = ask(lambda _: reply)

    assert (ask.meter.tokens_in, ask.meter.tokens_out) == (tokens or (3, 0))
    assert (ask.meter.calls, ask.meter.round_trips) == (1, 1)
    if tokens:
        assert outcome.value.text == text_of(reply)
    else:
        assert isinstance(outcome, Failure)


@each_row(
    "errors, calls, tokens",
    [
        ([], 1, (3, 1)),
        ([ValueError()], 2, (6, 1)),
        ([ValueError(), ValueError()], 2, (6, 0)),
        ([RateLimitError()], 2, (3, 1)),
        ([RateLimitError(), ValueError()], 3, (6, 1)),
        ([ValueError(), RateLimitError()], 3, (6, 1)),
        ([TimeoutError()], 1, (3, 0)),
        ([UsageError("no")], 1, (3, 0)),
    ],
)
def test_what_is_asked_again_counts_again(errors, calls, tokens, ask):
    """
    In one round trip; a refusal for now took no tokens, since nobody read it.

    A failed call is made again, so often; one that took its time is not.
    """
    (outcome,) = ask(failing_first(*errors), attempts=2)

    assert isinstance(outcome, Reply) is (tokens[1] > 0)
    assert ask.meter.calls == calls
    assert (ask.meter.tokens_in, ask.meter.tokens_out) == tokens
    assert ask.meter.round_trips == 1


def test_what_nobody_waits_for_was_sent():
    """A call past its time counts, with what it was asked."""
    release = threading.Event()
    port = Port(lambda _: str(release.wait(60)))
    runner = PortRunner(Ports(complete=port), Limits(seconds=0.2))
    run(complete([PROMPT]), runner)
    meter = runner.meter
    counted = (meter.calls, meter.tokens_in, meter.tokens_out)
    release.set()

    assert counted == (1, 3, 0)


def test_every_call_of_many_threads_is_counted(ask):
    ask(lambda _: "fine", [PROMPT] * 300, concurrency=16)

    meter = ask.meter
    assert (meter.calls, meter.tokens_in, meter.tokens_out) == (300, 900, 300)
    assert meter.round_trips == 1


def test_what_is_waited_for_together_is_one_round_trip():
    """Nothing sent is none."""

    def ask():
        for number in (3, 6, 0):
            yield from complete([PROMPT] * number)

    runner = PortRunner(Ports(complete=Port(lambda _: "fine")), Limits())
    run(ask(), runner)
    runner.perform(Complete(()))

    assert (runner.meter.round_trips, runner.meter.calls) == (2, 9)


def test_an_event_tells_what_its_request_cost():
    """And nothing of any other request, though they share the engine and its ports."""
    rules = [{"id": "c1", "text": "Remove call signs"}]
    asks = {"small_model": False}  # else the first request pays for trying it
    policy = Policy.read({"constraints": rules, "disclosure": asks})
    reply = verdicts(c1=[SECRET])
    prompts, events = [], []

    def call(prompt):
        text = "\n".join(message.content.text for message in prompt.messages)
        prompts.append(text)
        return Completion(reply(text), 70, 7)

    engine = Engine(policy, llm=call, options=Options(audit=events.append))
    for name in ("one", "two"):
        passages = [Passage(name, f"The ship {SECRET} {name} was late.")]
        engine.run(disclose(passages, Request("q"), engine))

    first, second = events
    sent = len(prompts) // 2
    assert first.model_calls == second.model_calls == sent > 0
    assert (second.tokens_in, second.tokens_out) == (70 * sent, 7 * sent)
    assert 0 < second.round_trips <= sent
    assert second.as_dict().items() >= {"tokens_in": 70 * sent}.items()
    assert SECRET not in repr(second)
