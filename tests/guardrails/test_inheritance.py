"""What a chunk takes over from its document and the sections it touches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.guardrails import access
from sdrag.guardrails.inheritance import NOBODY, DocumentSection, inherited
from sdrag.policy import AccessSection, Policy
from sdrag.vocabulary import Passage, Principal, Span

POLICY = Policy.read({"access": {}, "staleness": {}, "contradictions": {}})
CHUNK = Span(10, 30)


def facts(document, *sections, policy=POLICY):
    """Return what the chunk inherits of sections given as start, end, metadata."""
    held = [DocumentSection(Span(start, end), item) for start, end, item in sections]
    return inherited(CHUNK, document, held, policy)


@pytest.mark.parametrize(
    ("document", "sections", "expected"),
    [
        ({"tenant": "a"}, [], {"tenant": "a"}),
        ({"tenant": "a"}, [(0, 40, {"level": 2})], {"tenant": "a", "level": 2}),
        ({"tenant": "a"}, [(40, 50, {"level": 2})], {"tenant": "a"}),
        (
            {"tenant": "a", "level": 1},
            [(0, 20, {"level": 3}), (20, 40, {"level": 2})],
            {"tenant": "a", "level": 3},
        ),
        (
            {"tenant": "a", "roles": ["x", "y"]},
            [(0, 20, {"roles": ["x"]})],
            {"tenant": "a", "roles": ["x"]},
        ),
        (
            {"tenant": "a"},
            [(0, 20, {"roles": "x"}), (20, 40, {"roles": ["y"]})],
            {"tenant": "a", "roles": [NOBODY]},
        ),
        (
            {"tenant": "a", "allowed_uses": ["research", "teaching"]},
            [(0, 40, {"allowed_uses": "teaching"})],
            {"tenant": "a", "allowed_uses": "teaching"},
        ),
        ({}, [(0, 20, {"tenant": "a"})], {"tenant": [NOBODY], "roles": [NOBODY]}),
    ],
)
def test_a_chunk_is_as_closed_as_the_most_closed_of_its_sections(
    document, sections, expected
):
    """Tags are intersected, and the highest level holds."""
    assert facts(document, *sections) == expected


def test_what_belongs_to_the_document_is_inherited_as_it_is():
    """Dates, versions, credibility and topic; the earliest expiry of the sections."""
    document = {
        "valid_until": "2030-01-01",
        "updated": "2020-01-01",
        "version": 3,
        "authority": 5,
        "topic": "money",
        "page": 7,
    }

    held = facts(document, (0, 20, {"valid_until": "2025-01-01"}))

    del document["page"]
    assert held == {**document, "valid_until": "2025-01-01"}


def test_an_expiry_that_cannot_be_read_stays_in_doubt():
    """It is not passed over for one that can."""
    held = facts({"valid_until": "2030-01-01"}, (0, 40, {"valid_until": "soon"}))

    assert held["valid_until"] == "soon"


@pytest.mark.parametrize("tag", [{"a": 1}, [["a"]], object()])
def test_a_tag_of_another_type_is_refused(tag):
    """It could not be compared, so it could not be closed either."""
    with pytest.raises(UsageError):
        facts({"tenant": "a", "roles": "x"}, (0, 20, {"roles": tag}))


names = st.sampled_from(["a", "b"])
tags = st.fixed_dictionaries(
    {},
    optional={
        "tenant": names | st.lists(names, min_size=1, max_size=2),
        "roles": names | st.lists(names, min_size=1, max_size=2),
        "level": st.integers(0, 2),
    },
)
stretches = st.tuples(st.integers(0, 25), st.integers(26, 40), tags)
principals = st.builds(
    Principal,
    id=st.just("u"),
    tenant=names | st.none(),
    roles=st.frozensets(names),
    level=st.integers(0, 2),
)


@given(tags, st.lists(stretches, max_size=3), principals)
def test_nobody_sees_by_a_chunk_what_a_section_of_it_hides(document, sections, who):
    """Whoever may see the chunk may see every stretch of the document it touches."""
    section = AccessSection()

    def admits(metadata):
        steps = access.check([Passage("p", "text", metadata)], who, section)
        return bool(run(steps, None).passages)

    held = facts(document, *sections)

    if admits(held):
        for _, _, metadata in sections:
            assert admits({**document, **metadata})
