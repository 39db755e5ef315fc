"""A retriever tool for an agent: it answers with what may be disclosed."""

from collection import POLICY, QUESTION, index
from llama_index.core.tools import RetrieverTool

from llamaindex_sdrag import guard_tool

tool = RetrieverTool.from_defaults(
    index().as_retriever(), name="search", description="Searches notes."
)
output = guard_tool(tool, policy=POLICY).call(QUESTION)

print(output.content)
print([found.node.metadata for found in output.raw_output])
