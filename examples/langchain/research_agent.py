"""A LangGraph research agent: one graph indexes, one answers, one line is changed."""

import asyncio
from typing import TypedDict

from collection import NOTES, POLICY, QUESTION, format_docs, hijacked
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import END, START, StateGraph

from langchain_sdrag import SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings

store = Chroma("research", LocalEmbeddings())
retriever = SelectiveDisclosureRetriever(
    base_retriever=store.as_retriever(), policy=POLICY
)

prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")


class Indexing(TypedDict):
    documents: list[Document]


class Research(TypedDict, total=False):
    question: str
    found: list[Document]
    answer: str


async def index(state: Indexing) -> Indexing:
    await store.aadd_documents(state["documents"])
    return {"documents": []}


async def research(state: Research) -> Research:
    return {"found": await retriever.ainvoke(state["question"])}


async def answer(state: Research) -> Research:
    given = {"context": format_docs(state["found"]), "question": state["question"]}
    return {"answer": await (prompt | hijacked).ainvoke(given)}


async def main() -> None:
    indexing = StateGraph(Indexing).add_node("index", index)
    indexing.add_edge(START, "index").add_edge("index", END)
    await indexing.compile().ainvoke({"documents": NOTES})

    asking = StateGraph(Research).add_sequence([research, answer])
    asking.add_edge(START, "research").add_edge("answer", END)
    print(await asking.compile().ainvoke({"question": QUESTION}))


asyncio.run(main())
