r"""
An agent with a search tool: what the tool finds is redacted before the model reads.

    pip install -c constraints.txt ".[llamaindex,local]" \
        llama-index-vector-stores-chroma
"""

import asyncio
from tempfile import TemporaryDirectory

import chromadb
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.agent.workflow import ReActAgent, ToolCallResult
from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.core.tools import BaseTool, RetrieverTool
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_sdrag import guard_tool
from llamaindex_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Principal, acting_as

CALL = (
    'Thought: I search.\nAction: retriever_tool\nAction Input: {"input": "men at dawn"}'
)
ANSWER = "Thought: I can answer.\nAnswer: There were two men."


class ScriptedModel(MockLLM):
    """Calls the tool once, and then answers."""

    def complete(self, prompt: str, *_: object, **__: object) -> CompletionResponse:
        return CompletionResponse(text=ANSWER if "Observation: The" in prompt else CALL)


async def main(search: BaseTool) -> None:
    # Your model: OpenAI(model="gpt-4.1-mini").
    agent = ReActAgent(tools=[search], llm=ScriptedModel(), streaming=False)
    with acting_as(Principal("clerk-7")):
        handler = agent.run(user_msg="Who was at the quay?")
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            print("tool:", event.tool_output.content)
    print("ai:", await handler)


with TemporaryDirectory() as folder:  # keep it, and the store is kept
    client = chromadb.PersistentClient(folder)
    store = ChromaVectorStore(client.get_or_create_collection("agent"))
    index = VectorStoreIndex.from_documents(
        [Document(text="The witness Anna Karlsson saw two men at dawn.")],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=LocalEmbeddings(),
    )
    tool = RetrieverTool.from_defaults(index.as_retriever(similarity_top_k=1))
    # The one line that changes.
    search = guard_tool(tool, policy={"constraints": ["Remove names of witnesses"]})
    asyncio.run(main(search))
