"""Under which key a passage says what was done to it is the application's choice."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import PolicyError
from sdrag.policy import Policy
from sdrag.state import open_state

RAW = "The witness Anna Karlsson saw it."
ANSWER = "Anna Karlsson saw it."


def policy(key):
    return {
        "constraints": ["Remove the names of witnesses"],
        "metadata": {"allow": ["page"], "evidence": key},
    }


def in_langchain(key):
    """Return the metadata that leaves, and what the guard makes of an answer."""
    shared = {"policy": policy(key), "state": open_state()}
    hook = langchain_sdrag.SelectiveDisclosureCompressor(**shared)
    released = hook.invoke([Document(RAW, id="1", metadata={"page": 3})])
    guard = langchain_sdrag.AnswerGuard(**shared, return_report=True)
    report = guard.invoke({"question": "Who?", "context": released, "answer": ANSWER})
    return released[0].metadata, report["answer"], report["reasons"]


class Answering(llamaindex_sdrag.HighlightAndSummarize):
    """A synthesizer with one answer."""

    def __init__(self):
        super().__init__(llm=MockLLM())

    def synthesize(self, query, nodes, additional_source_nodes=None, **kwargs):
        return Response(ANSWER, source_nodes=nodes)


def in_llamaindex(key):
    shared = {"policy": policy(key), "state": open_state()}
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(**shared)
    node = TextNode(id_="1", text=RAW, metadata={"page": 3})
    (released,) = hook.postprocess_nodes([NodeWithScore(node=node)], query_str="Who?")
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        printed = released.node.get_content(mode)
        assert printed == "page: 3\n\nThe witness [person] saw it."
    guard = llamaindex_sdrag.AnswerGuard(Answering(), **shared)
    response = guard.synthesize("Who?", [released])
    reasons = response.metadata["sdrag"]["reasons"]
    return released.node.metadata, response.response, reasons


@pytest.mark.parametrize("release", [in_langchain, in_llamaindex])
def test_the_evidence_is_under_the_key_of_the_policy(release):
    """The guard after the answer finds it there; without a key it says so."""
    for key in ("sdrag", "disclosure"):
        metadata, answer, reasons = release(key)
        assert set(metadata) == {"page", key}
        assert metadata[key]["constraints"] == ["c1"]
        assert (answer, reasons) == ("[withheld] saw it.", ["withheld:not-in-context"])

    metadata, answer, reasons = release(None)
    assert metadata == {"page": 3}
    assert answer == "[withheld] saw it."
    assert reasons == ["withheld:not-in-context", "withheld:unchecked"]


@pytest.mark.parametrize("key", ["page", "lc", "a b", ""])
def test_the_key_is_none_that_may_leave(key):
    """Else evidence and a value of the application would be taken for one another."""
    with pytest.raises(PolicyError):
        Policy.read(policy(key))
