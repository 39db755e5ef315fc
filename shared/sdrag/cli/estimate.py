"""What binding would cost: `sdrag bind --dry-run`."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

from sdrag.disclosure import locate
from sdrag.disclosure.blocks import CHARACTERS_PER_TOKEN
from sdrag.hosting import local_embeddings
from sdrag.performing import PortPerformer, Ports
from sdrag.pipeline import Engine
from sdrag.policy import Policy
from sdrag.steps import run

if TYPE_CHECKING:
    from sdrag.cli.chunks import Chunks
    from sdrag.vocabulary import Passage

__all__ = ["estimate"]

_SAMPLE = 20_000
"""So many characters are located to see how fast it goes."""


def estimate(policy: Policy, chunks: Chunks, *, has_model: bool) -> dict[str, float]:
    """
    Estimate what binding would take; the model is asked nothing.

    Args:
        policy: What would be bound.
        chunks: To what.
        has_model: Whether a model would be asked too. Its calls are counted as if every
            constraint were a candidate for every document: there are at most so many.

    Returns:
        Chunks, calls of the model, tokens of text in them, and seconds of the local
        engine, without those of the model.
    """
    sample: list[Passage] = []
    characters: dict[object, int] = {}
    count = sampled = total = 0
    for passage in chunks.passages():
        count += 1
        size = len(passage.text)
        total += size
        document = passage.document_id or passage.id
        characters[document] = characters.get(document, 0) + size
        if sampled < _SAMPLE:
            sample.append(passage)
            sampled += size
    section = policy.disclosure
    batches = math.ceil(len(policy.rules) / section.batch_size)
    blocks = sum(
        math.ceil(size / CHARACTERS_PER_TOKEN / section.token_budget)
        for size in characters.values()
    )
    seconds = _seconds(policy, sample) * total / max(sampled, 1)
    return {
        "chunks": count,
        "calls": blocks * batches if has_model else 0,
        "tokens": total // CHARACTERS_PER_TOKEN * batches if has_model else 0,
        "seconds": round(seconds, 1),
    }


def _seconds(policy: Policy, sample: list[Passage]) -> float:
    engine = Engine.build(policy, releasing=False)
    performer = PortPerformer(Ports(embed=local_embeddings()))
    run(locate(sample[:1], engine.disclosure), performer)  # what loads, loads now
    started = perf_counter()
    run(locate(sample, engine.disclosure), performer)
    return perf_counter() - started
