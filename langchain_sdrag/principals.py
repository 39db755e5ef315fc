"""
On whose behalf a LangChain call is made.

A resolver that the host set up decides alone. Otherwise the principal stands in the
config of the call, `{"configurable": {"principal": ...}}`, or is that of `acting_as`.
It must be a `Principal`: a mapping could have come over the wire with the question.

A streaming method returns at once and works when it is iterated, by which time
`acting_as` may be over. So the principal is read when the method is called, and
travels in the config.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig, ensure_config

from langchain_sdrag.tracing import configured
from sdrag.errors import UsageError
from sdrag.principals import acting_as, current_principal
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
        UsageError: What stands in the config, or what the resolver gave, is none.
    """
    return _found(ensure_config(config), resolver)


def held(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> RunnableConfig:
    """Return a config that names the principal of this moment."""
    principal = principal_of(config, resolver)
    if principal is None:
        return {**(config or {})}
    configurable = {**ensure_config(config)["configurable"], _KEY: principal}
    return {**(config or {}), "configurable": configurable}


@contextmanager
def on_behalf(
    config: RunnableConfig | None, resolver: PrincipalResolver | None
) -> Iterator[None]:
    """Make the principal and the config of a call those of the code in the block."""
    full = ensure_config(config)
    principal, configurable = _found(full, resolver), full["configurable"]
    with acting_as(principal), configured({"configurable": configurable}):
        yield


class OnBehalf:
    """The methods of a runnable that work later, with the principal of the call."""

    principal_resolver: PrincipalResolver | None

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream, for the principal of the call."""
        kept = held(config, self.principal_resolver)
        inherited: Any = super()
        return iter(inherited.stream(input, kept, **kwargs))

    def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream, for the principal of the call."""
        kept = held(config, self.principal_resolver)
        inherited: Any = super()
        return aiter(inherited.astream(input, kept, **kwargs))

    def astream_events(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Stream events, for the principal of the call."""
        kept = held(config, self.principal_resolver)
        inherited: Any = super()
        return inherited.astream_events(input, kept, **kwargs)


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
