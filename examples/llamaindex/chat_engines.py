"""Chat engines: context, and condense-plus-context."""

from collection import POLICY, QUESTION, hijacked, index
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    ContextChatEngine,
)
from llama_index.core.memory import Memory

from llamaindex_sdrag import SelectiveDisclosureRetriever

retriever = SelectiveDisclosureRetriever(
    base_retriever=index().as_retriever(), policy=POLICY
)
for kind in (ContextChatEngine, CondensePlusContextChatEngine):
    chat = kind.from_defaults(
        retriever=retriever, llm=hijacked, memory=Memory.from_defaults()
    )
    print(chat.chat(QUESTION))
