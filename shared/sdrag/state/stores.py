"""
What each store of a state can do, whoever keeps it.

A state of sdrag keeps all of them in one database. A host may bring a store of its
own: `dataclasses.replace(open_state(), bindings=...)`. A store that lacks a method is
refused there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sdrag.state.entries import Entries
from sdrag.state.register import Register
from sdrag.vocabulary import Binding, Constraint, Passage

if TYPE_CHECKING:
    from sdrag.state.findings import Known, Located

__all__ = [
    "BindingStore",
    "FindingStore",
    "LineageStore",
    "Link",
]

Link = tuple[Passage, Sequence[Passage]]
"""A summary, and all that it was made from: summaries and chunks."""


@runtime_checkable
class BindingStore(Protocol):
    """Which constraints are bound to which passages."""

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
            floor: Every passage with at least this score is bound too.
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

    def add(
        self,
        constraint: Constraint,
        nearest: Sequence[Passage],
        bindings: Sequence[Binding],
    ) -> None:
        """
        Bind a constraint, and mark every known passage as compared with it.

        Bindings to passages that read differently today are left out.

        Args:
            constraint: New or reworded.
            nearest: The passages that it was compared with.
            bindings: Of the constraint, to some of these.
        """
        ...

    def remove(self, constraint: Constraint) -> None:
        """Forget a constraint's bindings."""
        ...


@runtime_checkable
class LineageStore(Protocol):
    """What summaries were made from."""

    def link(self, links: Iterable[Link]) -> None:
        """Have summaries inherit from what they were made from, and nothing else."""
        ...

    def key(self, purpose: str) -> bytes:
        """Return a secret key, the same in every process for the same purpose."""
        ...


@runtime_checkable
class FindingStore(Protocol):
    """What was located in texts, and the registers of their documents."""

    def read(
        self, texts: Iterable[bytes], local: bytes
    ) -> tuple[dict[bytes, Known], dict[bytes, int]]:
        """
        Return what is known of texts, and the versions of their registers.

        Args:
            texts: Their keys.
            local: The local engine as it is today; what another one found is stale.
        """
        ...

    def write(self, rows: Iterable[Located], *, whole: bool) -> None:
        """Keep rows; `whole` says that their documents were read as a whole."""
        ...

    def catch_up(self, rows: Iterable[Located]) -> None:
        """Replace rows by the same rows, closed under a later register."""
        ...

    def register(self, documents: Iterable[bytes]) -> dict[bytes, Register]:
        """Return the registers of documents; an empty one where none is kept."""
        ...

    def grow(self, entries: Mapping[bytes, Entries]) -> dict[bytes, Register]:
        """Add to the registers of documents, and return them as they are then."""
        ...

    def forget(self, documents: Iterable[bytes]) -> None:
        """Forget documents with all that was located in them."""
        ...
