"""Chunks inherit the tags of the sections that they are placed in."""

from __future__ import annotations

import pytest

from sdrag import Principal, Span
from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.guardrails import access
from sdrag.guardrails.inheritance import (
    Chunk,
    DocumentSection,
    ParentDocuments,
    inherit,
    tags_for_nobody,
)
from sdrag.policy import AccessSection, Policy
from sdrag.vocabulary import Passage

TEXT = "Open to all. The pay is 20 pounds. Open to all. Nothing else is said."
TAGS = {"tenant": "a", "roles": ["hr", "it"]}
PAY = DocumentSection(Span(13, 34), {"roles": ["hr"], "level": 2})
OPEN = DocumentSection(Span(0, 12), {})
POLICY = {"access": {}}


def give(chunks, policy=POLICY, sections=(PAY,), document="doc"):
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


@pytest.mark.parametrize(
    "chunk",
    [
        ("Open to all.", None),  # it is there twice
        ("The pay is 30 pounds.", 13),  # it is not there
        ("", 0),
    ],
)
def test_a_chunk_that_cannot_be_placed_is_nobodys(chunk):
    """It keeps no tag that admits anybody; a decision says so."""
    (metadata,), decisions = give([chunk])

    for roles in ({"hr"}, {"it"}, {"hr", "it"}):
        assert not seen(metadata, Principal("u", "a", frozenset(roles), 9))
    assert [(item.rule, item.reason) for item in decisions] == [("access", "unplaced")]


def test_a_chunk_of_an_unknown_document_is_nobodys():
    """Its tags are known to nobody."""
    (metadata,), decisions = give([("Open to all.", 0)], document="other")

    assert not seen(metadata, Principal("u", "a", frozenset({"hr"}), 9))
    assert [item.reason for item in decisions] == ["unplaced"]


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


@pytest.mark.parametrize(
    "section",
    [
        {},
        {"tenant_key": None},
        {"tenant_key": None, "roles_key": None},
        {"tenant_key": None, "roles_key": None, "uses_key": None},
    ],
)
@pytest.mark.parametrize("without", ["deny", "public"])
def test_the_tags_of_nobody_admit_nobody(section, without):
    """Whatever keys the policy looks at, and also where untagged is public."""
    made = AccessSection(**section, without_principal=without)
    held = [Passage("p", "text", tags_for_nobody(made))]
    who = Principal("u", "a", frozenset({"hr"}), 10**6, {"use": "all"})

    for principal in (who, Principal("v"), None):
        assert run(access.check(held, principal, made), None).passages == ()


def test_a_tag_that_cannot_be_compared_is_an_error():
    """Nothing is stored with it."""
    odd = DocumentSection(Span(13, 34), {"level": "two"})

    with pytest.raises(UsageError, match="must be a number"):
        give([("pay is", None), ("The pay", None)], sections=(odd,))
