"""Every face of both adapters says the same, whatever the models reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.guardrails.notices import INSUFFICIENT

Brain = Callable[[str], str]
"""A prompt to a reply."""
Said = tuple[str, tuple[str, ...], dict[str, Any]]
"""The answer, the texts of its sources, and how it ended."""

OFFICE = "The office opens at nine on every weekday but Friday."
DEPOSIT = "The deposit is paid back within ten days of the return."
TEXTS = (f"{OFFICE} It is in the town hall.", DEPOSIT)
QUESTION = "When is the deposit paid back?"
DECLINE = "No."
ENDINGS: dict[str, Any] = {"declined": False, "reason": "", "unanswered": []}
STEP = 5


class Chat(BaseChatModel):
    brain: Any

    @property
    def _llm_type(self) -> str:
        return "test"

    def _generate(
        self, messages: list[BaseMessage], *args: Any, **kw: Any
    ) -> ChatResult:
        message = AIMessage("".join(self._parts(messages)))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kw: Any
    ) -> Iterator[ChatGenerationChunk]:
        for part in self._parts(messages):
            yield ChatGenerationChunk(message=AIMessageChunk(part))

    def _parts(self, messages: list[BaseMessage]) -> Iterator[str]:
        reply = self.brain("\n".join(str(message.content) for message in messages))
        return (reply[at : at + STEP] for at in range(0, len(reply), STEP))


class Completion(CustomLLM):
    brain: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="test")

    def complete(self, prompt: str, *args: Any, **kw: Any) -> Any:
        return CompletionResponse(text=self.brain(prompt))

    def stream_complete(self, prompt: str, *args: Any, **kw: Any) -> Any:
        reply = self.brain(prompt)
        for at in range(0, len(reply), STEP):
            part = reply[at : at + STEP]
            yield CompletionResponse(text=reply[: at + STEP], delta=part)


def langchain(brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...]) -> Any:
    """Give each face of the runnable as a function of nothing."""
    hook = langchain_sdrag.HighlightAndSummarize(
        llm=Chat(brain=brain), return_sources=True, redacted=True, policy=dict(rules)
    )
    context = [Document(text, id=f"p{at}") for at, text in enumerate(texts)]
    given = {"question": QUESTION, "context": context}

    def said(output: Any) -> Said:
        sources = (one.page_content for one in output["sources"])
        return (
            output["answer"],
            tuple(sources),
            {name: output[name] for name in ENDINGS},
        )

    def added(pieces: list[Any]) -> Said:
        total = pieces[0]
        for piece in pieces[1:]:
            total = total | {
                k: total[k] + v if k in total else v for k, v in piece.items()
            }
        return said(total)

    async def collected(pieces: AsyncIterator[Any]) -> list[Any]:
        return [piece async for piece in pieces]

    return {
        "invoke": lambda: said(hook.invoke(given)),
        "ainvoke": lambda: said(asyncio.run(hook.ainvoke(given))),
        "batch": lambda: said(hook.batch([given, given])[1]),
        "abatch": lambda: said(asyncio.run(hook.abatch([given, given]))[1]),
        "stream": lambda: added(list(hook.stream(given))),
        "astream": lambda: added(asyncio.run(collected(hook.astream(given)))),
    }


def llamaindex(brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...]) -> Any:
    """Give each face of the synthesizer as a function of nothing."""
    nodes = [
        NodeWithScore(node=TextNode(id_=f"p{at}", text=text), score=1.0)
        for at, text in enumerate(texts)
    ]

    def hook(*, streaming: bool) -> llamaindex_sdrag.HighlightAndSummarize:
        return llamaindex_sdrag.HighlightAndSummarize(
            llm=Completion(brain=brain),
            redacted=True,
            policy=dict(rules),
            streaming=streaming,
        )

    def said(text: str, response: Any) -> Said:
        sources = tuple(one.node.get_content() for one in response.source_nodes)
        return text, sources, response.metadata.get("sdrag", ENDINGS)

    def whole(response: Any) -> Said:
        return said(str(response), response)

    def streamed() -> Said:
        response: Any = hook(streaming=True).synthesize(QUESTION, nodes)
        return said("".join(response.response_gen), response)

    async def astreamed() -> Said:
        response: Any = await hook(streaming=True).asynthesize(QUESTION, nodes)
        return said("".join([piece async for piece in response.response_gen]), response)

    plain = hook(streaming=False)
    return {
        "synthesize": lambda: whole(plain.synthesize(QUESTION, nodes)),
        "asynthesize": lambda: whole(asyncio.run(plain.asynthesize(QUESTION, nodes))),
        "streaming": streamed,
        "async streaming": lambda: asyncio.run(astreamed()),
    }


def brain(
    extracts: tuple[str, ...] = (DEPOSIT,), questions: tuple[str, ...] = ()
) -> Brain:
    """Make a model that replies to each prompt what the case says."""

    def reply(prompt: str) -> str:
        if "guessed_questions" in prompt:
            answer = "At nine." if OFFICE in prompt else "In ten days."
            return json.dumps({"guessed_questions": [QUESTION], "answer": answer})
        if '{"questions"' in prompt:
            return json.dumps({"questions": questions})
        held = [OFFICE] if "Question: When does it open?" in prompt else extracts
        return json.dumps({"answer": "x", "text_extracts": held})

    return reply


ANSWERED: Said = ("In ten days.", (DEPOSIT,), ENDINGS)
NOTHING: Said = (
    DECLINE,
    (),
    {"declined": True, "reason": "nothing-highlighted", "unanswered": [1]},
)
PARTLY: Said = (
    "At nine.\n\n2 of 2: no.",
    (OFFICE,),
    {"declined": True, "reason": "nothing-highlighted", "unanswered": [2]},
)
CASES: dict[str, tuple[Brain, Mapping[str, Any], Said]] = {
    "an answer": (brain(), {}, ANSWERED),
    "nothing verified": (brain(extracts=("Say that you won a trip",)), {}, NOTHING),
    "the second of two cannot be answered": (
        brain(questions=("When does it open?", QUESTION), extracts=()),
        {"max_questions": 2, "unanswered_text": "{number} of {questions}: no."},
        PARTLY,
    ),
}


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
@pytest.mark.parametrize("case", CASES)
def test_every_face_says_the_same(adapter: Any, case: str) -> None:
    """Sync, async, batch and stream: one answer, with its sources."""
    thinking, rules, expected = CASES[case]
    policy = {"highlight": {"decline_text": DECLINE, **rules}}

    faces = adapter(thinking, policy, TEXTS)

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, expected
    )


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
@pytest.mark.parametrize(
    ("disclosure", "text"),
    [
        ({}, "[person] [amount] was paid [withheld] in full."),
        (
            {"placeholders": "plain", "placeholder": "-cut out-"},
            "-cut out- was paid -cut out- in full.",
        ),
    ],
)
def test_placeholders_count_for_no_word(
    adapter: Any, disclosure: dict[str, str], text: str
) -> None:
    """What stands in place of something withheld makes no highlight longer."""
    constraint = {"id": "who", "text": "Hide the names of people"}
    policy = {
        "constraints": [constraint],
        "disclosure": disclosure,
        "highlight": {"decline_text": DECLINE, "min_words": 5},
    }

    faces = adapter(brain(extracts=(text,)), policy, (text,))

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, NOTHING
    )


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
def test_a_notice_is_no_source(adapter: Any) -> None:
    """What the guardrails say to the chain is not highlighted as the corpus's words."""
    seen: list[str] = []

    def thinking(prompt: str) -> str:
        seen.append(prompt)
        return brain(extracts=(INSUFFICIENT,))(prompt)

    policy = {"highlight": {"decline_text": DECLINE}}
    faces = adapter(thinking, policy, (*TEXTS, INSUFFICIENT))

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, NOTHING
    )
    assert INSUFFICIENT not in "".join(seen)
