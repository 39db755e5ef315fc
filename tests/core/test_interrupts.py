"""Interrupts pass every driver and every call, and carry nothing with them."""

from __future__ import annotations

import asyncio
import traceback
from asyncio import CancelledError
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from sdrag.engine.calls import Limits, Port, attempt, computed
from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.interrupts import bare_interrupt
from sdrag.engine.prompts import Message, Prompt, sensitive
from sdrag.engine.retrying import Retrying
from sdrag.engine.steps import (
    arun,
    authorize,
    complete,
    compute,
    embed,
    gather,
    run,
    score,
    search,
)
from sdrag.errors import HostError, InternalError
from sdrag.testing import canary
from sdrag.vocabulary import Passage, Principal

SECRET = canary("an interrupt")
SCOPE = "Cancelled via cancel scope 7f00aa"
PROMPT = Prompt("p", (Message("user", sensitive("text")),))


class Stop(BaseException):
    """An interrupt of a host's own."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


INTERRUPTS: dict[str, Callable[[], BaseException]] = {
    "keyboard": lambda: KeyboardInterrupt(SECRET),
    "exit": lambda: SystemExit(SECRET),
    "generator": lambda: GeneratorExit(SECRET),
    "own": lambda: Stop(SECRET),
    "group": lambda: BaseExceptionGroup(
        SECRET, [ValueError(SECRET), KeyboardInterrupt(SECRET)]
    ),
}
CANCELLED = {"cancelled": lambda: CancelledError(SECRET)}
interrupt = pytest.mark.parametrize("make", INTERRUPTS.values(), ids=INTERRUPTS.keys())
any_interrupt = pytest.mark.parametrize(
    "make", (INTERRUPTS | CANCELLED).values(), ids=(INTERRUPTS | CANCELLED).keys()
)


def raised_by(make: Callable[[], BaseException]) -> BaseException:
    """Raise it as hosts do: with a cause, a note and a frame that holds text."""
    text = SECRET
    try:
        try:
            raise ValueError(text)  # noqa: TRY301 -- an error below the interrupt
        except ValueError as cause:
            error = make()
            error.add_note(text)
            raise error from cause
    except BaseException as error:  # noqa: BLE001 -- it is the example
        return error


def said(error: BaseException) -> str:
    """Everything that a collector of errors reads."""
    held = [
        frame.f_locals.values()
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename != __file__
    ]
    return f"{traceback.format_exception(error)} {error!r} {vars(error)} {held}"


def leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for exception in error.exceptions for leaf in leaves(exception)]


class TestBare:
    """What leaves in place of an interrupt."""

    @any_interrupt
    def test_it_is_of_the_same_kind_and_says_nothing(self, make):
        original = raised_by(make)

        bare = bare_interrupt(original)

        assert type(bare) is type(original)
        assert bare is not original
        assert (bare.__context__, bare.__cause__, bare.__traceback__) == (None,) * 3
        assert SECRET not in said(bare)

    def test_a_subclass_of_python_s_own_becomes_python_s_own(self):
        class Quit(KeyboardInterrupt):
            pass

        assert type(bare_interrupt(Quit(SECRET))) is KeyboardInterrupt

    @pytest.mark.parametrize(
        ("code", "kept"), [(None, None), (0, 0), (3, 3), (SECRET, 1), ([SECRET], 1)]
    )
    def test_an_exit_keeps_a_number(self, code, kept):
        assert bare_interrupt(SystemExit(code)).code == kept

    def test_a_group_keeps_its_interrupts(self):
        """Errors in it become ours, and `except*` still finds the interrupt."""
        inner = BaseExceptionGroup(SECRET, [KeyboardInterrupt(SECRET)])
        group = BaseExceptionGroup(SECRET, [OSError(SECRET), inner, HostError("Ours.")])

        bare = bare_interrupt(group)

        kinds = [type(leave) for leave in leaves(bare)]
        assert kinds == [InternalError, KeyboardInterrupt, HostError]
        assert SECRET not in said(bare)

    @pytest.mark.parametrize(
        ("message", "kept"),
        [
            (
                "Cancelled via cancel scope 7f00aa",
                ("Cancelled via cancel scope 7f00aa",),
            ),
            (
                f"Cancelled via cancel scope 7f00aa; reason: {SECRET}",
                ("Cancelled via cancel scope 7f00aa",),
            ),
            (SECRET, ()),
            (5, ()),
        ],
    )
    def test_a_cancellation_keeps_the_id_of_its_scope(self, message, kept):
        assert bare_interrupt(CancelledError(message)).args == kept


def of_model() -> Any:
    return complete([PROMPT])


def of_embeddings() -> Any:
    return embed(["text"])


def of_retriever() -> Any:
    return search("q")


def of_scorer() -> Any:
    return score([("a", "b")])


def of_authorizer() -> Any:
    return authorize([Passage("p", "text")], Principal("u"))


PORTS = pytest.mark.parametrize(
    "steps", [of_model, of_embeddings, of_retriever, of_scorer, of_authorizer]
)


def caught(call: Callable[[], Any]) -> BaseException:
    try:
        call()
    except BaseException as error:  # noqa: BLE001 -- that is what is tried
        return error
    raise AssertionError("nothing was raised")


async def in_the_task(steps: Any, runner: PortRunner) -> BaseException:
    """Catch it where a host would: in the task that waits, not outside of the loop."""
    try:
        await arun(steps, runner)
    except BaseException as error:  # noqa: BLE001 -- that is what is tried
        return error
    raise AssertionError("nothing was raised")


def runner(make: Callable[[], BaseException], *, native: bool) -> PortRunner:
    def call(_: Any) -> Any:
        raise raised_by(make)

    async def acall(_: Any) -> Any:
        raise raised_by(make)

    port = Port(call, acall if native else None)
    return PortRunner(Ports(port, port, port, port, port), Limits(seconds=60))


class TestPorts:
    """An interrupt of whatever the host handed in, in both drivers."""

    @PORTS
    @interrupt
    def test_it_passes_bare(self, steps, make):
        error = caught(lambda: run(steps(), runner(make, native=False)))

        assert type(error) is type(make())
        assert SECRET not in said(error)

    @PORTS
    @interrupt
    @pytest.mark.parametrize("native", [True, False], ids=["async", "thread"])
    def test_it_passes_bare_to_the_task_that_waits(self, steps, make, native):
        waiting = in_the_task(steps(), runner(make, native=native))

        error = asyncio.run(waiting)

        assert type(error) is type(make())
        assert SECRET not in said(error)

    @interrupt
    def test_local_work(self, make):
        def work(_: Any) -> Any:
            raise raised_by(make)

        for error in (
            caught(lambda: computed(work, "item")),
            caught(lambda: attempt(work, "item", Retrying(1))),
            caught(lambda: run(compute(work, ["item"]), PortRunner(Ports()))),
            asyncio.run(in_the_task(compute(work, ["item"]), PortRunner(Ports()))),
        ):
            assert type(error) is type(make())
            assert SECRET not in said(error)

    @interrupt
    @pytest.mark.parametrize("first", [True, False])
    def test_rules_side_by_side(self, make, first):
        def steps() -> Any:
            pair = (of_model(), compute(str, ["item"]))
            return gather(*(pair if first else pair[::-1]))

        failing = runner(make, native=True)
        for error in (
            caught(lambda: run(steps(), failing)),
            asyncio.run(in_the_task(steps(), failing)),
        ):
            assert type(error) is type(make())
            assert SECRET not in said(error)

    def test_a_thread_prints_none(self, capfd):
        """Python prints what leaves a thread, text and all."""

        def steps() -> Any:
            return gather(compute(str, ["item"]), of_retriever())

        failing = runner(INTERRUPTS["keyboard"], native=False)
        caught(lambda: run(steps(), failing))

        assert SECRET not in "".join(capfd.readouterr())


class TestCancellation:
    """A cancelled request ends as cancelled, and drops the message."""

    async def waiting(self) -> None:
        async def hang(_: Any) -> str:
            await asyncio.sleep(20)
            return ""

        await arun(of_model(), PortRunner(Ports(Port(lambda _: "", hang)), Limits()))

    async def test_the_task_is_cancelled(self):
        task = asyncio.create_task(self.waiting())
        await asyncio.sleep(0.01)
        task.cancel(SECRET)

        with pytest.raises(CancelledError):
            await task
        assert task.cancelled()

    async def test_a_timeout_is_a_timeout(self):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await self.waiting()
        assert asyncio.current_task().cancelling() == 0

    async def test_a_cancel_scope_knows_its_own(self):
        with anyio.move_on_after(0.01) as scope:
            await self.waiting()

        assert scope.cancelled_caught

    async def test_a_retriever_that_is_cancelled_cancels(self):
        failing = runner(CANCELLED["cancelled"], native=True)
        task = asyncio.create_task(arun(of_retriever(), failing))

        with pytest.raises(CancelledError) as error:
            await task
        assert task.cancelled()
        assert SECRET not in said(error.value)
