"""
What redaction by a model costs, next to what the frameworks offer for it.

The model is a script that takes 0.3 s for every call, in both frameworks' shapes. It
answers in the form that it is asked for and changes nothing, so only time, calls and
tokens are compared. LangChain's is a `ContextualCompressionRetriever` whose
compressor asks the model to redact each document; LlamaIndex's is
`PIINodePostprocessor`. Tokens are those of MiniLM's tokenizer, prompts and replies.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import PromptTemplate
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.postprocessor import PIINodePostprocessor

from benchmarks.page.corpus import MiniLM, chunks, policy, question
from benchmarks.page.hosts import Host, langchain_host, llamaindex_host
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import in_turn, median
from benchmarks.sd_rag import redaction_time, ten_documents
from benchmarks.suites.articles_check import load_articles
from benchmarks.suites.scripted.asked import CONFIRM, EXTRACT
from benchmarks.suites.scripted.exact import ExactModel
from sdrag.effects.prompts import Message, Prompt, constant
from sdrag.embeddings import load_minilm
from sdrag.state import open_state

__all__ = ["measure"]

SECONDS = 0.3
CONSTRAINTS = 12
PACKAGES = ("langchain-classic", "langchain-core", "llama-index-core")
REDACT = PromptTemplate.from_template(
    "Return the context, but replace by [REDACTED] whatever these rules "
    "forbid.\nRules:\n{rules}\n\nQuestion: {{question}}\n"
    "Context:\n>>>\n{{context}}\n>>>"
)
Row = dict[str, Cell]


class Script:
    """A model that is slow and changes nothing, and what it was asked."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds, self.calls, self.tokens = seconds, 0, 0
        self._exact, self._lock = ExactModel({}), Lock()

    def reply(self, system: str, text: str) -> str:
        """Answer a prompt in the form that it asks for."""
        time.sleep(self.seconds)
        said = self._said(text)
        _, tokenizer = load_minilm()
        asked = f"{system} {text} {said}"
        count = len(tokenizer.encode(asked, add_special_tokens=False).ids)
        with self._lock:
            self.calls, self.tokens = self.calls + 1, self.tokens + count
        return said

    def _said(self, text: str) -> str:
        if found := re.search(r">>>\n(.*)\n>>>", text, re.DOTALL):
            return found[1]
        if "Output Mapping" in text:
            context = text.rpartition("Context:\n")[2].rpartition("\nTask:")[0]
            return f"{context}\nOutput Mapping:\n{{}}"
        name = CONFIRM if '\n[q1] "' in text else EXTRACT
        return self._exact(Prompt(name, (Message("user", constant(text)),)))

    def forget(self) -> None:
        """Count from nothing again."""
        self.calls = self.tokens = 0


class LangChainModel(BaseChatModel):
    """A script in LangChain's shape."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(
        self, messages: list[BaseMessage], *_args: Any, **_kwargs: Any
    ) -> ChatResult:
        *before, last = [str(message.content) for message in messages]
        message = AIMessage(self.script.reply("\n".join(before), last))
        return ChatResult(generations=[ChatGeneration(message=message)])


class LlamaIndexModel(CustomLLM):
    """A script in LlamaIndex's shape."""

    script: Any

    @property
    def metadata(self) -> LLMMetadata:
        """Say nothing of interest."""
        return LLMMetadata(model_name="script")

    def chat(self, messages: Any, **_kwargs: Any) -> ChatResponse:
        """Answer the last message."""
        *before, last = [str(message.content) for message in messages]
        said = self.script.reply("\n".join(before), last)
        return ChatResponse(message=ChatMessage(role="assistant", content=said))

    def complete(self, prompt: str, *_args: Any, **_kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=self.script.reply("", prompt))

    def stream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        """Answer at once."""
        yield self.complete(prompt, *args, **kwargs)


