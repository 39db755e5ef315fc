"""
What a tree of summaries is made of, by which settings it grows, and its layers.

Leaves are the chunks themselves, on layer 0, and so is what carries no mark. A search
is held to layers by the host's own metadata filter, or by dropping the others: [0],
[1, 2] or all, as in Table II.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sdrag.disclosure.texts import LAYER_KEY
from sdrag.effects.progress import Progress
from sdrag.errors import UsageError
from sdrag.vocabulary import Confidential, Decision, Passage

__all__ = [
    "LAYER_KEY",
    "SOURCES_KEY",
    "Hierarchy",
    "HierarchySettings",
    "Progress",
    "Summary",
    "in_layers",
    "layer_of",
]

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


@dataclass(frozen=True, slots=True)
class HierarchySettings:
    """
    How the tree is grown.

    Args:
        depth: Layers, the leaves included; the paper's trees have three.
        dimensions: Of the projection.
        threshold: From which probability a chunk belongs to a cluster.
        characters: The most text that one prompt holds; a larger cluster is parted.
        apart: Metadata keys whose values are never joined in one summary, since they
            say who may see it.
    """

    depth: int = 3
    dimensions: int = 10
    threshold: float = 0.1
    characters: int = 12_000
    apart: tuple[str, ...] = ("tenant", "roles", "level", "allowed_uses")

    def __post_init__(self) -> None:
        if self.depth < 1 or self.dimensions < 1 or self.characters < 1:
            raise UsageError("A tree has a layer, a dimension and room for text.")
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError("A chunk belongs to a cluster from a probability up to 1.")


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Confidential):
    """
    A summary, and what it was made from.

    Args:
        passage: A chunk of its own, that names its layer and its sources.
        sources: The chunks or summaries of the layer below that it joins.
    """

    passage: Passage
    sources: tuple[Passage, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Hierarchy(Confidential):
    """
    The layers above the leaves.

    Args:
        summaries: Lowest layer first.
        decisions: On clusters that could not be summarized, under the ids that their
            summaries would have had.
    """

    summaries: tuple[Summary, ...]
    decisions: tuple[Decision, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The summaries, to be indexed next to the leaves."""
        return tuple(summary.passage for summary in self.summaries)
