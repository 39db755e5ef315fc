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

import langchain_sdrag
import llamaindex_sdrag
from langchain_sdrag.local_embeddings import LocalEmbeddings
from llamaindex_sdrag.local_embeddings import LocalEmbeddings as Embeddings
from sdrag import Options
from sdrag.effects.runner import Limits

NAMES = ("Karlsson", "Meyers")
NOTES = {
    "log": "The witness Anna Karlsson saw two men unload crates at dawn.",
    "gate": "The witness Jonathan Meyers stood at the gate and saw the cable snap.",
    "hours": "The harbour opens at six and closes at nine.",
}
POLICY = {"constraints": ["Remove the names of witnesses"]}
GROUNDED = {**POLICY, "grounding": {"method": "llm"}}
QUESTION = "Who saw the men?"
LIMITS = Limits(seconds=120, concurrency=1)


class LangChain:
    """A chain, an answer from highlights, a guard and an agent."""

    def __init__(self, llm: Any, audit: Callable[[Any], None]) -> None:
        self.llm, self.options = llm, Options(limits=LIMITS, audit=audit)
        store = InMemoryVectorStore(LocalEmbeddings())
        self.documents = [Document(text, id=name) for name, text in NOTES.items()]
        store.add_documents(self.documents)
        self.store = store.as_retriever()

    def bind(self, state: Path) -> Any:
        binder = langchain_sdrag.ConstraintBinder(
            POLICY, state, self.llm, options=self.options
        )
        binder.transform_documents(self.documents)

    def retriever(self, state: Path | None) -> Any:
        return langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=self.store,
            policy=POLICY,
            llm=self.llm,
            state=state,
            options=self.options,
        )

    def chain(self, state: Path | None) -> Any:
        prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
        given = {"context": self.retriever(state), "question": RunnablePassthrough()}
        return given | prompt | self.llm.bind(max_tokens=60) | StrOutputParser()

    def ask(self, state: Path | None) -> Any:
        return self.chain(state).invoke(QUESTION)

    def stream(self, state: Path | None) -> Any:
        return "".join(self.chain(state).stream(QUESTION))

    def highlight(self, state: Path | None) -> Any:
        answer = langchain_sdrag.HighlightAndSummarize(
            POLICY, self.llm, state=state, options=self.options
        )
        given = {"context": self.retriever(state), "question": RunnablePassthrough()}
        return (given | answer).invoke(QUESTION)

    def guard(self, state: Path | None) -> Any:
        guard = langchain_sdrag.AnswerGuard(
            GROUNDED, self.llm, state=state, options=self.options, return_report=True
        )
        context = self.retriever(state).invoke(QUESTION)
        answer = "Two men unloaded crates at dawn."
        return guard.invoke(
            {"question": QUESTION, "context": context, "answer": answer}
        )

    def agent(self, state: Path | None) -> Any:
        tool = create_retriever_tool(
            self.store, "search", "Searches the harbour's notes."
        )
        guard = langchain_sdrag.SelectiveDisclosureMiddleware(
            POLICY, self.llm, state=state, options=self.options, tools=["search"]
        )
        agent = create_agent(self.llm.bind(max_tokens=60), [tool], middleware=[guard])
        return agent.invoke({"messages": [("user", f"Search: {QUESTION}")]})


class LlamaIndex:
    """A query engine, an answer from highlights, a guard and an agent."""

    def __init__(self, llm: Any, audit: Callable[[Any], None]) -> None:
        self.llm, self.options = llm, Options(limits=LIMITS, audit=audit)
        self.nodes = [TextNode(text=text, id_=name) for name, text in NOTES.items()]
        self.index = VectorStoreIndex(self.nodes, embed_model=Embeddings())

    def bind(self, state: Path) -> Any:
        binder = llamaindex_sdrag.ConstraintBinder(
            POLICY, state, self.llm, options=self.options
        )
        binder(self.nodes)

    def retriever(self, state: Path | None) -> Any:
        return llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=self.index.as_retriever(),
            policy=POLICY,
            llm=self.llm,
            state=state,
            options=self.options,
        )

    def engine(
        self, state: Path | None, synthesizer: Any = None, **options: Any
    ) -> Any:
        llm = self.llm.model_copy(update={"max_tokens": 60})
        return RetrieverQueryEngine.from_args(
            self.retriever(state), llm, response_synthesizer=synthesizer, **options
        )

    def ask(self, state: Path | None) -> Any:
        return str(self.engine(state).query(QUESTION))

    def stream(self, state: Path | None) -> Any:
        return "".join(self.engine(state, streaming=True).query(QUESTION).response_gen)

    def highlight(self, state: Path | None) -> Any:
        answer = llamaindex_sdrag.HighlightAndSummarize(
            POLICY, self.llm, state=state, options=self.options
        )
        return str(self.engine(state, answer).query(QUESTION))

    def guard(self, state: Path | None) -> Any:
        guard = llamaindex_sdrag.AnswerGuard(
            get_response_synthesizer(self.llm.model_copy(update={"max_tokens": 60})),
            policy=GROUNDED,
            llm=self.llm,
            state=state,
            options=self.options,
        )
        return self.engine(state, guard).query(QUESTION)

    def agent(self, state: Path | None) -> Any:
        tool = RetrieverTool.from_defaults(
            self.index.as_retriever(), name="search", description="Searches the notes."
        )
        guarded = llamaindex_sdrag.guard_tool(
            tool, POLICY, self.llm, state=state, options=self.options
        )
        llm = self.llm.model_copy(update={"max_tokens": 60})

        async def run() -> Any:
            return await FunctionAgent(tools=[guarded], llm=llm).run(
                f"Search: {QUESTION}"
            )

        return asyncio.run(run())


USES = {
    "bind": "bind",
    "question, bound": "ask",
    "question": "ask",
    "streamed": "stream",
    "Highlight & Summarize": "highlight",
    "answer guard, method llm": "guard",
    "agent": "agent",
}
