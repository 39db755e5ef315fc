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


@pytest.mark.parametrize(
    ("template", "is_kept"),
    [
        ("[{metadata_str}]\n{content}", True),
        ("Metadata: {metadata_str}\n-----\nContent: {content}", True),
        ("Karlsson: {content}", False),
        ("{content}{Karlsson}", False),
        ("{content.Karlsson}", False),
    ],
)
def test_a_layout_of_the_host_stays_and_words_in_it_do_not(template, is_kept):
    """A template is kept with each node, so it can hold what the node holds."""
    node = TextNode(text="She saw it.", text_template=template)
    hook = SelectiveDisclosurePostprocessor(policy=POLICY)

    (left,) = hook.postprocess_nodes([NodeWithScore(node=node)], query_str="who")

    assert (left.node.text_template == template) is is_kept
    assert "Karlsson" not in left.node.to_json()


def test_nodes_of_several_layouts_have_the_default_one():
    """Else a template would have to find its node again, whose id may be an alias."""
    templates = ["[{metadata_str}] {content}", "({metadata_str}) {content}"]
    nodes = [TextNode(text="She saw it.", text_template=each) for each in templates]
    hook = SelectiveDisclosurePostprocessor(policy=POLICY)

    left = hook.postprocess_nodes([NodeWithScore(node=n) for n in nodes], query_str="w")

    assert {each.node.text_template for each in left} == {
        TextNode.model_fields["text_template"].default
    }