def measure(*, quick: bool) -> Figures:
    """Measure questions, and calls at once."""
    count, rounds = (20, 1) if quick else (60, 5)
    documents, rules = chunks(count), policy(CONSTRAINTS)
    rows: list[Row] = []
    for make, model, theirs in (
        (langchain_host, LangChainModel, compressing),
        (llamaindex_host, LlamaIndexModel, postprocessing),
    ):
        with tempfile.TemporaryDirectory() as folder:
            host, script = make(documents, MiniLM(), Path(folder)), Script()
            llm = model(script=script)
            rows += asked(host, script, llm, theirs(host, llm, rules), rules, rounds)
    latency = calls_at_once()
    facts = {
        str(row["framework"]).lower(): row["times theirs"]
        for row in rows
        if row["redaction"] == "sdrag, bound with the model"
    }
    return Figures({"redaction": rows, "at_once": latency}, facts, PACKAGES)


def asked(
    host: Host,
    script: Script,
    llm: Any,
    theirs: tuple[str, Callable[[str], object]],
    rules: dict[str, Any],
    rounds: int,
) -> list[Row]:
    """Ask every retriever the same questions; count what the model was asked."""
    state = open_state()
    script.seconds = 0.0
    host.bind(policy=rules, state=state, llm=llm)
    binding: Row = {
        "framework": host.name,
        "redaction": "sdrag, binding all chunks once",
        "calls": script.calls,
        "tokens": script.tokens,
    }
    script.seconds = SECONDS
    bound = host.wrap(policy=rules, state=state, llm=llm)
    name, ask = theirs
    contenders: dict[str, Callable[[int], object]] = {
        "none": lambda number: host.ask(host.bare, question(number)),
        name: lambda number: ask(question(number)),
        "sdrag, never bound": lambda number: host.ask(
            host.wrap(policy=rules, llm=llm), question(number)
        ),
        "sdrag, bound with the model": lambda number: host.ask(bound, question(number)),
    }
    counts: dict[str, list[tuple[int, int]]] = {one: [] for one in contenders}

    def counted(one: str, work: Callable[[int], object]) -> Callable[[int], object]:
        def counting(number: int) -> None:
            script.forget()
            work(number)
            counts[one].append((script.calls, script.tokens))

        return counting

    times = in_turn(
        {one: counted(one, work) for one, work in contenders.items()}, rounds
    )
    reference = median(times[name])
    rows: list[Row] = [
        {
            "framework": host.name,
            "redaction": one,
            "seconds": median(taken),
            "times theirs": median(taken) / reference,
            "calls": median([calls for calls, _ in counts[one]]),
            "tokens": median([tokens for _, tokens in counts[one]]),
        }
        for one, taken in times.items()
    ]
    return [*rows, binding]


def compressing(
    host: Host, llm: Any, rules: dict[str, Any]
) -> tuple[str, Callable[[str], object]]:
    """Redact with LangChain's own retriever and a compressor that asks a model."""
    prompt = PromptTemplate.from_template(
        REDACT.format(rules="\n".join(f"- {rule}" for rule in rules["constraints"]))
    )
    retriever = ContextualCompressionRetriever(
        base_compressor=LLMChainExtractor.from_llm(llm, prompt=prompt),
        base_retriever=host.bare,
    )
    return "`ContextualCompressionRetriever`", retriever.invoke


def postprocessing(
    host: Host, llm: Any, _rules: dict[str, Any]
) -> tuple[str, Callable[[str], object]]:
    """Redact with LlamaIndex's own postprocessor."""
    postprocessor = PIINodePostprocessor(llm=llm)

    def ask(text: str) -> Sequence[object]:
        return postprocessor.postprocess_nodes(host.bare.retrieve(text))

    return "`PIINodePostprocessor`", ask


def calls_at_once() -> list[Row]:
    """Redact ten documents that were never bound under 12 constraints."""
    rows: list[Row] = []
    articles = load_articles()
    passages, rules = ten_documents(articles, articles)
    for method in ("redact", "rephrase"):
        held = {"constraints": [{"text": rule, "method": method} for rule in rules]}
        redaction_time(passages, held, 32, 0.0)  # models load before the clock starts
        for concurrency in (1, 32):
            wall, busy, calls = redaction_time(passages, held, concurrency, SECONDS)
            rows.append(
                {
                    "method": method,
                    "calls at once": concurrency,
                    "calls": calls,
                    "seconds": wall,
                    "in times of one call": wall / SECONDS,
                    "CPU seconds": busy,
                }
            )
    return rows
