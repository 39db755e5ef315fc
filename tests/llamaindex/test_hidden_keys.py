"""Metadata keys that a host hides from prompts stay hidden in what is released."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.tools import RetrieverTool

from llamaindex_sdrag import (
    RedactingTransformer,
    SelectiveDisclosurePostprocessor,
    SelectiveDisclosureRetriever,
    guard_tool,
)

POLICY = {
    "constraints": ["Remove the names of witnesses"],
    "metadata": {"allow": ["page", "path", "rank"]},
}


def index():
    node = TextNode(
        text="The witness Anna Karlsson saw it.",
        metadata={"page": 3, "path": "/notes", "rank": 7, "secret": "x"},
        excluded_llm_metadata_keys=["path", "secret"],
        excluded_embed_metadata_keys=["rank"],
        text_template="Said by Karlsson: {metadata_str}\n\n{content}",
    )
    return VectorStoreIndex([node], embed_model=MockEmbedding(8))


def wrapped(*, is_async):
    retriever = SelectiveDisclosureRetriever(
        base_retriever=index().as_retriever(), policy=POLICY
    )
    if is_async:
        return asyncio.run(retriever.aretrieve("who"))
    return retriever.retrieve("who")


def postprocessed(*, is_async):
    nodes = index().as_retriever().retrieve("who")
    hook = SelectiveDisclosurePostprocessor(policy=POLICY)
    if is_async:
        return asyncio.run(hook.apostprocess_nodes(nodes, query_str="who"))
    return hook.postprocess_nodes(nodes, query_str="who")


def found_by_a_tool(*, is_async):
    tool = RetrieverTool.from_defaults(index().as_retriever(), name="search")
    guarded = guard_tool(tool, policy=POLICY)
    output = asyncio.run(guarded.acall("who")) if is_async else guarded.call("who")
    (found,) = output.raw_output
    assert output.content == found.node.get_content(MetadataMode.LLM)
    return output.raw_output


def viewed(*, is_async):
    view = RedactingTransformer(policy=POLICY)
    nodes = [found.node for found in index().as_retriever().retrieve("who")]
    made = asyncio.run(view.acall(nodes)) if is_async else view(nodes)
    return [NodeWithScore(node=node) for node in made]


@pytest.mark.parametrize("released", [wrapped, postprocessed, found_by_a_tool, viewed])
@pytest.mark.parametrize("is_async", [False, True])
def test_hidden_keys_stay_hidden(released, is_async):
    """They leave where the policy lets them, and are printed nowhere."""
    (found,) = released(is_async=is_async)

    assert set(found.node.metadata) - {"sdrag"} == {"page", "path", "rank"}
    prompt = found.node.get_content(MetadataMode.LLM)
    assert prompt.startswith("page: 3\nrank: 7\n\n")
    embedded = found.node.get_content(MetadataMode.EMBED)
    assert embedded.startswith("page: 3\npath: /notes\n\n")
    assert "secret" not in found.node.to_json()
