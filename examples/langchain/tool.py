"""A retriever tool with content and artifact: both hold what was released."""

from collection import POLICY, QUESTION, store
from langchain_core.tools import create_retriever_tool

from langchain_sdrag import SelectiveDisclosureRetriever

retriever = SelectiveDisclosureRetriever(
    base_retriever=store().as_retriever(), policy=POLICY
)
tool = create_retriever_tool(
    retriever, "search", "Searches notes.", response_format="content_and_artifact"
)
call = {"name": "search", "args": {"query": QUESTION}, "id": "1", "type": "tool_call"}
message = tool.invoke(call)

print(message.content)
print(message.artifact)
