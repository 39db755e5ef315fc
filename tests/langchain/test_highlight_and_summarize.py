"""Highlight & Summarize in place of `prompt | llm`, on every face."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import Field

from langchain_sdrag.highlight_and_summarize import HighlightAndSummarize
from sdrag import Options
from sdrag.errors import UsageError

from ..support.scripted import canary

RULE = "The deposit is paid back within ten days of the return."
QUESTION = f"When do I get it back, {canary('asker')}?"
DOCUMENTS = [
    Document(f"The office opens at nine. {RULE}", id="a", metadata={"source": "faq"}),
    Document("Nothing of use stands in this one at all.", id="b"),
]
INPUT = {"question": QUESTION, "context": DOCUMENTS}
ANSWER = "Within ten days, \u201call\u201d of it."


class Model(BaseChatModel):
    """Answers the highlighter and the summarizer, and remembers what they asked."""

    seen: list[str] = Field(default_factory=list)
    extracts: list[str] = Field(default_factory=lambda: [RULE])

    @property
    def _llm_type(self) -> str:
        return "test"

    def _reply(self, messages: list[BaseMessage]) -> str:
        text = "\n".join(str(message.content) for message in messages)
        self.seen.append(text)
        if "guessed_questions" in text:
            guesses = ["When is the deposit paid back?"]
            return json.dumps({"guessed_questions": guesses, "answer": ANSWER})
        return json.dumps({"answer": "x", "text_extracts": self.extracts})

    def _generate(
        self, messages: list[BaseMessage], *args: Any, **kw: Any
    ) -> ChatResult:
        message = AIMessage(self._reply(messages))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kw: Any
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        for start in range(0, len(reply), 5):
            message = AIMessageChunk(reply[start : start + 5])
            yield ChatGenerationChunk(message=message)


def test_sources_are_the_highlights() -> None:
    """With sources, each highlight is a document with its passage's id and metadata."""
    hook = HighlightAndSummarize(llm=Model(), return_sources=True)
    found = hook.invoke(INPUT)
    merged: Any = None
    for piece in hook.stream(INPUT):
        merged = piece if merged is None else {**merged, **piece}  # type: ignore[dict-item]

    assert isinstance(found, dict)
    assert found["sources"] == [Document(RULE, id="a", metadata={"source": "faq"})]
    assert merged["sources"] == found["sources"]


@pytest.mark.parametrize(
    "given",
    [{"question": "What?", "context": "one string"}, {"context": []}, {"question": 1}],
)
def test_another_input_is_refused(given: dict[str, Any]) -> None:
    """A context that is one string cannot be told apart or cited."""
    with pytest.raises(UsageError):
        HighlightAndSummarize(llm=Model()).invoke(given)


def test_a_named_highlighter_needs_its_model() -> None:
    """The mistake is told when the hook is built, not at the first question."""
    with pytest.raises(UsageError):
        HighlightAndSummarize(highlighter="span")


def test_the_audit_is_told() -> None:
    """One event a question: released, under which rule, with no content."""
    events: list[Any] = []
    hook = HighlightAndSummarize(llm=Model(), options=Options(audit=events.append))

    hook.invoke(INPUT)
    list(hook.stream(INPUT))

    assert [event.decisions[0].action for event in events] == ["released"] * 2
    assert "deposit" not in repr(events)


@pytest.mark.parametrize("key", ["question", "input", "query"])
def test_the_question_is_found_under_the_keys_of_langchain(key: str) -> None:
    """Every chain of LangChain names it in its own way."""
    hook = HighlightAndSummarize(llm=Model())

    assert hook.invoke({key: QUESTION, "context": DOCUMENTS}) == ANSWER


def test_it_is_a_part_of_a_retrieval_chain() -> None:
    """`create_retrieval_chain` takes it in place of the documents chain."""
    retriever = RunnableLambda(lambda _: DOCUMENTS)
    chain = create_retrieval_chain(retriever, HighlightAndSummarize(llm=Model()))

    assert chain.invoke({"input": QUESTION})["answer"] == ANSWER
