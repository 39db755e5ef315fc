"""
Binding a corpus on Ray: workers embed and locate, and the caller writes the state.

There is one writer, so the state is the one file that it always is. Batches that the
state knows are not sent to workers, so the next run goes on after them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdrag.disclosure import Ingested
from sdrag.disclosure.ingest import is_ingested
from sdrag.distributed.plain import as_passages, plain_passages
from sdrag.distributed.recording import (
    Recorder,
    Recording,
    ReplayingLocator,
    ReplayingRunner,
)
from sdrag.distributed.session import RayOptions, ray_session
from sdrag.distributed.workers import Work, placed
from sdrag.effects.progress import Progress, batched
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import EffectRunner, run
from sdrag.framework import local_embeddings
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Passage

__all__ = ["bind_corpus"]

_AT_ONCE = 1000
"""As many as one process takes at once: what is embedded together is the same."""
_KEY_BYTES = 32

Read = Callable[[], Iterable[Passage]]


def bind_corpus(
    read: Read,
    policy: PolicySource,
    state: StateSource,
    *,
    options: RayOptions | None = None,
    progress: Progress | None = None,
) -> Ingested:
    """
    Bind a policy to a corpus, as `sdrag.pipeline.bind` does, on Ray.

    Args:
        read: Yields the chunks. It is called three times, so the corpus is never held
            by the caller as a whole. Chunks of one document come together, in order.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Where it is kept, or its path; the caller writes it.
        options: How Ray is used.
        progress: Is called with how many chunks are done, and how many there are.

    Returns:
        How many chunks there were, and for how many every constraint was decided.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        PolicyError: The policy cannot be read.
        HostError: Ray, a worker or the state failed. What was bound before stays.
    """
    rules = Policy.read(policy)
    key = secrets.token_bytes(_KEY_BYTES)
    engine = _engine(rules, state)
    replaying = _Replaying.of(engine, key)
    known: list[bool] = []
    count = 0
    for some in batched(read(), _AT_ONCE):
        known.append(is_ingested(some, engine.disclosure))
        count += len(some)
    parcels = (
        plain_passages(some)
        for some, done in zip(batched(read(), _AT_ONCE), known, strict=True)
        if not done
    )
    opened = options or RayOptions()

    def counted(done: int) -> None:
        if progress is not None:
            progress(done, count)

    with ray_session(opened):
        recordings = placed(_binding, (rules, key), parcels, known.count(False), opened)
        return replaying.bound(read, known, recordings, counted)


@dataclass(slots=True)
class _Replaying:
    """Binds with what workers found."""

    engine: Engine
    locator: ReplayingLocator
    runner: ReplayingRunner
    done: Ingested = field(default_factory=Ingested)

    @classmethod
    def of(cls, engine: Engine, key: bytes) -> _Replaying:
        locator = ReplayingLocator(engine.disclosure.locator, key)
        runner = ReplayingRunner(_local(), key)
        return cls(engine.with_locator(locator), locator, runner)

    def bound(
        self,
        read: Read,
        known: Sequence[bool],
        recordings: Iterator[Recording],
        progress: Callable[[int], None],
    ) -> Ingested:
        """Bind batch after batch; those that are known take no recording."""
        for some, is_known in zip(batched(read(), _AT_ONCE), known, strict=True):
            recording = {} if is_known else next(recordings)
            self.locator.recording = self.runner.recording = recording
            self.done += run(bind(some, self.engine), self.runner)
            progress(self.done.passages)
        return self.done


def _engine(rules: Policy, state: StateSource) -> Engine:
    return Engine(rules, state=state, stage="bind")


def _local() -> EffectRunner:
    return PortRunner(Ports(embed=local_embeddings()))


def _binding(rules: Policy, key: bytes) -> Work:
    """Make a worker that binds a batch in memory, and returns what it found."""
    locator = _engine(rules, None).disclosure.locator

    def bound(rows: Sequence[Any]) -> Recording:
        recorder = Recorder(_local(), locator, key)
        run(
            bind(as_passages(rows), _engine(rules, None).with_locator(recorder)),
            recorder,
        )
        return recorder.recording

    return bound
