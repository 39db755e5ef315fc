"""Hierarchical summaries of chunks, after RAPTOR (SD-RAG, section III-C1)."""

from sdrag.disclosure.hierarchy.building import HierarchySettings, build_hierarchy
from sdrag.disclosure.hierarchy.layers import LAYER_KEY, SOURCES_KEY, in_layers

__all__ = [
    "LAYER_KEY",
    "SOURCES_KEY",
    "HierarchySettings",
    "build_hierarchy",
    "in_layers",
]
