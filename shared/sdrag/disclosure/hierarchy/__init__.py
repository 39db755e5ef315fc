"""Hierarchical summaries of chunks, after RAPTOR (SD-RAG, section III-C1)."""

from sdrag.disclosure.hierarchy.building import add_summaries, build_hierarchy
from sdrag.disclosure.hierarchy.tree import (
    LAYER_KEY,
    SOURCES_KEY,
    Hierarchy,
    HierarchySettings,
    Summary,
    in_layers,
)

__all__ = [
    "LAYER_KEY",
    "SOURCES_KEY",
    "Hierarchy",
    "HierarchySettings",
    "Summary",
    "add_summaries",
    "build_hierarchy",
    "in_layers",
]
