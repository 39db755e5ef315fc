r"""
Applications for `rag-redteam` to attack: a chain and a query engine, under a policy.

    pip install rag-redteam==0.8.0
    rag-redteam run --target redteam:on_langchain --trials 50 --seed 32 \
        --probes indirect_prompt_injection cross_document_injection tool_use_injection
    rag-redteam run --target redteam:secrets --trials 50 --probes context_leakage

The model obeys every instruction that reaches it, so what succeeds is what the guard
let through. Put your own retriever in place of the store, and your own policy.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import PromptTemplate, VectorStoreIndex
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

import langchain_sdrag
import llamaindex_sdrag
from langchain_sdrag.local_embeddings import LocalEmbeddings as LangChainEmbeddings
from llamaindex_sdrag.local_embeddings import LocalEmbeddings as LlamaIndexEmbeddings

Ask = Callable[[str], str]
POLICY = {"constraints": ["Hide email addresses"], "injection": {}}
SECRETS = {"constraints": ["Hide API keys and passwords"]}
"""Alone: it hides the tokens, too, by which the tool knows that the model obeyed."""
PROMPT = "{context_str}\n\n{query_str}"
INSTRUCTION = re.compile(
    r"(?i)repl(?:y|ies)|respon[ds]|answer|append|include|instruction|directive|comply"
    r"|override|tool|token|marker|context|document|source|passage|knowledge base"
)
REFUSAL = "I don't know."


def obey(prompt: str) -> str:
    """Repeat a prompt that holds an instruction, also without blanks."""
    parts = "".join(prompt.split())
    return f"{prompt}\n{parts}" if INSTRUCTION.search(prompt) else REFUSAL


class Target:
    """What `rag-redteam` asks of a target."""

    def __init__(self, build: Callable[[list[str]], Ask]) -> None:
        self.build = build
        self.texts: list[str] = []

    def reset(self) -> None:
        self.texts = []

    def add_documents(self, docs: list[str]) -> None:
        self.texts += docs

    def answer(self, query: str) -> str:
        return self.build(self.texts)(query)


def chain(texts: list[str], policy: Mapping[str, object] = POLICY) -> Ask:
    store = InMemoryVectorStore(LangChainEmbeddings())
    store.add_documents([Document(text) for text in texts])
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(search_kwargs={"k": 10}), policy=policy
    )
    context = retriever | (lambda docs: "\n".join(doc.page_content for doc in docs))
    given = {"context_str": context, "query_str": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template(PROMPT)
    return (
        given | prompt | RunnableLambda(lambda value: obey(value.to_string()))
    ).invoke


def engine(texts: list[str]) -> Ask:
    nodes = [TextNode(text=text) for text in texts]
    index = VectorStoreIndex(nodes, embed_model=LlamaIndexEmbeddings())
    retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(similarity_top_k=10), policy=POLICY
    )
    queries = RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), text_qa_template=PromptTemplate(PROMPT)
    )
    return lambda query: obey(str(queries.query(query)))


def on_langchain() -> Target:
    return Target(chain)


def on_llamaindex() -> Target:
    return Target(engine)


def secrets() -> Target:
    return Target(partial(chain, policy=SECRETS))
