"""Binding a whole corpus in a pool: in processes, or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sdrag.disclosure import Ingested
from sdrag.disclosure.ingest import is_ingested
from sdrag.effects.progress import Progress, batched
from sdrag.engine import Engine
from sdrag.parallel import Pool
from sdrag.pipeline import bind
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource, open_state
from sdrag.state.keys import Keys
from sdrag.vocabulary import Passage

__all__ = ["AT_ONCE", "bind_corpus"]

AT_ONCE = 1000
"""So many documents are read and bound together."""


def bind_corpus(
    read: Callable[[], Iterable[Passage]],
    policy: PolicySource,
    state: StateSource,
    pool: Pool,
    progress: Progress | None = None,
) -> Ingested:
    """
    Bind a policy to a corpus, as `sdrag.pipeline.bind` does, in a pool.

    Workers embed and locate, and the caller writes the state. Batches that the state
    knows are not sent to workers, so the next run goes on after them.

    Args:
        read: Yields the chunks. It is called several times, so the corpus is never held
            as a whole. Chunks of one document come together, in order.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Where it is kept, or its path.
        pool: Where chunks are embedded and located.
        progress: Is called with how many chunks are done, and how many there are.

    Raises:
        PolicyError: The policy cannot be read.
        HostError: Ray, a worker or the state failed. What was bound before stays.
    """
    rules, opened = Policy.read(policy), open_state(state)
    engine = Engine(rules, state=opened, stage="bind")
    known, count = list[bool](), 0
    for batch in batched(read(), AT_ONCE):
        known.append(is_ingested(batch, engine.disclosure))
        count += len(batch)
    pairs = zip(batched(read(), AT_ONCE), known, strict=True)
    new = (batch for batch, is_known in pairs if not is_known)
    answers = pool.map(_binding, (rules, opened.keys), new)
    done = Ingested()
    for batch, is_known in zip(batched(read(), AT_ONCE), known, strict=True):
        if is_known:
            done += engine.run(bind(batch, engine))[0]
        else:
            writes, bound = next(answers)
            for part, args, options in writes:
                if part == "bindings":
                    opened.bindings.write(*args, **options)
                else:
                    opened.findings.add(*args, **options)
            done += bound
        if progress is not None:
            progress(done.passages, count)
    return done


_Write = tuple[str, tuple[Any, ...], dict[str, Any]]
"""What a state was told: bindings or findings, and the arguments."""


class _Recorded:
    """A part of a state in memory, and what is written to it."""

    def __init__(self, part: Any, name: str, writes: list[_Write]) -> None:
        self._part, self._name, self._writes = part, name, writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def write(self, *args: Any, **options: Any) -> None:
        """Bind passages."""
        self._writes.append((self._name, args, options))
        self._part.write(*args, **options)

    def add(self, *args: Any, **options: Any) -> None:
        """Keep findings."""
        self._writes.append((self._name, args, options))
        self._part.add(*args, **options)


def _binding(
    rules: Policy, keys: Keys
) -> Callable[[Sequence[Passage]], tuple[list[_Write], Ingested]]:
    """Make what binds a batch in memory, and returns what it wrote."""
    from sdrag.state.bindings import Bindings  # noqa: PLC0415 -- SQLAlchemy takes time
    from sdrag.state.findings import Findings  # noqa: PLC0415 -- as above

    def bound(batch: Sequence[Passage]) -> tuple[list[_Write], Ingested]:
        memory, writes = open_state(), list[_Write]()
        bindings: Any = _Recorded(Bindings(memory.database, keys), "bindings", writes)
        findings: Any = _Recorded(Findings(memory.database, keys), "findings", writes)
        state = replace(memory, keys=keys, bindings=bindings, findings=findings)
        engine = Engine(rules, state=state, stage="bind")
        return writes, engine.run(bind(batch, engine))[0]

    return bound
