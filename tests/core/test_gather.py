"""`gather` runs rules at the same time, in both drivers."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from threading import Barrier, get_ident

import pytest

from sdrag.effects.prompts import Message, Prompt, fill, sensitive, untrusted
from sdrag.effects.steps import arun, complete, gather, replied, run, try_each
from sdrag.errors import ModelError, PromptSanitizationError

from ..support.scripted import Scripted

HIDDEN = ContextVar("hidden", default="nothing")


def gathered(*rules):
    return [replied(outcome) for outcome in (yield from gather(*rules))]


def computing(function, *items):
    yield from ()
    outcomes = try_each(function, items)
    return [replied(outcome) for outcome in outcomes]


@pytest.fixture(params=["sync", "async"])
def drive(request):
    if request.param == "sync":
        return run
    return lambda steps, runner: asyncio.run(arun(steps, runner))


def test_outcomes_come_in_the_order_of_the_rules(drive):
    """However long each takes."""
    rules = computing(lambda n: n + 1, 1, 2), computing(str, 3), computing(len, "four")

    assert drive(gathered(*rules), Scripted()) == [[2, 3], ["3"], [4]]


def test_rules_run_at_the_same_time(drive):
    """Each waits until all have begun."""
    begun = Barrier(3)

    def wait(_):
        return begun.wait(60) < 3

    found = drive(gathered(*(computing(wait, 1) for _ in range(3))), Scripted())

    assert found == [[True]] * 3


def test_the_first_runs_on_the_thread_of_the_caller():
    """A connection of the host may belong to that thread."""
    first, second = run(
        gathered(
            computing(lambda _: get_ident(), 1), computing(lambda _: get_ident(), 1)
        ),
        Scripted(),
    )

    assert first == [get_ident()] != second


def test_the_others_run_in_the_context_of_the_caller(drive):
    """What hides inner calls from tracers is kept in the context."""
    HIDDEN.set("hidden")

    _, seen = drive(
        gathered(computing(str, 1), computing(lambda _: HIDDEN.get(), 1)), Scripted()
    )

    assert seen == ["hidden"]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_meets_the_rule(drive, failing):
    """Only one outcome is a failure; the rule that gathers decides, closed."""

    def fail(_):
        raise ModelError("down")

    def guarded():
        pair = [computing(str, 1), computing(str, 1)]
        pair[failing] = computing(fail, 1)
        outcomes = yield from gather(*pair)
        assert replied(outcomes[1 - failing]) == ["1"]
        try:
            replied(outcomes[failing])
        except ModelError:
            return "withheld"

    assert drive(guarded(), Scripted()) == "withheld"


@pytest.mark.parametrize("unsafe", [0, 1])
def test_no_rule_swallows_a_refused_prompt(drive, unsafe):
    """An unsafe prompt in either ends them all."""
    text = fill("{q} {t}", q=untrusted("Who?"), t=sensitive("Meyers"))
    prompt = Prompt("both", (Message("user", text),))

    def swallowing():
        pair = [computing(str, 1), computing(str, 1)]
        pair[unsafe] = complete([prompt])
        try:
            yield from gather(*pair)
        except Exception:  # noqa: BLE001 -- a rule that swallows everything
            return "swallowed"

    with pytest.raises(PromptSanitizationError):
        drive(swallowing(), Scripted(complete=lambda _: "Meyers"))
