"""
On whose behalf a LangChain call is made.

A resolver that the application passed decides alone. Otherwise the principal is in the
config of the call, `{"configurable": {"principal": ...}}`, or is that of `acting_as`.
It must be a `Principal`: a mapping could have come over the wire with the question.

A stream returns at once and works when it is iterated, by which time `acting_as` may be
over. So every stream of a wrapper belongs to the principal of its call, whoever
iterates; a resolver that names another at the first item is refused. A stream of a
chain reads the principal when it is iterated: make it by `sdrag.stream_as`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import wraps
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from langchain_sdrag.tracing import inherit_config
from sdrag.errors import UsageError
from sdrag.principals import (
    acting_as,
    check_principal,
    current_principal,
    stream_as,
)
from sdrag.vocabulary import Principal

__all__ = ["OnBehalf", "PrincipalResolver", "on_behalf", "principal_of"]

PrincipalResolver = Callable[[RunnableConfig], Principal | None]


def principal_of(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Principal | None:
    """
    Find the principal of a call.

    Raises:
        UsageError: What the config holds, or the resolver returned, is no principal.
    """
    full = ensure_config(config)
    if resolver is not None:
        return check_principal(resolver(full))
    named = check_principal(full.get("configurable", {}).get("principal"))
    return named or current_principal()


@contextmanager
def on_behalf(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Iterator[None]:
    """Make the principal and the config of a call those of the code in the block."""
    configurable = ensure_config(config)["configurable"]
    with (
        acting_as(principal_of(config, resolver)),
        inherit_config({"configurable": configurable}),
    ):
        yield


class OnBehalf:
    """A runnable whose streams belong to the principal of their call."""


def _stream_for_caller(name: str) -> Callable[..., Any]:
    """Return a method of a runnable, as one whose stream belongs to its caller."""

    @wraps(getattr(Runnable, name))
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


for _name in (
    "stream",
    "astream",
    "transform",
    "atransform",
    "stream_events",
    "astream_events",
    "astream_log",
    "batch_as_completed",
    "abatch_as_completed",
):
    if hasattr(Runnable, _name):
        setattr(OnBehalf, _name, _stream_for_caller(_name))
