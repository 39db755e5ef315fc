"""What a tree of summaries is made of, and by which settings it grows."""

from __future__ import annotations

from dataclasses import dataclass

from sdrag.engine.progress import Progress
from sdrag.errors import UsageError
from sdrag.vocabulary import Confidential, Decision, Passage

__all__ = ["Hierarchy", "HierarchySettings", "Progress", "Summary"]


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
        """The summaries, to be indexed beside the leaves."""
        return tuple(summary.passage for summary in self.summaries)
