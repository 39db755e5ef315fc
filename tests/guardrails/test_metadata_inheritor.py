"""Chunks inherit the facts of their documents and sections, in both frameworks."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_text_splitters import CharacterTextSplitter
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Principal, Span
from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.guardrails import access
from sdrag.guardrails.inheritance import DocumentSection, tags_for_nobody
from sdrag.policy import AccessSection
from sdrag.vocabulary import Passage

TEXT = "Open to all. The pay is 20 pounds. Open to all. Nothing else is said."
TAGS = {"tenant": "a", "roles": ["hr", "it"]}
PAY = DocumentSection(Span(13, 34), {"roles": ["hr"], "level": 2})
OPEN = DocumentSection(Span(0, 12), {})
POLICY = {"access": {}}


def in_langchain(chunks, policy=POLICY, sections=(PAY,), document="doc"):
    told = []
    given = [
        LangChainDocument(
            text, metadata={"source": document} | ({"start_index": s} if s else {})
        )
        for text, s in chunks
    ]
    inheritor = langchain_sdrag.MetadataInheritor(
        policy=policy,
        documents=[LangChainDocument(TEXT, metadata={"source": "doc", **TAGS})],
        sections={"doc": sections},
        audit=told.append,
    )
    before = [one.model_dump() for one in given]
    once = inheritor.transform_documents(given)
    assert asyncio.run(inheritor.atransform_documents(given)) == once
    assert [one.model_dump() for one in given] == before
    return [one.metadata for one in once], told[0].decisions


def in_llamaindex(chunks, policy=POLICY, sections=(PAY,), document="doc"):
    told = []
    of = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)}
    given = [
        TextNode(text=text, start_char_idx=start, relationships=of)
        for text, start in chunks
    ]
    inheritor = llamaindex_sdrag.MetadataInheritor(
        policy=policy,
        documents=[Document(id_="doc", text=TEXT, metadata=TAGS)],
        sections={"doc": sections},
        audit=told.append,
    )
    before = [one.model_dump() for one in given]
    once = inheritor(given)
    assert list(asyncio.run(inheritor.acall(given))) == list(once)
    assert [one.model_dump() for one in given] == before
    return [one.metadata for one in once], told[0].decisions


FACES = pytest.mark.parametrize("inheriting", [in_langchain, in_llamaindex])


def seen(metadata, principal):
    steps = access.check([Passage("p", "t", metadata)], principal, AccessSection())
    return bool(run(steps, None).passages)


@FACES
@pytest.mark.parametrize(
    ("chunk", "facts"),
    [
        (("The pay is 20 pounds.", None), {"roles": ["hr"], "level": 2}),
        (("20 pounds. Open", None), {"roles": ["hr"], "level": 2}),
        (("Nothing else is said.", None), {"roles": ["hr", "it"]}),
        (("Open to all.", 35), {"roles": ["hr", "it"]}),
    ],
)
def test_a_chunk_is_as_closed_as_the_sections_that_it_touches(inheriting, chunk, facts):
    """It is found by its text, or where its splitter says that it begins."""
    (metadata,), decisions = inheriting([chunk])

    assert metadata["tenant"] == "a"
    assert {key: metadata.get(key) for key in ("roles", "level")} == {
        "level": None,
        **facts,
    }
    assert decisions == ()


@FACES
@pytest.mark.parametrize(
    "chunk",
    [
        ("Open to all.", None),  # it is there twice
        ("The pay is 30 pounds.", 13),  # it is not there
        ("", 0),
    ],
)
def test_a_chunk_that_cannot_be_placed_is_nobodys(inheriting, chunk, caplog):
    """It keeps no tag that admits anybody; a decision and a warning say so."""
    (metadata,), decisions = inheriting([chunk])

    for roles in ({"hr"}, {"it"}, {"hr", "it"}):
        assert not seen(metadata, Principal("u", "a", frozenset(roles), 9))
    assert [(one.rule, one.reason) for one in decisions] == [("access", "unplaced")]
    said = [one.getMessage() for one in caplog.records if one.name == "sdrag"]
    assert sum("unplaced" in one for one in said) == 1
    assert "pounds" not in " ".join(said)


@FACES
def test_a_chunk_of_an_unknown_document_is_nobodys(inheriting):
    """Its tags are known to nobody."""
    (metadata,), decisions = inheriting([("Open to all.", 0)], document="other")

    assert not seen(metadata, Principal("u", "a", frozenset({"hr"}), 9))
    assert [one.reason for one in decisions] == ["unplaced"]


@FACES
def test_a_document_without_sections_is_all_of_a_piece(inheriting):
    """Then a chunk need not be found in it: a splitter may have changed its text."""
    (metadata,), decisions = inheriting([("Open  to  all.", None)], sections=())

    assert metadata["roles"] == ["hr", "it"]
    assert decisions == ()


@FACES
def test_without_access_only_the_other_facts_are_inherited(inheriting):
    """The earliest date of expiry of what it touches, and of all where in doubt."""
    policy = {"staleness": {}}
    soon = DocumentSection(PAY.span, {"valid_until": "2030-01-01"})
    late = DocumentSection(OPEN.span, {"valid_until": "2031-01-01"})

    (pay, twice), _ = inheriting(
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


@FACES
def test_a_tag_that_cannot_be_compared_is_an_error(inheriting):
    """Nothing is stored with it."""
    odd = DocumentSection(Span(13, 34), {"level": "two"})

    with pytest.raises(UsageError, match="must be a number"):
        inheriting([("pay is", None), ("The pay", None)], sections=(odd,))


def test_it_follows_a_splitter_of_langchain():
    """The index that the splitter writes places chunks that are there twice."""
    documents = [LangChainDocument(TEXT, metadata={"source": "doc", **TAGS})]
    splitter = CharacterTextSplitter(
        separator=". ", chunk_size=25, chunk_overlap=0, add_start_index=True
    )
    inheritor = langchain_sdrag.MetadataInheritor(
        policy=POLICY, documents=documents, sections={"doc": [PAY]}
    )

    chunks = inheritor.transform_documents(splitter.split_documents(documents))

    tags = {one.page_content: one.metadata["roles"] for one in chunks}
    assert tags["The pay is 20 pounds"] == ["hr"]
    assert all("sdrag:nobody" not in roles for roles in tags.values())


def test_it_follows_a_splitter_of_llamaindex_and_its_cache():
    """In a pipeline; other documents or sections never find an old result."""
    document = Document(id_="doc", text=TEXT, metadata={"tenant": "a"})
    splitter = SentenceSplitter(chunk_size=24, chunk_overlap=0, include_metadata=False)

    def inheritor(*sections):
        return llamaindex_sdrag.MetadataInheritor(
            policy=POLICY, documents=[document], sections={"doc": sections}
        )

    pipeline = IngestionPipeline(transformations=[splitter, inheritor(PAY)])
    nodes = pipeline.run(documents=[document])
    pay = next(node for node in nodes if "pay" in node.text)

    assert pay.metadata == {"tenant": "a", "roles": ["hr"], "level": 2}
    assert "hr" not in pay.get_content(MetadataMode.LLM)
    assert "hr" not in pay.get_content(MetadataMode.EMBED)
    pipeline.transformations = [splitter, inheritor()]
    assert all(
        "level" not in one.metadata for one in pipeline.run(documents=[document])
    )
