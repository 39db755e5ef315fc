"""
The vector of a question, made once in a request.

The host's store needs it to search, over-fetching needs it to search again, relevance
and the ranking of constraints compare with it. Whoever makes it first shares it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sdrag.effects.runner import Port
from sdrag.effects.steps import Embed, Search
from sdrag.vocabulary import Passage

__all__ = ["EmbedPort", "HostSearch", "embedding_once"]

Known = Callable[[str], Sequence[float] | None]
EmbedPort = Port[Embed, Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class HostSearch:
    """
    The host's retriever, as one request may use it.

    Args:
        port: Searches.
        vector: Returns the vector that a question was searched by, where the model
            that made it is the policy's too.
    """

    port: Port[Search, Sequence[Passage]]
    vector: Known | None = None


def embedding_once(port: EmbedPort, vector: Known | None = None) -> EmbedPort:
    """
    Return a port for one request that embeds each question once.

    Args:
        port: Embeds.
        vector: Knows vectors that the port did not make.
    """
    made: dict[tuple[str, ...], Sequence[Sequence[float]]] = {}

    def known(effect: Embed) -> Sequence[Sequence[float]] | None:
        if not effect.query:
            return None
        found = [vector(text) if vector else None for text in effect.items]
        vectors = [item for item in found if item is not None]
        return vectors if len(vectors) == len(found) else made.get(effect.items)

    def kept(
        effect: Embed, vectors: Sequence[Sequence[float]]
    ) -> Sequence[Sequence[float]]:
        if effect.query:
            made[effect.items] = vectors
        return vectors

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        found = known(effect)
        return kept(effect, port.call(effect)) if found is None else found

    inner = port.acall
    if inner is None:
        return replace(port, call=call)

    async def acall(effect: Embed) -> Sequence[Sequence[float]]:
        found = known(effect)
        return kept(effect, await inner(effect)) if found is None else found

    return replace(port, call=call, acall=acall)
