"""
After the answer: values in place of placeholders, for whom the policy exempts.

It takes what the chain took, and the answer: `{"context": documents, "answer": str}`.
The context is what the host's prompt received, as the retriever returned it. A stream
is made whole piece by piece. Its own run tells tracers numbers and no value; the chain
that it ends traces its answer, and so the values.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable

from langchain_sdrag.convert import passages_of
from langchain_sdrag.wrapping import OnBehalf, Wrapper, enforce, on_behalf
from sdrag.configuration import Stage
from sdrag.disclosure.restore import Restorer
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.errors import UsageError
from sdrag.options import Options
from sdrag.pipeline import Request, restore
from sdrag.policy import PolicySource
from sdrag.principals import current_principal
from sdrag.state import StateSource
from sdrag.vocabulary import Passage

Inputs = Mapping[str, Any]
_WRITE = (
    'Write `{"question": RunnablePassthrough(), "context": retriever} |'
    " RunnablePassthrough.assign(answer=...) | restore`."
)


@dataclass(slots=True, repr=False)
class _Making:
    """An answer on its way, and what came of its context."""

    config: RunnableConfig | None
    passages: list[Passage] = field(default_factory=list)
    missing: set[str] = field(default_factory=lambda: {"answer", "context"})
    restorer: Restorer | None = None

    def read(self, given: object) -> str:
        """Read a part of the input; return what it adds to the answer."""
        if not isinstance(given, Mapping):
            raise UsageError("The input is a mapping.", hint=_WRITE)
        self.missing.difference_update(given)
        if context := given.get("context"):
            if self.restorer is not None:
                raise UsageError("The context comes before the answer.", hint=_WRITE)
            self.passages += passages_of(context)
        answer = given.get("answer", "")
        if isinstance(answer, Mapping):  # as `HighlightAndSummarize` gives it
            answer = answer.get("answer", "")
        return str(answer.text) if isinstance(answer, BaseMessage) else str(answer)

    def end(self) -> str:
        """Return what was held back of the answer."""
        if self.missing:
            names = ", ".join(sorted(self.missing))
            raise UsageError(f"The input lacks {names}.", hint=_WRITE)
        return self.restorer.end() if self.restorer else ""


class _Restoring(RunnableSerializable[Inputs, str]):
    """A runnable that makes an answer whole; its streams are the caller's."""

    def invoke(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        """Return the answer with the values that its principal may see."""
        return "".join(self.transform(iter([input]), config))

    async def ainvoke(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        """Return it without blocking the event loop."""
        return "".join([piece async for piece in self.atransform(_each(input), config)])

    def transform(
        self,
        input: Iterator[Inputs],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[str]:
        """Yield the answer as it comes."""
        making = _Making(config)
        for given in input:
            if piece := run_sync(self._take(call_sync, given, making)):
                yield piece
        if rest := making.end():
            yield rest

    async def atransform(
        self,
        input: AsyncIterator[Inputs],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[str]:
        """Yield it without blocking the event loop."""
        making = _Making(config)
        async for given in input:
            if piece := await self._take(call_async, given, making):
                yield piece
        if rest := making.end():
            yield rest

    async def _take(self, do: Caller, given: Inputs, making: _Making) -> str:
        """Take a part of the input; return what of the answer is whole."""
        piece = making.read(given)
        if not piece:
            return ""
        if making.restorer is None:
            making.restorer = await self._open(do, making)
        return making.restorer.feed(piece)

    async def _open(self, do: Caller, making: _Making) -> Restorer:
        raise NotImplementedError


async def _each(given: Inputs) -> AsyncIterator[Inputs]:
    yield given


class Restore(OnBehalf, Wrapper, _Restoring):
    """
    Give whom the policy exempts the values back, in place of placeholders.

    Example:
        ```python
        chain = RunnablePassthrough.assign(answer=prompt | llm) | Restore(policy, state)
        ```

    Args:
        policy: With `disclosure.restore: true`.
        state: That the documents were released with, or its path.
        options: Sinks of audit events, and a resolver of principals.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: The policy restores nothing, or there is no state.
        MissingExtraError: The extra `linkage` is not installed.
    """

    _stage: ClassVar[Stage] = "restore"

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource = None,
        *,
        options: Options | None = None,
    ) -> None:
        self._set_up(policy, None, None, state, options)

    async def _open(self, do: Caller, making: _Making) -> Restorer:
        """Find the values, in a run that tells tracers numbers alone."""
        engine, found = self.in_force(), list[Restorer]()

        async def work(_: object, run_manager: Any) -> Any:
            request = Request("", current_principal())
            steps = restore(making.passages, request, engine)
            restorer = await enforce(do, engine, steps, run_manager.get_child())
            found.append(restorer)
            return {"restorable": len(restorer.values)}

        def work_sync(given: object, run_manager: Any) -> Any:
            return run_sync(work(given, run_manager))

        config, traced = making.config, {"passages": len(making.passages)}
        with on_behalf(config, self.resolver):
            if do is call_sync:
                self._call_with_config(work_sync, traced, config)
            else:
                await self._acall_with_config(work, traced, config)
        return found[0]
