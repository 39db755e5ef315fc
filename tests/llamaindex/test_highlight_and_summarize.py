"""Highlight & Summarize as a response synthesizer: every face, what it releases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import Field

from llamaindex_sdrag.answer_guard import AnswerGuard
from llamaindex_sdrag.highlight_and_summarize import HighlightAndSummarize
from llamaindex_sdrag.wrapping import DisclosureEvent

from ..support.scripted import canary

RULE = "The deposit is paid back within ten days of the return."
QUESTION = f"When do I get it back, {canary('asker')}?"
ANSWER = "Within ten days, \u201call\u201d of it."


def nodes() -> list[NodeWithScore]:
    first = TextNode(
        id_="a", text=f"The office opens at nine. {RULE}", metadata={"source": "faq"}
    )
    other = TextNode(id_="b", text="Nothing of use stands in this one at all.")
    return [NodeWithScore(node=first, score=0.9), NodeWithScore(node=other, score=0.1)]


class Model(CustomLLM):
    """Answers the highlighter and the summarizer, and remembers what they asked."""

    seen: list[str] = Field(default_factory=list)
    extracts: list[str] = Field(default_factory=lambda: [RULE])

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="test")

    def _reply(self, prompt: str) -> str:
        self.seen.append(prompt)
        if "guessed_questions" in prompt:
            guesses = ["When is the deposit paid back?"]
            return json.dumps({"guessed_questions": guesses, "answer": ANSWER})
        return json.dumps({"answer": "x", "text_extracts": self.extracts})

    def complete(self, prompt: str, *args: Any, **kw: Any) -> Any:
        return CompletionResponse(text=self._reply(prompt))

    def stream_complete(self, prompt: str, *args: Any, **kw: Any) -> Any:
        reply = self._reply(prompt)
        for start in range(0, len(reply), 5):
            part = reply[start : start + 5]
            yield CompletionResponse(text=reply[: start + 5], delta=part)


def test_synthesize() -> None:
    """The answer leaves with the highlights as its source nodes."""
    response = HighlightAndSummarize(llm=Model()).synthesize(QUESTION, nodes())
    (source,) = response.source_nodes

    assert str(response) == ANSWER
    assert (source.node.node_id, source.node.get_content()) == ("a", RULE)
    assert response.metadata == {"a": {"source": "faq"}}


def test_a_guard_around_it_keeps_what_it_said() -> None:
    """The guard's report and the ending are under one key, and both are there."""
    hook = HighlightAndSummarize(llm=Model(extracts=[]))
    guard = AnswerGuard(synthesizer=hook, policy={"grounding": {}})
    response: Any = guard.synthesize(QUESTION, nodes())

    assert response.metadata["sdrag"]["declined"] is True
    assert "claims" in response.metadata["sdrag"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_every_answer_is_announced_once(streaming, mode):
    """As an event of ids and codes, which handlers of LlamaIndex hear."""
    heard: list[Any] = []

    class Handler(BaseEventHandler):
        def handle(self, event: Any, **kwargs: Any) -> None:
            if isinstance(event, DisclosureEvent):
                heard.append(event)

    root, handler = get_dispatcher(), Handler()
    root.add_event_handler(handler)
    try:
        wrapper = HighlightAndSummarize(llm=Model(), streaming=streaming)
        if mode == "sync":
            response = wrapper.synthesize(QUESTION, nodes())
            text = "".join(response.response_gen) if streaming else response.response
        else:
            response = await wrapper.asynthesize(QUESTION, nodes())
            text = (
                response.response
                if not streaming
                else "".join([part async for part in response.async_response_gen()])
            )
    finally:
        root.event_handlers.remove(handler)

    assert "ten days" in text
    assert [event.stage for event in heard] == ["highlight"]
    assert "deposit" not in str(heard)
