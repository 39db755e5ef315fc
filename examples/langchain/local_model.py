"""
A model of your own redacts: Ollama, or llama.cpp's server, in one line.

    ollama serve                                  # http://127.0.0.1:11434/v1
    llama-server -m model.gguf --port 8080        # http://127.0.0.1:8080/v1
"""

import os

from collection import POLICY, QUESTION, store
from langchain_openai import ChatOpenAI

from langchain_sdrag import SelectiveDisclosureRetriever

url = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
name = os.environ.get("MODEL", "llama3.2")
llm = ChatOpenAI(
    base_url=url,
    model=name,
    api_key="none",
    max_retries=0,
    profile={"max_input_tokens": 4096},  # the server's context; no prompt is longer
)

retriever = SelectiveDisclosureRetriever(
    base_retriever=store().as_retriever(), policy=POLICY, llm=llm
)

for document in retriever.invoke(QUESTION):
    print(document.page_content)
