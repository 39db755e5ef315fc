"""Rules that run at the same time, in both drivers."""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar

import pytest

from sdrag.engine.prompts import Message, Prompt, fill, sensitive, untrusted
from sdrag.engine.steps import arun, beside, complete, compute, replied, run
from sdrag.errors import ModelError, PromptSanitizationError
from sdrag.testing import Scripted

HELD = ContextVar("held", default="nothing")


def both(first, second):
    return (yield from beside(first, second))


def computing(function, *items):
    outcomes = yield from compute(function, items)
    return [replied(outcome) for outcome in outcomes]


@pytest.fixture(params=["sync", "async"])
def drive(request):
    if request.param == "sync":
        return run
    return lambda steps, runner: asyncio.run(arun(steps, runner))


def test_each_answer_comes_back_in_its_place(drive):
    """However long either takes."""
    steps = both(computing(lambda n: n + 1, 1, 2), computing(str, 3))

    assert drive(steps, Scripted()) == ([2, 3], ["3"])


def test_one_does_not_wait_for_the_other(drive):
    """Two rules that each take a while take that while once."""

    def slow(_):
        time.sleep(0.3)

    started = time.perf_counter()
    drive(both(computing(slow, 1), computing(slow, 1)), Scripted())

    assert time.perf_counter() - started < 0.55


def test_the_second_sees_what_holds_where_it_was_begun(drive):
    """What hides inner calls from tracers is kept in the context."""
    HELD.set("cover")

    _, (seen,) = drive(
        both(computing(str, 1), computing(lambda _: HELD.get(), 1)), Scripted()
    )

    assert seen == "cover"


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_meets_the_rule(drive, failing):
    """The rule that put them beside one another decides, closed."""

    def fail(_):
        raise ModelError("down")

    def guarded():
        pair = [computing(str, 1), computing(str, 1)]
        pair[failing] = computing(fail, 1)
        try:
            yield from beside(*pair)
        except ModelError:
            return "withheld"

    assert drive(guarded(), Scripted()) == "withheld"


@pytest.mark.parametrize("unsafe", [0, 1])
def test_no_rule_swallows_what_the_door_says(drive, unsafe):
    """An unsafe prompt in either ends them all."""
    text = fill("{q} {t}", q=untrusted("Who?"), t=sensitive("Meyers"))
    prompt = Prompt("both", (Message("user", text),))

    def swallowing():
        pair = [computing(str, 1), computing(str, 1)]
        pair[unsafe] = complete([prompt])
        try:
            yield from beside(*pair)
        except Exception:  # noqa: BLE001 -- a rule that swallows everything
            return "swallowed"

    with pytest.raises(PromptSanitizationError):
        drive(swallowing(), Scripted(complete=lambda _: "Meyers"))
