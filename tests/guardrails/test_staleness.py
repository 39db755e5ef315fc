"""Staleness: what is out of date is not answered from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest

from sdrag.guardrails import staleness
from sdrag.guardrails.results import Retrieval
from sdrag.guardrails.staleness import StalenessSection
from sdrag.vocabulary import Passage

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = Retrieval("q", NOW)
SECTION = StalenessSection()


def passages(*metadata):
    return [Passage(str(n), "text", item) for n, item in enumerate(metadata)]


def kept(screened):
    return [int(passage.id) for passage in screened.passages]


@pytest.mark.parametrize(
    ("until", "reason"),
    [
        (None, ""),
        ("2026-03-01", ""),
        (date(2026, 3, 1), ""),
        ("2026-02-28", "expired"),
        ("2026-03-01T11:59:00+00:00", "expired"),
        ("2026-03-01T11:59:00-05:00", ""),
        (datetime(2026, 3, 1, 11), "expired"),  # noqa: DTZ001 -- a loader's own
        (NOW.timestamp() - 1, "expired"),
        ("next spring", "unreadable-date"),
        ([], "unreadable-date"),
        (float("inf"), "unreadable-date"),
    ],
)
def test_a_passage_is_used_through_its_last_day(ask, until, reason):
    """What has expired, or cannot be read, is dropped; a day counts to its end."""
    screened = ask(
        staleness.at_retrieval(passages({"valid_until": until}), SECTION, ASKED)
    )

    assert [decision.reason for decision in screened.decisions] == (
        [reason] if reason else []
    )
    assert bool(screened.passages) == (not reason)


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        ([1, 2, 2], [1, 2]),
        (["1.9", "1.10"], [1]),
        (["v2", "2.0"], [0, 1]),
        (["2024-05-01", "2025-01-01"], [1]),
        (["draft", "draft"], [0, 1]),
        (["draft", "2"], []),
        ([3, None, 2], [0, 1]),
    ],
)
def test_only_the_newest_version_of_a_document_is_used(ask, versions, newest):
    """Older versions go; versions that cannot be compared all go."""
    held = passages(*({"document_id": "d", "version": version} for version in versions))

    assert kept(ask(staleness.at_retrieval(held, SECTION, ASKED))) == newest


def test_documents_do_not_replace_each_other(ask):
    """Versions are compared within a document, which a passage may name itself."""
    held = [
        Passage("0", "text", {"version": 1}, document_id="d"),
        Passage("1", "text", {"version": 2}, document_id="e"),
    ]

    assert kept(ask(staleness.at_retrieval(held, SECTION, ASKED))) == [0, 1]


def test_what_the_host_marks_superseded_goes(ask):
    """It needs no other version; one that cannot be read takes its passage alone."""
    unreadable = np.array([1, 2])
    held = passages(
        {"superseded_by": "d2"}, {"superseded_by": ""}, {"superseded_by": unreadable}
    )

    assert kept(ask(staleness.at_retrieval(held, SECTION, ASKED))) == [1]


def test_expired_passages_may_be_kept_with_a_disclaimer(ask):
    """The other strategy: they are flagged, and the answer says so."""
    section = StalenessSection(action="disclaim")
    held = passages({"valid_until": "2020-01-01", "updated": "2019-05-04"}, {})

    screened = ask(staleness.at_retrieval(held, section, ASKED))
    words = staleness.disclaimer(screened.passages, section, now=NOW)

    assert kept(screened) == [0, 1]
    assert [decision.action for decision in screened.decisions] == ["flagged"]
    assert "2019-05-04" in words
    assert "past their date" in words


def test_newer_passages_come_first_among_equals(ask):
    """A score counts for half with each half-life; no date is the oldest date."""
    section = StalenessSection(recency_half_life_days=30)
    held = [
        Passage("old", "t", {"updated": "2025-01-01"}, 0.9),
        Passage("undated", "t", {}, 0.9),
        Passage("new", "t", {"updated": "2026-02-28"}, 0.8),
    ]

    def ordered(given, section):
        steps = staleness.rank_at_retrieval(given, section, ASKED)
        return ask(steps).passages

    ranked = [(item.id, item.score) for item in ordered(held, section)]
    assert ranked == [("new", 0.8), ("old", 0.9), ("undated", 0.9)]
    assert ordered(held, SECTION) == tuple(held)
    distances = [replace(held[2], score=0.1), replace(held[2], id="far", score=0.6)]
    assert ordered(distances, section) == tuple(distances)
