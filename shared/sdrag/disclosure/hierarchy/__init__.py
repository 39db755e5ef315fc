"""Hierarchical summaries of chunks, after RAPTOR (SD-RAG, section III-C1)."""

from sdrag.disclosure.hierarchy.building import build_hierarchy
from sdrag.disclosure.hierarchy.indexing import add_summaries, inherit
from sdrag.disclosure.hierarchy.layers import LAYER_KEY, SOURCES_KEY, in_layers
from sdrag.disclosure.hierarchy.tree import Hierarchy, HierarchySettings, Summary

__all__ = [
    "LAYER_KEY",
    "SOURCES_KEY",
    "Hierarchy",
    "HierarchySettings",
    "Summary",
    "add_summaries",
    "build_hierarchy",
    "in_layers",
    "inherit",
]
