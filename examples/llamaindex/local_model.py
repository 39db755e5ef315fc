"""
A model of your own redacts: Ollama, or llama.cpp's server, in one line.

    ollama serve                                  # http://127.0.0.1:11434/v1
    llama-server -m model.gguf --port 8080        # http://127.0.0.1:8080/v1
"""

import os

from collection import POLICY, QUESTION, index
from llama_index.llms.openai_like import OpenAILike

from llamaindex_sdrag import SelectiveDisclosureRetriever

url = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
name = os.environ.get("MODEL", "llama3.2")
llm = OpenAILike(
    api_base=url,
    model=name,
    api_key="none",
    is_chat_model=True,
    context_window=4096,  # the server's context; no prompt is longer
)

retriever = SelectiveDisclosureRetriever(
    base_retriever=index().as_retriever(), policy=POLICY, llm=llm
)

for found in retriever.retrieve(QUESTION):
    print(found.node.get_content())
