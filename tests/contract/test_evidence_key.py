"""Under which key a passage says what was done to it is the host's choice."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from llama_index.core.llms import MockLLM
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import PolicyError
from sdrag.policy import Policy
from sdrag.state import open_state

from ..support.wrappers import build

RAW = "The witness Anna Karlsson saw it."
RULES = {"constraints": ["Remove the names of witnesses"]}
SAID = "Anna Karlsson saw it."


def policy(key):
    return RULES | {"metadata": {"allow": ["page"], "evidence": key}}


def in_langchain(key):
    """Return the metadata that leaves, and what the guard finds out of an answer."""
    shared = {"policy": policy(key), "state": open_state()}
    hook = build(langchain_sdrag.SelectiveDisclosureCompressor, **shared)
    found = hook.invoke([Document(RAW, id="1", metadata={"page": 3})])
    guard = build(langchain_sdrag.AnswerGuard, **shared, return_report=True)
    told = guard.invoke({"question": "Who?", "context": found, "answer": SAID})
    return found[0].metadata, told["answer"], told["reasons"]


def in_llamaindex(key):
    shared = {"policy": policy(key), "state": open_state()}
    hook = build(llamaindex_sdrag.SelectiveDisclosurePostprocessor, **shared)
    node = TextNode(id_="1", text=RAW, metadata={"page": 3})
    (found,) = hook.postprocess_nodes([NodeWithScore(node=node)], query_str="Who?")
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        printed = found.node.get_content(mode)
        assert printed == "page: 3\n\nThe witness [person] saw it."
    guard = build(llamaindex_sdrag.AnswerGuard, _Says(), **shared)
    response = guard.synthesize("Who?", [found])
    return found.node.metadata, response.response, response.metadata["sdrag"]["reasons"]


class _Says(llamaindex_sdrag.HighlightAndSummarize):
    """A synthesizer that says one thing."""

    def __init__(self):
        super().__init__(llm=MockLLM())

    def synthesize(self, query, nodes, additional_source_nodes=None, **kwargs):
        from llama_index.core.base.response.schema import Response  # noqa: PLC0415 -- for one line

        return Response(SAID, source_nodes=nodes)


FACES = pytest.mark.parametrize("released", [in_langchain, in_llamaindex])


@FACES
@pytest.mark.parametrize("key", ["sdrag", "disclosure"])
def test_the_evidence_is_under_the_key_of_the_policy(released, key):
    """There the guard after the answer finds it again, whatever its name."""
    metadata, answer, reasons = released(key)

    assert set(metadata) == {"page", key}
    assert metadata[key]["constraints"] == ["c1"]
    assert answer == "[withheld] saw it."
    assert reasons == ["withheld:not-in-context"]


@FACES
def test_without_a_key_nothing_is_said_and_the_guard_says_so(released):
    """What cannot be checked is never called checked."""
    metadata, answer, reasons = released(None)

    assert metadata == {"page": 3}
    assert answer == "[withheld] saw it."
    assert reasons == ["withheld:not-in-context", "withheld:unchecked"]


@pytest.mark.parametrize("key", ["page", "lc", "a b", ""])
def test_the_key_is_none_that_may_leave(key):
    """Else evidence and a value of the host's would be taken for one another."""
    with pytest.raises(PolicyError):
        Policy.read(policy(key))
