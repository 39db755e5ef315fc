"""
What an index is made of that is redacted for an audience.

That such an index answers no guess is tried in `test_influence.py`.
"""

from __future__ import annotations

import asyncio

from langchain_core.documents import Document
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.disclosure.redacted_index import redact_for_audience
from sdrag.effects.steps import run
from sdrag.pipeline import Engine
from sdrag.vocabulary import Passage, Principal

from ..support.scripted import Scripted

NAMES = {"id": "names", "text": "Remove names of witnesses"}
POLICY = {"constraints": [NAMES], "metadata": {"allow": ["title"]}}
DOCTORS = Principal("d", roles=frozenset({"doctor"}))


def told(passages, policy=POLICY, audience=None, **options):
    engine = Engine(policy, **options)
    steps = redact_for_audience(passages, audience, engine.disclosure)
    return run(steps, Scripted())


def test_keys_that_guards_look_at_stay():
    """Access and constraints by metadata work over the view; other keys are gone."""
    policy = {
        "constraints": [{**NAMES, "where": {"ward": ["a"]}}],
        "access": {},
        "staleness": {},
        "metadata": {"allow": ["title"]},
    }
    held = {"tenant": "t", "roles": "r", "valid_until": "2090-01-01", "ward": "a"}
    more = {"title": "Seen by Anna Karlsson", "author": "Anna Karlsson"}
    text = "The witness Anna Karlsson rang."

    (one,) = told([Passage("p", text, {**held, **more})], policy).passages

    assert {key: one.metadata[key] for key in held} == held
    assert "Karlsson" not in one.text + str(dict(one.metadata))
    assert set(one.metadata) == {*held, "title"}


def test_documents_are_known_by_an_alias():
    """Chunks of a document stay together, and its name is not told."""
    chunks = [
        Passage(f"p{n}", f"Remark {n}.", document_id=f"anna-karlsson-{n % 2}")
        for n in range(4)
    ]

    first, second, third, fourth = told(chunks).passages

    assert first.document_id == second.document_id != third.document_id
    assert third.document_id == fourth.document_id
    assert "karlsson" not in str([first.metadata, third.metadata])


def test_no_limit_on_constraints_holds_for_a_view():
    """There is no question, so nothing ranks constraints, and all are applied."""
    rules = [{"text": f"Hide the tide of harbour {n}"} for n in range(5)]
    limits = {"top_k": 1, "rank_by": "query"}
    policy = {"constraints": [*rules, NAMES], "disclosure": limits}

    view = told([Passage("p", "The witness Anna Karlsson rang.")], policy)

    assert "Karlsson" not in view.passages[0].text
    assert {one.subject for one in view.decisions} == {"p"}


def test_what_is_withheld_whole_is_not_stored():
    policy = {"constraints": [{**NAMES, "method": "withhold"}]}

    view = told([Passage("p", "Anna Karlsson rang."), Passage("q", "Rain.")], policy)

    assert [one.id for one in view.passages] == ["q"]
    assert [one.action for one in view.decisions] == ["withheld", "released"]


def test_both_faces_and_both_clocks():
    """LangChain and LlamaIndex, sync and async, make the same of the same."""
    text = "The witness Anna Karlsson rang."
    node = TextNode(id_="p", text=text)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="Karlsson")
    ours = langchain_sdrag.RedactingTransformer(policy=POLICY, audience=DOCTORS)
    theirs = llamaindex_sdrag.RedactingTransformer(policy=POLICY, audience=DOCTORS)
    documents = [Document(page_content=text, metadata={"source": "Karlsson"})]

    made = [
        *ours.transform_documents(documents),
        *asyncio.run(ours.atransform_documents(documents)),
    ]
    nodes = [*theirs([node]), *asyncio.run(theirs.acall([node]))]

    assert {one.page_content for one in made} == {one.text for one in nodes}
    assert len({one.page_content for one in made}) == 1
    assert all(one.id for one in made)
    assert "Karlsson" not in str([*made, *(one.model_dump() for one in nodes)])
    assert documents[0].page_content == node.text == text
