"""
What is done with the documents of a framework before they are stored.

A `Transformer` reads documents as passages, transforms them, and writes documents
again. The documents of one source come together, in their order. One without an id is
given one, since what is remembered of it is found by that. An adapter says how
documents are read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar
from uuid import uuid4

from sdrag.effects.callers import Caller
from sdrag.effects.steps import Steps
from sdrag.errors import UsageError
from sdrag.vocabulary import Confidential, Decision, Passage, is_unnamed
from sdrag.wrapper import Unpickled

Document = TypeVar("Document")
R = TypeVar("R")
Passages = tuple[Passage, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Transformed(Confidential):
    """
    What was made of passages.

    Args:
        given: What came in, in the order of the documents.
        passages: What leaves. One that equals what came in is the document as it was.
        decisions: Without content.
        hidden: Metadata keys that are in no vector and no prompt.
    """

    given: Passages
    passages: Passages
    decisions: tuple[Decision, ...] = ()
    hidden: tuple[str, ...] = ()


class Transformer(Unpickled, Generic[Document]):
    """What is done with the documents of a framework."""

    _rebuilds: ClassVar[bool] = False
    """Whether documents are built anew, since the old ones hold what was taken out."""

    def _set_up(self, *given: Any, **settings: Any) -> None:
        """Make the engine; each setting is an attribute of the class."""
        self._engine = self._make_engine(*given)
        for name, value in settings.items():
            setattr(self, f"_{name}", value)

    # Not abstract: LlamaIndex puts what abstract methods are given into its spans.
    def _steps(self, passages: Passages) -> Steps[Transformed]:
        """Transform passages, whose ids differ."""
        raise NotImplementedError

    def _cache_key(self) -> str:
        """Name what decides the result beside the policy and the models."""
        return ""

    def _read(self, documents: Iterable[Document]) -> Passages:
        raise NotImplementedError

    def _write(
        self, documents: Sequence[Document], done: Transformed
    ) -> list[Document]:
        raise NotImplementedError

    async def _enforce(self, do: Caller, steps: Steps[R]) -> R:
        """Drive steps out of the tracers' sight, and announce what was decided."""
        raise NotImplementedError

    async def _transform(
        self, do: Caller, documents: Sequence[Document]
    ) -> list[Document]:
        steps = self._read_and(self._steps, documents, gives_ids=True)
        return self._write(documents, await self._enforce(do, steps))

    def _read_and(
        self,
        work: Callable[[Passages], Steps[R]],
        documents: Iterable[Document],
        *,
        gives_ids: bool = False,
    ) -> Steps[R]:
        """Work on documents, which are read while nothing is logged or traced."""
        passages = self._read(documents)
        if gives_ids:
            passages = tuple(
                replace(each, id=str(uuid4())) if is_unnamed(each) else each
                for each in passages
            )
        ids = [each.id for each in passages if not is_unnamed(each)]
        if len({*ids}) < len(ids):
            raise UsageError(
                "Two documents have the same id.", hint="Give each document its own id."
            )
        return (yield from work(passages))
