"""The page of a masked corpus."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.suites.linkage_clusters import packaged_clusters
from sdrag.linkage import fit
from sdrag.reports.linkage import render_linkage
from sdrag.vocabulary import Decision


def test_a_report_holds_no_value():
    """Types, numbers and ids; no script, no address outside, and what is missing."""
    clusters = packaged_clusters()
    documents = [d for cluster in clusters for d in cluster.documents]
    mentions = {k: v for c in clusters for k, v in (c.entities or {}).items()}
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
