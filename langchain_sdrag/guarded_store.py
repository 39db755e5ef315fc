"""
A store that takes what a guarded tool writes in redacted form.

LangGraph gives a tool the store of the graph, which other threads and other principals
read. Values are redacted before they are written. A namespace or a key cannot be
redacted, since the item would not be found again. It must be released as it is, or the
write is refused. Labels that are the id or the tenant of the principal are accepted and
not read: the tool acts on behalf of the principal, who knows both.

Reads pass: all that leaves the tool is redacted anyhow. The tool reads copies, so what
it changes in an item is not written to the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from sdrag.errors import UsageError, require_extra
from sdrag.value_redactor import ValueRedactor

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.store.base import BaseStore, Op, PutOp, Result

__all__ = ["GuardedStore"]


class GuardedStore(BaseStore):
    """
    The store of a graph, as a guarded tool sees it.

    Args:
        inner: The store.
        values: Redacts what is written.
    """

    __slots__ = ("_inner", "_values", "supports_ttl", "ttl_config")

    def __init__(self, inner: BaseStore, values: ValueRedactor) -> None:
        self._inner = inner
        self._values = values
        self.supports_ttl = inner.supports_ttl
        self.ttl_config = inner.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """
        Carry out operations; what is put is redacted first.

        Raises:
            UsageError: A namespace or a key holds what may not be disclosed.
        """
        given = list(ops)
        written = self._written(given)
        if written:
            given = self._redacted(given, self._values.redact(written))
        return deepcopy(self._inner.batch(given))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations without blocking the event loop; as `batch`."""
        given = list(ops)
        written = self._written(given)
        if written:
            given = self._redacted(given, await self._values.aredact(written))
        return deepcopy(await self._inner.abatch(given))

    def _redacted(self, given: list[Op], released: Any) -> list[Op]:
        """Put what is released in the place of what was to be put."""
        left = iter(released)
        return [
            self._put(op, next(left)) if isinstance(op, PutOp) else op for op in given
        ]

    def _put(self, op: PutOp, released: dict[str, Any]) -> PutOp:
        if released["labels"] != self._labels(op):
            raise UsageError(
                "A guarded tool writes to a store under a namespace or a key that may"
                " not be disclosed.",
                hint="Name items by ids that say nothing, such as a UUID.",
            )
        return op._replace(value=released["value"])

    def _written(self, ops: list[Op]) -> list[dict[str, Any]]:
        return [
            {"labels": self._labels(op), "value": op.value}
            for op in ops
            if isinstance(op, PutOp)
        ]

    def _labels(self, op: PutOp) -> list[str]:
        """Return what an item is named by, but for the principal's id and tenant."""
        principal = self._values.principal
        known = set() if principal is None else {principal.id, principal.tenant}
        return [label for label in (*op.namespace, op.key) if label not in known]

    def __repr__(self) -> str:
        return "GuardedStore()"
