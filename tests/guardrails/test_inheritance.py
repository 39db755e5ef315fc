"""What a chunk takes over from its document and the sections it touches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.guardrails import access
from sdrag.guardrails.access import AccessSection
from sdrag.guardrails.inheritance import (
    NOBODY,
    Chunk,
    DocumentSection,
    ParentDocuments,
    combine_metadata,
    inherit,
    tags_for_nobody,
)
from sdrag.policy import Policy
from sdrag.vocabulary import Passage, Principal, Span

POLICY = Policy.read({"access": {}, "staleness": {}, "contradictions": {}})
CHUNK = Span(10, 30)


def facts(document, *sections, policy=POLICY):
    """Return what the chunk inherits of sections given as start, end, metadata."""
    held = [DocumentSection(Span(start, end), item) for start, end, item in sections]
    return combine_metadata(CHUNK, document, held, policy)


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


@pytest.mark.parametrize(
    ("key", "tag"),
    [("roles", {"a": 1}), ("roles", [["a"]]), ("roles", object()), ("level", "two")],
)
def test_a_tag_of_another_type_is_refused(key, tag):
    """It could not be compared, so it could not be closed either."""
    with pytest.raises(UsageError, match="must be"):
        facts({"tenant": "a", "roles": "x"}, (0, 20, {key: tag}))


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
    held = facts(document, *sections)

    if seen(held, who):
        for _, _, metadata in sections:
            assert seen({**document, **metadata}, who)


TEXT = "Open to all. The pay is 20 pounds. Open to all. Nothing else is said."
TAGS = {"tenant": "a", "roles": ["hr", "it"]}
PAY = DocumentSection(Span(13, 34), {"roles": ["hr"], "level": 2})
OPEN = DocumentSection(Span(0, 12), {})


ACCESS = {"access": {}}


def give(chunks, policy=ACCESS, sections=(PAY,), document="doc"):
    """Return the metadata that chunks inherit, and the decisions."""
    parents = ParentDocuments({"doc": Passage("doc", TEXT, TAGS)}, {"doc": sections})
    passages = [
        Chunk(Passage(str(n), text, {"source": document}, document_id=document), start)
        for n, (text, start) in enumerate(chunks)
    ]
    screened = inherit(passages, parents, Policy.read(policy))
    return [passage.metadata for passage in screened.passages], screened.decisions


def seen(metadata, principal):
    steps = access.check([Passage("p", "t", metadata)], principal, AccessSection())
    return bool(run(steps, None).passages)


@pytest.mark.parametrize(
    ("chunk", "facts"),
    [
        (("The pay is 20 pounds.", None), {"roles": ["hr"], "level": 2}),
        (("20 pounds. Open", None), {"roles": ["hr"], "level": 2}),
        (("Nothing else is said.", None), {"roles": ["hr", "it"]}),
        (("Open to all.", 35), {"roles": ["hr", "it"]}),
    ],
)
def test_a_chunk_is_as_closed_as_the_sections_that_it_touches(chunk, facts):
    """It is found by its text, or where its splitter says that it begins."""
    (metadata,), decisions = give([chunk])

    assert metadata["tenant"] == "a"
    assert {key: metadata.get(key) for key in ("roles", "level")} == {
        "level": None,
        **facts,
    }
    assert decisions == ()


def test_a_chunk_that_cannot_be_placed_is_nobodys():
    """It keeps no tag that admits anybody; a decision says so."""
    who = Principal("u", "a", frozenset({"hr", "it"}), 9)
    for text, start, document in (
        ("Open to all.", None, "doc"),  # it is there twice
        ("The pay is 30 pounds.", 13, "doc"),  # it is not there
        ("", 0, "doc"),
        ("Open to all.", 0, "other"),
    ):
        (metadata,), (decision,) = give([(text, start)], document=document)

        assert not seen(metadata, who), text
        assert (decision.rule, decision.reason) == ("access", "unplaced")


def test_a_document_without_sections_is_all_of_a_piece():
    """Then a chunk need not be found in it: a splitter may have changed its text."""
    (metadata,), decisions = give([("Open  to  all.", None)], sections=())

    assert metadata["roles"] == ["hr", "it"]
    assert decisions == ()


def test_without_access_only_the_other_facts_are_inherited():
    """The earliest date of expiry of what it touches, and of all where in doubt."""
    policy = {"staleness": {}}
    soon = DocumentSection(PAY.span, {"valid_until": "2030-01-01"})
    late = DocumentSection(OPEN.span, {"valid_until": "2031-01-01"})

    (pay, twice), _ = give(
        [("The pay is 20 pounds.", None), ("Open to all.", None)],
        policy=policy,
        sections=(soon, late),
    )

    assert pay["valid_until"] == "2030-01-01"
    assert twice["valid_until"] == "2030-01-01"
    assert "roles" not in pay


def test_the_tags_of_nobody_admit_nobody():
    """Whatever keys the policy looks at, and also where untagged is public."""
    who = Principal("u", "a", frozenset({"hr"}), 10**6, {"use": "all"})
    keys = ("tenant_key", "roles_key", "uses_key")
    for missing in range(4):
        for without in ("deny", "public"):
            left_out = dict.fromkeys(keys[:missing])
            section = AccessSection(**left_out, without_principal=without)
            held = [Passage("p", "text", tags_for_nobody(section))]

            for principal in (who, Principal("v"), None):
                steps = access.check(held, principal, section)
                assert run(steps, None).passages == (), (left_out, without)
