"""
What LangChain wrappers share: arguments, how they are invoked, the principal.

The engine of a wrapper is no field, so it is never dumped and is in no repr. A wrapper
refuses to be pickled, since its policy is confidential.

The principal of a call is in its config, `{"configurable": {"principal": ...}}`, or is
that of `acting_as`; a resolver that the application passed decides alone. It must be a
`Principal`: a mapping could have come over the wire with the question. The id of the
session is in the config too, under `session_id`, or is that of `acting_as`.

A stream returns at once and works when it is iterated, by which time `acting_as` may be
over. So every stream of a wrapper belongs to the principal of its call, whoever
iterates; a resolver that names another at the first item is refused. A stream of a
chain reads the principal when it is iterated: make it by `sdrag.stream_as`.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from langchain_core.callbacks import (
    BaseCallbackManager,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from pydantic import BaseModel, ConfigDict, PrivateAttr

from langchain_sdrag.models import complete, context_window, embed, model_name
from langchain_sdrag.tracing import hide_from_tracers, inherit_config
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.errors import UsageError
from sdrag.framework import Framework
from sdrag.principals import (
    acting_as,
    check_principal,
    check_session,
    current_principal,
    current_session,
    stream_as,
)
from sdrag.vocabulary import Principal
from sdrag.wrapper import ReloadableWrapper

T = TypeVar("T")
Input = TypeVar("Input")
Output = TypeVar("Output")
Work = Callable[[Caller, BaseCallbackManager], Coroutine[Any, Any, Any]]
"""What a call does, given a caller and the callbacks of its run."""
_hide = partial(hide_from_tracers, child=None)
LANGCHAIN = Framework(complete, embed, model_name, context_window, _hide)
PrincipalResolver = Callable[[RunnableConfig], Principal | None]


def principal_of(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Principal | None:
    """Find the principal of a call, or refuse what is none."""
    full = ensure_config(config)
    if resolver is not None:
        return check_principal(resolver(full))
    named = check_principal(full.get("configurable", {}).get("principal"))
    return named or current_principal()


def session_of(config: RunnableConfig | None) -> str | None:
    """Find the id of the session of a call, or refuse what is none."""
    configurable = ensure_config(config).get("configurable", {})
    return check_session(configurable.get("session_id")) or current_session()


@contextmanager
def on_behalf(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Iterator[None]:
    """Make the principal and the config of a call those of the code in the block."""
    configurable = ensure_config(config)["configurable"]
    with (
        acting_as(principal_of(config, resolver), session_of(config)),
        inherit_config({"configurable": configurable}),
    ):
        yield


def _stream_for_caller(name: str) -> Callable[..., Any]:
    """Return a method of a runnable, as one whose stream belongs to its caller."""

    @wraps(getattr(Runnable, name, Runnable.stream))
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        resolver = self.resolver
        config = kwargs.get("config", args[1] if len(args) > 1 else None)
        if isinstance(config, Sequence):  # each names the principal of its own call
            config, resolver = None, None
        principal = principal_of(config, resolver)

        def check() -> None:
            if resolver and principal_of(config, resolver) != principal:
                raise UsageError(
                    "The first item of a stream has another principal than its call.",
                    hint="Let the resolver read the config, or use `sdrag.stream_as`.",
                )

        stream = getattr(super(OnBehalf, self), name)(*args, **kwargs)
        checked = _acheck if isinstance(stream, AsyncIterator) else _check
        return stream_as(principal, checked, check, stream)

    return method


def _check(check: Callable[[], None], stream: Iterator[Any]) -> Iterator[Any]:
    check()
    yield from stream


async def _acheck(check: Callable[[], None], stream: Any) -> AsyncIterator[Any]:
    check()
    async with aclosing(stream):
        async for item in stream:
            yield item


class OnBehalf:
    """A runnable whose streams belong to the principal of their call."""

    if not TYPE_CHECKING:  # their types are those of the runnable
        stream = _stream_for_caller("stream")
        astream = _stream_for_caller("astream")
        transform = _stream_for_caller("transform")
        atransform = _stream_for_caller("atransform")
        stream_events = _stream_for_caller("stream_events")
        astream_events = _stream_for_caller("astream_events")
        astream_log = _stream_for_caller("astream_log")
        batch_as_completed = _stream_for_caller("batch_as_completed")
        abatch_as_completed = _stream_for_caller("abatch_as_completed")


class Wrapper(ReloadableWrapper, BaseModel):
    """A runnable that is built with an engine."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    _framework: ClassVar[Framework] = LANGCHAIN
    _engine: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    def __init_subclass__(cls, *, init: bool = False, **settings: Any) -> None:
        """Take `init=False`: type checkers take the fields for arguments without it."""
        super().__init_subclass__(**settings)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        super().__init__(**fields)

    @property
    def resolver(self) -> Any:
        """What finds the principal of a call, if the application passed it."""
        return self.in_force().options.principal_resolver

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; only fields are replaced, so a copy is under the same policy."""
        unknown = sorted({*(update or {})} - type(self).model_fields.keys())
        if unknown:
            raise UsageError(f"A copy has the same {unknown}.", hint="Build another.")
        return super().model_copy(update=update, deep=deep)


class TracedRunnable(OnBehalf, Generic[Input, Output]):
    """A wrapper whose run tells tracers how much it was given, and what it returns."""

    def invoke(
        self: Any, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """Run on behalf of the principal of the call."""
        traced, work = self._prepare(input)

        def call(_: object, run_manager: Any) -> Any:
            return run_sync(work(call_sync, run_manager.get_child()))

        with on_behalf(config, self.resolver):
            output: Output = self._call_with_config(call, traced, config, **kwargs)
        return output

    async def ainvoke(
        self: Any, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """Run without blocking the event loop."""
        traced, work = self._prepare(input)

        async def call(_: object, run_manager: Any) -> Any:
            return await work(call_async, run_manager.get_child())

        with on_behalf(config, self.resolver):
            invoked = self._acall_with_config(call, traced, config, **kwargs)
            output: Output = await invoked
        return output

    def _prepare(self, given: Input) -> tuple[dict[str, int], Work]:
        """Check the input; return what a tracer is told of it, and what is to do."""
        raise NotImplementedError


async def enforce(
    do: Caller,
    engine: Engine,
    steps: Steps[T],
    run: BaseCallbackManager | None,
    search: HostSearch | None = None,
) -> T:
    """
    Drive the steps of a request out of the tracers' sight, and announce what it did.

    The event, called `sdrag`, tells the handlers of the run ids and codes and no text.
    Outside of a run there is nobody to tell.
    """
    hidden = hide_from_tracers(engine.policy, run)
    result, event = await do(engine.run, engine.arun, steps, hidden, search)
    if run is not None and run.parent_run_id and run.handlers:
        await do(
            dispatch_custom_event,
            adispatch_custom_event,
            "sdrag",
            engine.public(event).as_dict(),
            config={"callbacks": run},
        )
    return result
