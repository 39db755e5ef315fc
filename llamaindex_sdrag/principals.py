"""
On whose behalf a LlamaIndex call is made.

A resolver that the host set up decides alone; otherwise the principal is that of
`acting_as`. LlamaIndex has no config that travels with a call.
"""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.schema import QueryBundle

from sdrag.errors import UsageError
from sdrag.principals import current_principal
from sdrag.vocabulary import Principal

__all__ = ["PrincipalResolver", "principal_of"]

PrincipalResolver = Callable[[QueryBundle | None], Principal | None]


def principal_of(
    bundle: QueryBundle | None, resolver: PrincipalResolver | None
) -> Principal | None:
    """
    Find the principal of a call.

    Raises:
        UsageError: What the resolver gave is none.
    """
    if resolver is None:
        return current_principal()
    found: object = resolver(bundle)
    if found is None or isinstance(found, Principal):
        return found
    raise UsageError(
        f"The principal is a {type(found).__name__}.",
        hint="Make it a sdrag.Principal where the user is authenticated.",
    )
