"""The page and the graph of a masked corpus."""

from __future__ import annotations

import sys
from dataclasses import replace

import networkx as nx
import pytest

from benchmarks.suites.linkage_clusters import read_clusters
from sdrag.errors import MissingExtraError
from sdrag.linkage import assess, fit
from sdrag.state import open_state
from sdrag.studio.reports.linkage import render_linkage
from sdrag.vocabulary import Decision


def clusters():
    """Return the documents of the packaged clusters, and what is found in each."""
    packaged = read_clusters()
    documents = [document for cluster in packaged for document in cluster.documents]
    return documents, {k: v for c in packaged for k, v in (c.entities or {}).items()}


def test_a_report_holds_no_value():
    """Types, numbers and ids; no script, no address outside, and what is missing."""
    documents, mentions = clusters()
    for settings in (None, {"chain_length": 4, "max_document_risk": 1.0}):
        masked = fit(documents, settings, mentions).masked
        withheld = Decision("x", "withheld", "linkage")
        report = render_linkage(
            replace(masked, decisions=(*masked.decisions, withheld))
        )
        forms = {f for e in masked.assessment.resolved.entities for f in e.forms}
        assert not [form for form in forms if len(form) > 3 and form in report]
        assert "<script" not in report
        assert "http:" not in report
        assert "<svg" in report
        assert "1 documents could not be read" in report


def test_a_report_says_what_was_not_compared():
    """Types of which there are too many forms: what they link may be missing."""
    documents, mentions = clusters()
    masked = fit(documents, None, mentions).masked
    resolved = replace(masked.assessment.resolved, not_compared=("A<B",))
    assessment = replace(masked.assessment, resolved=resolved)

    report = render_linkage(replace(masked, assessment=assessment))

    assert "compared by their meaning: A&lt;B." in report


@pytest.mark.parametrize("style", ["label", "pseudonym"])
def test_the_graph_says_what_the_plan_says(tmp_path, style):
    """The links, the paths of chains, what is masked and what is left; no value."""
    documents, mentions = clusters()
    rows = [(row, n) for n, d in enumerate(documents) for row in mentions[d.id]]
    form, number = next((row[0], n) for row, n in rows if row[2] == "PATIENT_ID")
    named = replace(documents[number], id=f"{form}.txt")  # an id that holds a value
    mentions[named.id] = mentions[documents[number].id]
    documents[number] = named
    settings = {"chain_length": 3, "replace": style}
    masked = fit(documents, settings, mentions, key=b"0123456789abcdef").masked
    assessment, plan, graph = masked.assessment, masked.plan, masked.graph

    before = assessment.graph
    links = {
        (e.first, e.second): (e.strength, " ".join(e.via)) for e in assessment.links
    }
    edges = before.edges(data=True)
    assert {(a, b): (e["strength"], e["via"]) for a, b, e in edges} == links
    assert dict(before.nodes(data="risk")) == assessment.document_risk
    assert all(nx.is_path(before, chain.documents) for chain in assessment.chains)

    names = [document.id for document in masked.documents]
    assert [*graph] == names
    left = zip(plan.after.first, plan.after.second, strict=True)
    kept = [(a, b) for a, b, is_kept in graph.edges(data="kept") if is_kept]
    assert sorted(kept) == sorted((names[a], names[b]) for a, b in left)
    assert [*dict(graph.nodes(data="risk_after")).values()] == pytest.approx(
        plan.document_risk.tolist()
    )
    gone = {plan.corpus.entity_ids[number] for number in plan.why}
    for *_, edge in graph.edges(data=True):
        via = edge["via"].split()
        assert edge["masked"].split() == [name for name in via if name in gone]
        assert len(edge["types"].split()) == len(via)

    nx.write_graphml(graph, tmp_path / "links.graphml")
    again = nx.read_graphml(tmp_path / "links.graphml")
    assert (again.adj, again.nodes) == (graph.adj, graph.nodes)
    written = (tmp_path / "links.graphml").read_text(encoding="utf-8")
    values = {value for entity in masked.entities for value in entity.forms}
    assert form in values
    assert not [value for value in values if len(value) > 3 and value in written]


def test_a_missing_networkx_is_one_clear_error(monkeypatch):
    """It names the extra that brings it; only graphs need it."""
    masked = fit([], {}, {}).masked
    monkeypatch.setitem(sys.modules, "networkx", None)
    for hand_out in (
        lambda: masked.graph,
        lambda: assess([], {}).graph,
        lambda: open_state().bindings.graph([]),
    ):
        with pytest.raises(MissingExtraError, match=r"sdrag\[linkage\]"):
            hand_out()
