"""Refusals for now: waited for within the call's time, and by nobody else."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.effects.retrying import refusal
from sdrag.effects.runner import Limits, Port, PortRunner, Ports
from sdrag.effects.steps import Failure, Reply, Search, arun, complete, run
from sdrag.errors import ModelError

from ..support.scripted import canary
from ..support.tables import each_row

SECRET = canary("secret")
PROMPT = Prompt("p", (Message("user", sensitive(SECRET)),))


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
        (responded(), 0),
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


@pytest.fixture(params=["sync", "async", "async on threads"])
def drive(request):
    """Ask a model whose calls are made in each of the three ways."""
    kind = request.param

    def driven(call, prompts, **limits):
        async def acall(prompt):
            return call(prompt)

        port = Port(call, acall if kind == "async" else None)
        runner = PortRunner(Ports(complete=port), Limits(**limits))
        if kind == "sync":
            return run(complete(prompts), runner)
        return asyncio.run(arun(complete(prompts), runner))

    return driven


@pytest.fixture
def naps(monkeypatch):
    """What was waited for; no time passes."""
    taken = []

    async def asleep(seconds):
        taken.append(seconds)

    monkeypatch.setattr("sdrag.effects.runner.sleep", taken.append)
    monkeypatch.setattr("sdrag.effects.runner.asleep", asleep)
    return taken


def refusing(times, error):
    left = [error] * times

    def call(_):
        if left:
            raise left.pop()
        return "fine"

    return call


def test_waits_grow_and_are_bounded(drive, naps):
    """Each is twice the one before, with a part that is drawn, and none is long."""
    drive(refusing(8, RateLimitError()), [PROMPT], attempts=1)

    least = [0.5, 1, 2, 4, 8, 8, 8, 8]
    assert len(naps) == len(least)
    assert all(low <= nap <= 1.5 * low for low, nap in zip(least, naps, strict=True))


def test_it_waits_as_long_as_it_is_told(drive, naps):
    (outcome,) = drive(refusing(1, responded(retry_after="20")), [PROMPT], attempts=1)

    assert isinstance(outcome, Reply)
    assert 20 <= naps[0] <= 21


def test_what_will_not_fit_is_not_waited_for(drive, naps):
    """The failure is there at once, and quotes nothing."""
    call = refusing(9, responded(retry_after="600"))

    (outcome,) = drive(call, [PROMPT], seconds=60)

    assert naps == []
    assert isinstance(outcome.error, ModelError)
    assert SECRET not in f"{outcome.error!r} {outcome}"


def test_the_wait_of_one_holds_up_no_other(drive, monkeypatch):
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

    monkeypatch.setattr("sdrag.effects.runner.sleep", sleep)
    monkeypatch.setattr("sdrag.effects.runner.asleep", asleep)

    outcomes = drive(call, [PROMPT, Prompt("q", ())], attempts=1)

    assert all(isinstance(outcome, Reply) for outcome in outcomes)


def test_the_hosts_own_search_is_asked_once(naps):
    """Its time is its own, and so are its retries."""
    asked = []

    def search(effect):
        asked.append(effect)
        raise RateLimitError

    (outcome,) = PortRunner(Ports(search=Port(search))).perform(Search(("q",)))

    assert isinstance(outcome, Failure)
    assert len(asked) == 1
    assert naps == []
