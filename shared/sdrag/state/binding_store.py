"""What a store of bindings can do, whoever keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from sdrag.vocabulary import Binding, Constraint, Passage

__all__ = ["BindingStore", "LivingStore"]


@runtime_checkable
class BindingStore(Protocol):
    """Where bindings live."""

    def write(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        bindings: Sequence[Binding],
        *,
        top_n: int,
        floor: float,
    ) -> None:
        """
        Bind passages, replacing what was known of them.

        Args:
            passages: A batch of the corpus.
            constraints: Those that every passage of the batch was compared with.
            bindings: At least the `top_n` best of each constraint within the batch.
            top_n: How many passages each constraint keeps over the whole corpus.
            floor: A score from which a passage is bound besides.
        """
        ...

    def read(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> list[dict[str, float] | None]:
        """
        Return, for each passage, its bound constraints' ids and scores.

        `None` says that the passage, as it reads today, was not bound against every
        one of the constraints as they read today.
        """
        ...

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Remove passages that left the index."""
        ...

    def all(self, constraints: Sequence[Constraint]) -> tuple[Binding, ...]:
        """Return every binding of the constraints, best first for each."""
        ...


@runtime_checkable
class LivingStore(BindingStore, Protocol):
    """A binding store whose constraints may come and go."""

    def add(
        self,
        constraint: Constraint,
        nearest: Sequence[Passage],
        bindings: Sequence[Binding],
    ) -> None:
        """
        Bind a constraint, and mark every known passage as compared with it.

        Bindings to passages that read differently today are left out.
        """
        ...

    def remove(self, constraint: Constraint) -> None:
        """Forget a constraint's bindings."""
        ...
