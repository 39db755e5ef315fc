"""
What LangChain wrappers share: the arguments they take, and how they are built.

The engine of a wrapper is no field, so it is never dumped and is in no repr. A wrapper
refuses to be pickled, since its policy is confidential.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from langchain_core.callbacks import (
    BaseCallbackManager,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, PrivateAttr

from langchain_sdrag.models import (
    Model,
    complete,
    context_window,
    embed,
    model_name,
)
from langchain_sdrag.principals import OnBehalf, on_behalf
from langchain_sdrag.tracing import hide_from_tracers
from sdrag.effects.modes import Mode, run_sync, sync, wait
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch, Stage
from sdrag.errors import UsageError
from sdrag.framework import Framework
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import ReloadableWrapper

T = TypeVar("T")
Input = TypeVar("Input")
Output = TypeVar("Output")
Work = Callable[[Mode, BaseCallbackManager], Coroutine[Any, Any, Any]]
"""What a call does, given the mode and the callbacks of its run."""
LANGCHAIN = Framework(
    complete,
    embed,
    model_name,
    context_window,
    partial(hide_from_tracers, child=None),
)
make_engine = partial(Engine, framework=LANGCHAIN)


class Wrapper(ReloadableWrapper, BaseModel):
    """A runnable that is built with an engine."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    _engine: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)
    _stage: ClassVar[Stage]

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        engine = make_engine(policy, llm, embeddings, state, options, stage=self._stage)
        self._follow(engine, policy)

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


class Invoked(OnBehalf, Generic[Input, Output]):
    """A wrapper whose run tells tracers how much it was given, and what it returns."""

    def invoke(
        self: Any, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """Run on behalf of the principal of the call."""
        traced, work = self._prepare(input)

        def call(_: object, run_manager: Any) -> Any:
            return run_sync(work(sync, run_manager.get_child()))

        with on_behalf(config, self.resolver):
            output: Output = self._call_with_config(call, traced, config, **kwargs)
        return output

    async def ainvoke(
        self: Any, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """Run without blocking the event loop."""
        traced, work = self._prepare(input)

        async def call(_: object, run_manager: Any) -> Any:
            return await work(wait, run_manager.get_child())

        with on_behalf(config, self.resolver):
            invoked = self._acall_with_config(call, traced, config, **kwargs)
            output: Output = await invoked
        return output

    def _prepare(self, given: Input) -> tuple[dict[str, int], Work]:
        """Check the input; return what a tracer is told of it, and what is to do."""
        raise NotImplementedError


async def enforce(
    mode: Mode,
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
    result, event = await mode(engine.run, engine.arun, steps, hidden, search)
    if run is not None and run.parent_run_id and run.handlers:
        await mode(
            dispatch_custom_event,
            adispatch_custom_event,
            "sdrag",
            engine.public(event).as_dict(),
            config={"callbacks": run},
        )
    return result
