"""What a request costs is told: calls, round trips, tokens in and out."""

from __future__ import annotations

import asyncio
import pickle
import threading
from threading import Barrier

import pytest

from sdrag.effects.prompts import Message, Prompt, constant, sensitive
from sdrag.effects.runner import Limits, Port, PortRunner, Ports
from sdrag.effects.steps import Complete, Failure, arun, complete, gather, run
from sdrag.effects.tokens import Completion, text_of
from sdrag.errors import UsageError
from sdrag.options import Options
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from ..support.doubles import verdicts
from ..support.scripted import canary
from ..support.tables import each_row

PROMPT = Prompt(
    "p", (Message("system", constant("four")), Message("user", sensitive("five!")))
)
"""Nine characters: three tokens."""


class RateLimitError(Exception):
    """Refuses for now."""


def metered(call, acall=None, **limits):
    port = Port(call, acall)
    return PortRunner(Ports(complete=port), Limits(**limits))


@pytest.fixture(params=["sync", "async", "async on threads"])
def costs(request, monkeypatch):
    """Ask a model in each of the three ways; return outcomes and what was counted."""
    kind = request.param

    async def asleep(_):
        pass

    monkeypatch.setattr("sdrag.effects.runner.sleep", lambda _: None)
    monkeypatch.setattr("sdrag.effects.runner.asleep", asleep)

    def counted(call, prompts=(PROMPT,), **limits):
        async def acall(prompt):
            return call(prompt)

        runner = metered(call, acall if kind == "async" else None, **limits)
        if kind == "sync":
            outcomes = run(complete(prompts), runner)
        else:
            outcomes = asyncio.run(arun(complete(prompts), runner))
        return outcomes, runner.meter

    return counted


def test_a_reply_with_its_cost_is_as_confidential_as_one_without():
    secret = canary("reply")
    reply = Completion(secret, 1, 2)

    assert secret not in f"{reply!r} {reply}"
    assert text_of(reply) == text_of(secret) == secret
    with pytest.raises(UsageError):
        pickle.dumps(reply)


@each_row(
    "reply, tokens",
    [
        ("seven!!", (3, 2)),
        ("", (3, 0)),
        (Completion("seven!!", 50, 20), (50, 20)),
        (Completion("seven!!", 50), (50, 2)),
        (Completion("seven!!", None, 20), (3, 20)),
        (Completion("seven!!"), (3, 2)),
        (Completion.of("seven!!", 0, "20"), (3, 2)),
        (None, None),
        (Completion(None, 3, 3), None),
    ],
)
def test_what_the_provider_reports_stands_and_the_rest_is_estimate_tokens(
    costs, reply, tokens
):
    """What is no reply is a failure, and a call all the same."""
    (outcome,), meter = costs(lambda _: reply)

    assert (meter.tokens_in, meter.tokens_out) == (tokens or (3, 0))
    assert (meter.calls, meter.round_trips) == (1, 1)
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
    ],
)
def test_what_is_asked_again_counts_again(costs, errors, calls, tokens):
    """In one round trip; a refusal for now took no tokens, since nobody read it."""
    left = list(errors)

    def call(_):
        if left:
            raise left.pop(0)
        return "fine"

    _, meter = costs(call, attempts=2)

    assert meter.calls == calls
    assert (meter.tokens_in, meter.tokens_out) == tokens
    assert meter.round_trips == 1


@pytest.mark.parametrize("is_async", [False, True])
def test_what_nobody_waits_for_was_sent(is_async):
    """A call past its time counts, with what it was asked."""
    release = threading.Event()

    runner = metered(lambda _: str(release.wait(60)), seconds=0.2)

    steps = complete([PROMPT])
    if is_async:
        asyncio.run(arun(steps, runner))
    else:
        run(steps, runner)
    meter = runner.meter
    counted = (meter.calls, meter.tokens_in, meter.tokens_out)
    release.set()

    assert counted == (1, 3, 0)


def test_every_call_of_many_threads_is_counted(costs):
    _, meter = costs(lambda _: "fine", [PROMPT] * 300, concurrency=16)

    assert (meter.calls, meter.tokens_in, meter.tokens_out) == (300, 900, 300)
    assert meter.round_trips == 1


def test_what_is_waited_for_together_is_one_round_trip():
    """Nothing sent is none; gathered rules wait at the same time."""
    together = Barrier(6)

    def rounds(number):
        for _ in range(number):
            yield from complete([PROMPT] * 3)

    def all_of_them():
        yield from gather(rounds(1), rounds(1))
        together.reset()
        yield from complete([PROMPT] * 6)
        yield from complete([])

    runner = metered(lambda _: str(together.wait(60)))
    run(all_of_them(), runner)
    runner.perform(Complete(()))

    assert (runner.meter.round_trips, runner.meter.calls) == (2, 12)


def test_an_event_tells_what_its_request_cost():
    """And nothing of any other request, though they share the engine and its ports."""
    secret = canary("passage")
    policy = Policy.read({"constraints": [{"id": "c1", "text": "Remove call signs"}]})
    reply = verdicts(c1=[secret])
    prompts, events = [], []

    def call(prompt):
        text = "\n".join(message.content.text for message in prompt.messages)
        prompts.append(text)
        return Completion(reply(text), 70, 7)

    engine = Engine(policy, llm=call, options=Options(audit=events.append))
    for name in ("one", "two"):
        passages = [Passage(name, f"The ship {secret} {name} was late.")]
        engine.run(disclose(passages, Request("q"), engine))

    first, second = events
    sent = len(prompts) // 2
    assert first.model_calls == second.model_calls == sent > 0
    assert (second.tokens_in, second.tokens_out) == (70 * sent, 7 * sent)
    assert 0 < second.round_trips <= sent
    assert second.as_dict().items() >= {"tokens_in": 70 * sent}.items()
    assert secret not in repr(second)
