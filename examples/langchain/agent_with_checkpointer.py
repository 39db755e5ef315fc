"""A LangGraph agent: what its tool retrieves is redacted before it is checkpointed."""

from collection import POLICY, QUESTION, store
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Principal


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: object, **__: object) -> "Model":
        return self


call = {"name": "search", "args": {"query": "men at dawn"}, "id": "1"}
model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Two men.")]))
tool = create_retriever_tool(
    store().as_retriever(),
    "search",
    "Searches.",
    response_format="content_and_artifact",
)
saver = InMemorySaver()
agent = create_agent(
    model,
    [tool],
    middleware=[SelectiveDisclosureMiddleware(policy=POLICY, tools=["search"])],
    checkpointer=saver,
)
config = {"configurable": {"thread_id": "1"}}
context = {"principal": Principal("clerk-7")}
state = agent.invoke({"messages": [("user", QUESTION)]}, config, context=context)

for message in state["messages"]:
    print(type(message).__name__, message.content, getattr(message, "artifact", ""))
print([saved.checkpoint["channel_values"] for saved in saver.list(config)])
