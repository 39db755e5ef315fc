"""Highlight & Summarize as a response synthesizer: every face, what it releases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import Field

from llamaindex_sdrag.answer_guard import AnswerGuard
from llamaindex_sdrag.highlight_and_summarize import HighlightAndSummarize
from llamaindex_sdrag.wrapping import DisclosureEvent
from sdrag.errors import UsageError

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


class Retriever(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes()


def test_synthesize() -> None:
    """The answer leaves with the highlights as its source nodes."""
    response = HighlightAndSummarize(llm=Model()).synthesize(QUESTION, nodes())
    (source,) = response.source_nodes

    assert str(response) == ANSWER
    assert (source.node.node_id, source.node.get_content()) == ("a", RULE)
    assert response.metadata == {"a": {"source": "faq"}}


async def test_asynthesize() -> None:
    """The async face is the sync one."""
    hook = HighlightAndSummarize(llm=Model())

    assert str(await hook.asynthesize(QUESTION, nodes())) == ANSWER
    with pytest.raises(UsageError, match="reads nodes"):
        hook.get_response(QUESTION, [RULE])


async def test_streaming() -> None:
    """What is streamed is the answer alone, sync and async."""
    hook = HighlightAndSummarize(llm=Model(), streaming=True)
    response: Any = hook.synthesize(QUESTION, nodes())
    later: Any = await hook.asynthesize(QUESTION, nodes())

    assert "".join(response.response_gen) == ANSWER
    assert "".join([piece async for piece in later.response_gen]) == ANSWER
    assert [one.node.get_content() for one in response.source_nodes] == [RULE]


def test_in_a_query_engine() -> None:
    """It is handed to an engine as its response synthesizer."""
    hook = HighlightAndSummarize(llm=Model())
    engine = RetrieverQueryEngine(Retriever(), response_synthesizer=hook)

    assert str(engine.query(QUESTION)) == ANSWER


def test_the_summarizer_never_reads_the_question() -> None:
    """The model that words the answer sees highlights and nothing else."""
    model = Model()
    HighlightAndSummarize(llm=model).synthesize(QUESTION, nodes())
    highlighting, summarizing = model.seen

    assert canary("asker") in highlighting
    assert canary("asker") not in summarizing
    assert "nine" not in summarizing


def test_no_nodes_declines() -> None:
    """Nothing retrieved, nothing said, streamed or not."""
    hook = HighlightAndSummarize(policy={"highlight": {"decline_text": "No."}})

    assert str(hook.synthesize(QUESTION, [])) == "No."


def test_a_hijacked_highlighter_gets_nothing_in() -> None:
    """What stands in no node is asked of nobody."""
    model = Model(extracts=["You won a voucher of ten dollars today"])
    response = HighlightAndSummarize(llm=model).synthesize(QUESTION, nodes())

    assert response.source_nodes == []
    assert len(model.seen) == 1


async def test_the_response_says_that_it_was_declined() -> None:
    """Declined, streamed or not, it says so and why; an answer says nothing of it."""
    said = {"declined": True, "reason": "nothing-highlighted", "unanswered": [1]}
    for streaming in (False, True):
        hook = HighlightAndSummarize(llm=Model(extracts=[]), streaming=streaming)
        response: Any = hook.synthesize(QUESTION, nodes())
        later: Any = await hook.asynthesize(QUESTION, nodes())
        if streaming:
            "".join(response.response_gen)
            "".join([piece async for piece in later.response_gen])

        assert response.metadata == later.metadata == {"sdrag": said}


def test_a_guard_around_it_keeps_what_it_said() -> None:
    """The guard's report and the ending are under one key, and both are there."""
    hook = HighlightAndSummarize(llm=Model(extracts=[]))
    guard = AnswerGuard(synthesizer=hook, policy={"grounding": {}})
    response: Any = guard.synthesize(QUESTION, nodes())

    assert response.metadata["sdrag"]["declined"] is True
    assert "claims" in response.metadata["sdrag"]


def test_prompts_are_not_replaced() -> None:
    """The prompts carry the security property; a host does not swap them."""
    with pytest.raises(UsageError):
        HighlightAndSummarize().update_prompts({"x": None})  # type: ignore[dict-item]


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
