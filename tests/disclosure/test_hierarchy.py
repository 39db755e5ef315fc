"""Hierarchical summaries: a tree over each document, flattened into the index."""

import numpy as np
import pytest

from sdrag.disclosure import MemoryBindings, bind
from sdrag.disclosure.hierarchy import (
    LAYER_KEY,
    SOURCES_KEY,
    HierarchySettings,
    build_hierarchy,
    in_layers,
)
from sdrag.disclosure.hierarchy.building import inherit
from sdrag.disclosure.hierarchy.clusters import clusters
from sdrag.errors import ModelError, UsageError
from sdrag.policy import DisclosureSection
from sdrag.steps import Complete, run
from sdrag.testing import Scripted
from sdrag.vocabulary import Constraint, Passage

RULE = Constraint("names", "Remove names of witnesses")


def leaves(count, document="d", **metadata):
    return tuple(
        Passage(f"{document}{n}", f"Fact {n} of {document}.", metadata, None, document)
        for n in range(count)
    )


def grown(passages, settings=None, complete=lambda _: "A summary."):
    performer = Scripted(complete=complete)
    return run(build_hierarchy(passages, settings), performer), performer


def test_few_chunks_make_one_summary():
    """A summary is a chunk of its own that names its layer and its sources."""
    (summary,), _ = grown(leaves(3), HierarchySettings(depth=2))

    assert summary.text == "A summary."
    assert summary.metadata[LAYER_KEY] == 1
    assert summary.metadata[SOURCES_KEY] == "d0\nd1\nd2"
    assert summary.document_id == "d"


@pytest.mark.parametrize(
    ("layers", "count"), [((0,), 3), ((1, 2), 1), (None, 4), ((2,), 0)]
)
def test_retrieval_is_held_to_layers(layers, count):
    """[0] is the chunks, [1, 2] the summaries, all is both."""
    chunks = leaves(3)
    summaries, _ = grown(chunks)

    assert len(in_layers((*chunks, *summaries), layers)) == count


def test_documents_and_audiences_stay_apart():
    """No summary joins two documents, or two audiences of one."""
    chunks = (*leaves(2, "a"), *leaves(2, "b", roles="x"))
    chunks += tuple(
        Passage(f"b9{n}", "Other.", {"roles": "y"}, None, "b") for n in range(2)
    )
    summaries, _ = grown(chunks, HierarchySettings(depth=2))

    assert [s.metadata[SOURCES_KEY] for s in summaries] == [
        "a0\na1",
        "b0\nb1",
        "b90\nb91",
    ]
    assert [s.metadata.get("roles") for s in summaries] == [None, "x", "y"]


def test_failed_summary_is_left_out():
    """A cluster without a summary has none; its chunks stay in the index."""

    def fail(_):
        raise ModelError("down")

    summaries, _ = grown(leaves(3), complete=fail)

    assert summaries == ()


def test_prompts_hold_no_question():
    """Summarizing reads the chunks alone."""
    _, performer = grown(leaves(3))
    prompts = [p for e in performer.effects if isinstance(e, Complete) for p in e.items]

    assert {p.name for p in prompts} == {"disclosure.summarize"}


def test_summaries_inherit_bindings():
    """A summary is bound to whatever its sources are bound to."""
    chunks = leaves(3)
    store, section = MemoryBindings(), DisclosureSection(bind_top_n=1)
    run(bind(chunks, [RULE], store, section), Scripted())
    (summary,), _ = grown(chunks, HierarchySettings(depth=2))
    run(bind([summary], [RULE], store, section), Scripted())

    run(inherit([summary], [RULE], store, chunks, section), Scripted())

    assert set(store.read([summary], [RULE])[0]) == {"names"}


def test_settings_are_checked():
    """A tree has at least a layer."""
    with pytest.raises(UsageError):
        HierarchySettings(depth=0)


@pytest.mark.slow
def test_clusters_follow_meaning():
    """Vectors that lie apart are apart, and every one has a cluster."""
    pytest.importorskip("umap")
    generator = np.random.default_rng(0)
    centres = np.eye(16)[:3]
    rows = np.repeat(centres, 12, axis=0) + generator.normal(0, 0.02, (36, 16))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    found = clusters(vectors, dimensions=4)

    assert {row for group in found for row in group} == set(range(36))
    assert all(len({row // 12 for row in group}) == 1 for group in found)
