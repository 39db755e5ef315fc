"""
Which layer a chunk of a flattened tree is on, and what it was made from.

Leaves are the chunks themselves, on layer 0, and so is what carries no mark. A search
is held to layers by the host's own metadata filter, or by dropping the others: [0],
[1, 2] or all, as in Table II.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sdrag.vocabulary import Passage

__all__ = ["LAYER_KEY", "SOURCES_KEY", "in_layers", "layer_of"]

LAYER_KEY = "sdrag_layer"
SOURCES_KEY = "sdrag_sources"
"""The ids of what a summary was made from, separated by line breaks: stores take flat
values only."""


def layer_of(passage: Passage) -> int:
    """Return the layer; some stores give every number back as a float."""
    layer = passage.metadata.get(LAYER_KEY, 0)
    return int(layer) if isinstance(layer, (int, float)) else 0


def in_layers(
    passages: Iterable[Passage], layers: Collection[int] | None
) -> tuple[Passage, ...]:
    """Return the passages on these layers; `None` keeps all."""
    return tuple(
        passage for passage in passages if layers is None or layer_of(passage) in layers
    )
