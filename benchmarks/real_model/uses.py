"""What sdrag does with a real model that redacts and answers, in both frameworks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.agent import FunctionAgent
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.tools import RetrieverTool

import langchain_sdrag as lc
import llamaindex_sdrag as li
from langchain_sdrag.local_embeddings import LocalEmbeddings
from llamaindex_sdrag.local_embeddings import LocalEmbeddings as Embeddings
from sdrag import Options

NAMES = ("Karlsson", "Meyers")
NOTES = {
    "log": "The witness Anna Karlsson saw two men unload crates at dawn.",
    "gate": "The witness Jonathan Meyers stood at the gate and saw the cable snap.",
    "hours": "The harbour opens at six and closes at nine.",
}
POLICY = {"constraints": ["Remove the names of witnesses"]}
GROUNDED = {**POLICY, "grounding": {"method": "llm"}}
QUESTION = "Who saw the men?"
SEARCH = ("search", "Searches the notes of the harbour.")
Uses = dict[str, Callable[[], Any]]


def langchain(llm: Any, state: Path, options: Options) -> Uses:
    """Return what is done with LangChain: each returns all that leaves."""
    redact: dict[str, Any] = {"policy": POLICY, "llm": llm, "options": options}
    bound = {**redact, "state": state}
    documents = [Document(text, id=name) for name, text in NOTES.items()]
    store = InMemoryVectorStore(LocalEmbeddings())
    store.add_documents(documents)
    raw = store.as_retriever()
    retriever = lc.SelectiveDisclosureRetriever(base_retriever=raw, **bound)
    fresh = lc.SelectiveDisclosureRetriever(base_retriever=raw, **redact)
    writes = llm.model_copy(update={"max_tokens": 60})  # an agent drops what is bound
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")

    def given(source: Any) -> Any:
        return {"context": source, "question": RunnablePassthrough()}

    chain = given(retriever) | prompt | writes | StrOutputParser()
    guarded = RunnablePassthrough.assign(answer=prompt | writes | StrOutputParser())
    guard = lc.AnswerGuard(**{**bound, "policy": GROUNDED}, return_report=True)
    agent = create_agent(
        writes,
        [create_retriever_tool(raw, *SEARCH)],
        middleware=[lc.SelectiveDisclosureMiddleware(**bound, tools=["search"])],
    )
    asked: Any = {"messages": [("user", QUESTION)]}
    answer = given(retriever) | lc.HighlightAndSummarize(**bound)
    return {
        "bind": lambda: (
            lc.ConstraintBinder(**bound).transform_documents(documents) and ""
        ),
        "question": lambda: chain.invoke(QUESTION),
        "question, unbound": lambda: fresh.invoke(QUESTION),
        "streamed": lambda: "".join(chain.stream(QUESTION)),
        "Highlight & Summarize": lambda: answer.invoke(QUESTION),
        "answer guard": lambda: (given(retriever) | guarded | guard).invoke(QUESTION),
        "agent": lambda: agent.invoke(asked),
    }


def llamaindex(llm: Any, state: Path, options: Options) -> Uses:
    """Return what is done with LlamaIndex: each returns all that leaves."""
    redact: dict[str, Any] = {"policy": POLICY, "llm": llm, "options": options}
    bound = {**redact, "state": state}
    nodes = [TextNode(text=text, id_=name) for name, text in NOTES.items()]
    raw = VectorStoreIndex(nodes, embed_model=Embeddings()).as_retriever()
    retriever = li.SelectiveDisclosureRetriever(base_retriever=raw, **bound)
    fresh = li.SelectiveDisclosureRetriever(base_retriever=raw, **redact)
    writes = llm.model_copy(update={"max_tokens": 60})
    answers = get_response_synthesizer(writes)
    guard = li.AnswerGuard(answers, **{**bound, "policy": GROUNDED})
    tool = li.guard_tool(RetrieverTool.from_defaults(raw, None, *SEARCH), **bound)

    def ask(synthesizer: Any = None, **options: Any) -> Any:
        engine = RetrieverQueryEngine.from_args(
            retriever, writes, response_synthesizer=synthesizer, **options
        )
        return engine.query(QUESTION)

    async def run_agent() -> Any:
        return await FunctionAgent(tools=[tool], llm=writes).run(QUESTION)

    return {
        "bind": lambda: li.ConstraintBinder(**bound)(nodes) and "",
        "question": ask,
        "question, unbound": lambda: fresh.retrieve(QUESTION),
        "streamed": lambda: "".join(ask(streaming=True).response_gen),
        "Highlight & Summarize": lambda: ask(li.HighlightAndSummarize(**bound)),
        "answer guard": lambda: ask(guard),
        "agent": lambda: asyncio.run(run_agent()),
    }
