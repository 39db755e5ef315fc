"""
On whose behalf a LangChain call is made.

A resolver that the host set up decides alone. Otherwise the principal is in the
config of the call, `{"configurable": {"principal": ...}}`, or is that of `acting_as`.
It must be a `Principal`: a mapping could have come over the wire with the question.

`stream` and `astream` return at once and work when they are iterated, by which time
`acting_as` may be over. So the principal is read when the method is called, and each
item is made on its behalf, whoever iterates. Other streams, such as `astream_events` or
that of a chain, read it when they are iterated: make them by `sdrag.stream_as`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig, ensure_config

from langchain_sdrag.tracing import inherit_config
from sdrag.errors import UsageError
from sdrag.principals import acting_as, current_principal, stream_as
from sdrag.vocabulary import Principal

__all__ = ["OnBehalf", "PrincipalResolver", "on_behalf", "principal_of"]

PrincipalResolver = Callable[[RunnableConfig], Principal | None]
_KEY = "principal"


def principal_of(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Principal | None:
    """
    Find the principal of a call.

    Raises:
        UsageError: What the config holds, or the resolver returned, is no principal.
    """
    return _found(ensure_config(config), resolver)


@contextmanager
def on_behalf(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Iterator[None]:
    """Make the principal and the config of a call those of the code in the block."""
    full = ensure_config(config)
    principal, configurable = _found(full, resolver), full["configurable"]
    with acting_as(principal), inherit_config({"configurable": configurable}):
        yield


class OnBehalf:
    """Streams that work later, with the principal of the call."""

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream, for the principal of the call."""
        inherited: Any = super()
        method: Callable[..., Iterator[Any]] = inherited.stream
        return stream_as(self._principal(config), method, input, config, **kwargs)

    def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream, for the principal of the call."""
        inherited: Any = super()
        method: Callable[..., AsyncIterator[Any]] = inherited.astream
        return stream_as(self._principal(config), method, input, config, **kwargs)

    def _principal(self, config: RunnableConfig | None) -> Principal | None:
        wrapper: Any = self  # an annotation of its own would be a field of pydantic
        return principal_of(config, wrapper.principal_resolver)


def _found(
    full: RunnableConfig, resolver: PrincipalResolver | None
) -> Principal | None:
    if resolver is not None:
        return _checked(resolver(full))
    return _checked(full.get("configurable", {}).get(_KEY)) or current_principal()


def _checked(value: object) -> Principal | None:
    if value is None or isinstance(value, Principal):
        return value
    raise UsageError(
        f"The principal is a {type(value).__name__}.",
        hint="Make it a sdrag.Principal where the user is authenticated.",
    )
