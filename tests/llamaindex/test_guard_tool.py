"""Agents: what a tool retrieves is redacted before the agent sees it."""

# LlamaIndex knows a parameter for the context by its annotation, not by a string.
import asyncio

import pytest
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index.core.workflow import Context

from llamaindex_sdrag import guard_tool
from sdrag import Principal, acting_as
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

from ..support.faces import Nodes, Scenario

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [
        {
            "id": "names",
            "text": "Remove the names of witnesses",
            "always": True,
            "unless": {"roles": ["judge"]},
        }
    ]
}
SCENARIO = Scenario("tool", (Passage("p1", TEXT),), POLICY)


def retriever_tool():
    return RetrieverTool.from_defaults(
        Nodes(SCENARIO), name="search", description="Searches."
    )


def called(tool, mode, *args, **kwargs):
    if mode == "sync":
        return tool.call(*args, **kwargs)
    return asyncio.run(tool.acall(*args, **kwargs))


both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


@both_modes
def test_content_and_raw_output_are_redacted(mode):
    """What the model reads, and the nodes beside it."""
    output = called(guard_tool(retriever_tool(), policy=POLICY), mode, "who")

    assert "saw it" in output.content
    assert NAME not in str(output.model_dump())
    assert NAME not in str([found.model_dump() for found in output.raw_output])


@both_modes
def test_a_function_that_answers_with_text_is_redacted_too(mode):
    """Also under constraints that are limited to metadata, for text has none."""
    limited = {
        "constraints": [{**POLICY["constraints"][0], "where": {"kind": ["secret"]}}]
    }
    tool = FunctionTool.from_defaults(lambda query: TEXT, name="search")

    output = called(guard_tool(tool, policy=limited), mode, query="who")

    assert "saw it" in output.content
    assert NAME not in str(output.model_dump())


@both_modes
def test_the_principal_is_that_of_the_block(mode):
    tool = guard_tool(retriever_tool(), policy=POLICY)

    with acting_as(Principal("j", roles=frozenset({"judge"}))):
        output = called(tool, mode, "who")

    assert NAME in output.content


@both_modes
def test_an_error_says_nothing_of_what_the_tool_held(mode):
    def search(query: str) -> str:
        raise ValueError(TEXT)

    tool = guard_tool(FunctionTool.from_defaults(search), policy=POLICY)

    with pytest.raises(Exception, match="The tool failed with") as caught:
        called(tool, mode, query="who")

    assert NAME not in str(caught.value)


def test_a_tool_that_takes_the_context_of_its_workflow_is_refused():
    """What it writes there could not be redacted."""

    async def search(ctx: Context, query: str) -> str:
        await ctx.store.set("notes", TEXT)
        return query

    with pytest.raises(UsageError, match="context of its workflow"):
        guard_tool(FunctionTool.from_defaults(async_fn=search), policy=POLICY)


@both_modes
def test_a_tool_of_which_nothing_is_left_is_told_of_once(mode, caplog):
    """By a warning that names the tool, and holds no text."""

    def calculate(query: str) -> str:
        """Calculate."""
        return f"It is 42, for {query}."

    guarded = guard_tool(
        FunctionTool.from_defaults(calculate),
        policy=POLICY | {"relevance": {"min_score": 0.99}},
    )

    for _ in range(2):
        assert "42" not in called(guarded, mode, query="six by seven").content

    (said,) = [
        record.getMessage()
        for record in caplog.records
        if record.name == "sdrag" and record.levelname == "WARNING"
    ]
    assert "'calculate'" in said
    assert "guard_tool" in said
    assert "42" not in said
