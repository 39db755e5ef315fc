"""
An agent with a search tool: what the tool finds is redacted before the model reads.

    pip install -c constraints.txt ".[langchain,agents,chroma,local]"
"""

from tempfile import TemporaryDirectory

from langchain.agents import create_agent
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_sdrag import SelectiveDisclosureMiddleware
from langchain_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Principal


class ScriptedModel(GenericFakeChatModel):
    """Calls the tool once, and then answers."""

    def bind_tools(self, *_: object, **__: object) -> "ScriptedModel":
        return self


with TemporaryDirectory() as folder:  # keep it, and the store is kept
    store = Chroma("agent", LocalEmbeddings(), persist_directory=folder)
    store.add_documents([Document("The witness Anna Karlsson saw two men at dawn.")])
    search = create_retriever_tool(
        store.as_retriever(search_kwargs={"k": 1}), "search", "Searches the log book."
    )

    call = {"name": "search", "args": {"query": "men at dawn"}, "id": "1"}
    # Your model: ChatOpenAI(model="gpt-4.1-mini").
    model = ScriptedModel(
        messages=iter(
            [AIMessage("", tool_calls=[call]), AIMessage("There were two men.")]
        )
    )
    agent = create_agent(
        model,
        [search],
        # The one line that changes.
        middleware=[
            SelectiveDisclosureMiddleware(
                policy={"constraints": ["Remove names of witnesses"]}, tools=["search"]
            )
        ],
        checkpointer=InMemorySaver(),
    )
    state = agent.invoke(
        {"messages": [("user", "Who was at the quay?")]},
        {"configurable": {"thread_id": "1"}},
        context={"principal": Principal("clerk-7")},
    )
    for message in state["messages"]:
        print(f"{message.type}: {message.text}")
