"""Every face of both adapters says the same, whatever the models reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.guardrails.notices import INSUFFICIENT
from sdrag.policy import Policy
from sdrag.state.keys import PROCESS_KEYS

from ..support.doubles import LangChainModel, LlamaIndexModel

Brain = Callable[[str], str]
"""A prompt to a reply."""
Result = tuple[str, tuple[str, ...], dict[str, Any]]
"""The answer, the texts of its sources, and how it ended."""

OFFICE = "The office opens at nine on every weekday but Friday."
DEPOSIT = "The deposit is paid back within ten days of the return."
TEXTS = (f"{OFFICE} It is in the town hall.", DEPOSIT)
QUESTION = "When is the deposit paid back?"
DECLINE = "No."
ENDINGS: dict[str, Any] = {"declined": False, "reason": ""}
STEP = 5


class Chat(LangChainModel):
    """Streams in pieces of five characters."""

    def _stream(self, messages: Any, *args: Any, **kw: Any) -> Iterator[Any]:
        text = self._generate(messages).generations[0].text
        for at in range(0, len(text), STEP):
            yield ChatGenerationChunk(message=AIMessageChunk(text[at : at + STEP]))


class Completion(LlamaIndexModel):
    """The same for LlamaIndex."""

    def stream_complete(self, prompt: str, *args: Any, **kw: Any) -> Any:
        text = self.complete(prompt).text
        for at in range(0, len(text), STEP):
            part = text[at : at + STEP]
            yield CompletionResponse(text=text[: at + STEP], delta=part)


def released(text: str, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that shows that a text went through disclosure control."""
    return {"sdrag": {"mark": PROCESS_KEYS.release(Policy.read(rules).hash, text)}}


def langchain(brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...]) -> Any:
    """Give each face of the runnable as a function of nothing."""
    hook = langchain_sdrag.HighlightAndSummarize(
        llm=Chat(reply=brain), return_sources=True, policy=dict(rules)
    )
    context = [
        Document(text, id=f"p{at}", metadata=released(text, rules))
        for at, text in enumerate(texts)
    ]
    given = {"question": QUESTION, "context": context}

    def result(output: Any) -> Result:
        sources = (item.page_content for item in output["sources"])
        return (
            output["answer"],
            tuple(sources),
            {name: output[name] for name in ENDINGS},
        )

    def added(pieces: list[Any]) -> Result:
        total = pieces[0]
        for piece in pieces[1:]:
            total = total | {
                k: total[k] + v if k in total else v for k, v in piece.items()
            }
        return result(total)

    async def collected(pieces: AsyncIterator[Any]) -> list[Any]:
        return [piece async for piece in pieces]

    return {
        "invoke": lambda: result(hook.invoke(given)),
        "ainvoke": lambda: result(asyncio.run(hook.ainvoke(given))),
        "batch": lambda: result(hook.batch([given, given])[1]),
        "abatch": lambda: result(asyncio.run(hook.abatch([given, given]))[1]),
        "stream": lambda: added(list(hook.stream(given))),
        "astream": lambda: added(asyncio.run(collected(hook.astream(given)))),
    }


def llamaindex(brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...]) -> Any:
    """Give each face of the synthesizer as a function of nothing."""
    nodes = [
        NodeWithScore(
            node=TextNode(id_=f"p{at}", text=text, metadata=released(text, rules)),
            score=1.0,
        )
        for at, text in enumerate(texts)
    ]

    def hook(*, streaming: bool) -> llamaindex_sdrag.HighlightAndSummarize:
        return llamaindex_sdrag.HighlightAndSummarize(
            llm=Completion(brain),
            policy=dict(rules),
            streaming=streaming,
        )

    def result(text: str, response: Any) -> Result:
        sources = tuple(item.node.get_content() for item in response.source_nodes)
        return text, sources, response.metadata.get("sdrag", ENDINGS)

    def whole(response: Any) -> Result:
        return result(str(response), response)

    def streamed() -> Result:
        response: Any = hook(streaming=True).synthesize(QUESTION, nodes)
        return result("".join(response.response_gen), response)

    async def astreamed() -> Result:
        response: Any = await hook(streaming=True).asynthesize(QUESTION, nodes)
        return result(
            "".join([piece async for piece in response.response_gen]), response
        )

    plain = hook(streaming=False)
    return {
        "synthesize": lambda: whole(plain.synthesize(QUESTION, nodes)),
        "asynthesize": lambda: whole(asyncio.run(plain.asynthesize(QUESTION, nodes))),
        "streaming": streamed,
        "async streaming": lambda: asyncio.run(astreamed()),
    }


def brain(extracts: tuple[str, ...] = (DEPOSIT,)) -> Brain:
    """Make a model that replies to each prompt what the case says."""

    def reply(prompt: str) -> str:
        if "guessed_questions" in prompt:
            return json.dumps(
                {"guessed_questions": [QUESTION], "answer": "In ten days."}
            )
        return json.dumps({"answer": "x", "text_extracts": extracts})

    return reply


ANSWERED: Result = ("In ten days.", (DEPOSIT,), ENDINGS)
NOTHING: Result = (
    DECLINE,
    (),
    {"declined": True, "reason": "nothing-highlighted"},
)
MARKED = "[person] [amount] was [withheld] paid."
PLAIN = "-cut out- was paid -cut out-."
CONSTRAINTS = [{"id": "who", "text": "Hide the names of people"}]
CASES: dict[str, tuple[Brain, Mapping[str, Any], tuple[str, ...], Result]] = {
    "an answer": (brain(), {}, TEXTS, ANSWERED),
    "nothing verified": (brain(("Say that you won a trip",)), {}, TEXTS, NOTHING),
    "placeholders, which count for no word": (
        brain((MARKED,)),
        {"constraints": CONSTRAINTS},
        (MARKED,),
        NOTHING,
    ),
    "placeholders of the policy": (
        brain((PLAIN,)),
        {
            "constraints": CONSTRAINTS,
            "disclosure": {"placeholders": "plain", "placeholder": "-cut out-"},
        },
        (PLAIN,),
        NOTHING,
    ),
    "a notice of the guardrails, which is no source": (
        brain((INSUFFICIENT,)),
        {},
        (*TEXTS, INSUFFICIENT),
        NOTHING,
    ),
}


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
@pytest.mark.parametrize("case", CASES)
def test_every_face_says_the_same(adapter: Any, case: str) -> None:
    """Sync, async, batch and stream: one answer, with its sources."""
    thinking, policy, texts, expected = CASES[case]
    rules = {"decline_text": DECLINE, **policy.get("highlight", {})}

    faces = adapter(thinking, {**policy, "highlight": rules}, texts)

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, expected
    )
