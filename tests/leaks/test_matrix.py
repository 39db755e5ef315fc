"""Canaries in every passage, and a look into every place that data can leave by."""

from __future__ import annotations

from pathlib import Path

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import HostError

from ..support.faces import RETRIEVERS, Scenario
from .canaries import QUERY, RAW, SETTINGS, leaked
from .matrix import LOGGED, SUBJECTS, found, written
from .surfaces import told

ROOT = Path(__file__).parents[2]
READS_NOTHING = {
    ("langchain", "FilteredRetriever"),  # a pair that a wrapper takes
    ("llamaindex", "FilteredRetriever"),
    ("langchain", "DisclosureControl"),  # builds the others
    ("llamaindex", "DisclosureControl"),
}
CELLS = [
    pytest.param(subject, mode, id=f"{subject.framework}-{subject.name}-{mode}")
    for subject in SUBJECTS
    for mode in subject.modes
]


@pytest.mark.parametrize(("subject", "mode"), CELLS)
def test_no_canary_is_seen_anywhere(subject, mode, tmp_path):
    """Every surface is sealed, but for those that the host fills before it calls us."""
    names = found(subject, mode, tmp_path)

    expected = {*names} & (subject.host_first | subject.traced)
    assert {surface for surface, held in names.items() if held} == expected


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_without_the_filter_only_logs_and_warnings_are_open(framework, tmp_path):
    """What an application has that does not put `RawTextFilter` on its handlers."""
    subject = next(s for s in SUBJECTS if s.framework == framework)
    names = found(subject, "sync", tmp_path, filtered=False)

    assert {surface for surface, held in names.items() if held} == {LOGGED}


def test_the_documentation_shows_this_matrix():
    """`python -m benchmarks.leak_matrix --write` writes it anew."""
    page = (ROOT / "docs" / "leak-matrix.md").read_text(encoding="utf-8")

    assert written() in page


@pytest.mark.parametrize("face", RETRIEVERS, ids=lambda face: face.__name__)
def test_what_an_error_drags_along_holds_no_canary(face):
    """It names the step; its text, chain and the locals of our frames hold no text."""
    with pytest.raises(HostError) as caught:
        face(Scenario("host", policy=SETTINGS, query=QUERY, fault=ValueError(RAW)))

    assert "The retriever failed with ValueError." in str(caught.value)
    assert not leaked(told(caught.value))


def test_every_public_class_is_in_the_matrix():
    """A class that is added without being watched fails here."""
    watched = {(subject.framework, subject.name) for subject in SUBJECTS}
    public = {("langchain", name) for name in langchain_sdrag.__all__} | {
        ("llamaindex", name) for name in llamaindex_sdrag.__all__
    }

    assert watched == public - READS_NOTHING
