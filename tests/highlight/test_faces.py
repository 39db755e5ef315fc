"""Every face of both adapters says the same, whatever the models reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options
from sdrag.errors import UsageError
from sdrag.guardrails.notices import INSUFFICIENT
from sdrag.policy import Policy
from sdrag.state.keys import PROCESS_KEYS

from ..support.doubles import LangChainModel, LlamaIndexModel
from ..support.frameworks import disclosure_events

Brain = Callable[[str], str]
"""A prompt to a reply."""
Source = tuple[str, str, str]
"""The id of a passage, what is quoted of it, and the source that its metadata name."""
Result = tuple[str, tuple[Source, ...], dict[str, Any]]
"""The answer, its sources, and how it ended."""

OFFICE = "The office opens at nine on every weekday but Friday."
DEPOSIT = "The deposit is paid back within ten days of the return."
TEXTS = (f"{OFFICE} It is in the town hall.", DEPOSIT)
QUESTION = "When is the deposit paid back?"
CONTEXT = [Document(text) for text in TEXTS]
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
    mark = PROCESS_KEYS.release(Policy.read(rules).hash, text)
    return {"sdrag": {"mark": mark}, "source": "faq"}


def langchain(
    brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...], **more: Any
) -> Any:
    """Give each face of the runnable as a function of nothing."""
    hook = langchain_sdrag.HighlightAndSummarize(
        llm=Chat(reply=brain), return_sources=True, policy=dict(rules), **more
    )
    context = [
        Document(text, id=f"p{at}", metadata=released(text, rules))
        for at, text in enumerate(texts)
    ]
    given = {"question": QUESTION, "context": context}

    def result(output: Any) -> Result:
        sources = tuple(
            (str(item.id), item.page_content, item.metadata["source"])
            for item in output["sources"]
        )
        return output["answer"], sources, {name: output[name] for name in ENDINGS}

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


def llamaindex(
    brain: Brain, rules: Mapping[str, Any], texts: tuple[str, ...], **more: Any
) -> Any:
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
            llm=Completion(brain), policy=dict(rules), streaming=streaming, **more
        )

    def result(text: str, response: Any) -> Result:
        sources = tuple(
            (item.node_id, item.node.get_content(), item.node.metadata["source"])
            for item in response.source_nodes
        )
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


def brain(
    extracts: tuple[str, ...] = (DEPOSIT,), summary: str = "In ten days."
) -> Brain:
    """Make a model that replies to each prompt what the case says."""

    def reply(prompt: str) -> str:
        if "text_extracts" in prompt:
            return json.dumps({"answer": "x", "text_extracts": extracts})
        return json.dumps({"answer": summary})

    return reply


ANSWERED: Result = ("In ten days.", (("p1", DEPOSIT, "faq"),), ENDINGS)
NOTHING: Result = (DECLINE, (), {"declined": True, "reason": "nothing-highlighted"})
INVENTED = "In ten days, and Elvis pays it back."
QUOTED = {"declined": False, "reason": "summary-unsupported"}
MARKED = "[person] [amount] was [withheld] paid."
PLAIN = "-cut out- was paid -cut out-."
CONSTRAINTS = [{"id": "who", "text": "Hide the names of people"}]
CASES: dict[str, tuple[Brain, Mapping[str, Any], tuple[str, ...], Result]] = {
    "an answer": (brain(), {}, TEXTS, ANSWERED),
    "a summary with an invented fact, in whose place its highlights are given": (
        brain(summary=INVENTED),
        {},
        TEXTS,
        (DEPOSIT, *ANSWERED[1:2], QUOTED),
    ),
    "the same where the policy lets it pass": (
        brain(summary=INVENTED),
        {"highlight": {"grounded": False}},
        TEXTS,
        (INVENTED, *ANSWERED[1:]),
    ),
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
def test_every_face_says_the_same(adapter, case):
    """Sync, async, batch and stream: one answer, with its sources."""
    thinking, policy, texts, expected = CASES[case]
    rules = {"decline_text": DECLINE, **policy.get("highlight", {})}

    faces = adapter(thinking, {**policy, "highlight": rules}, texts)

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, expected
    )


def _list(question, context):
    return [DEPOSIT] if question.text and context.passages else []


async def _async_list(question, context):
    await asyncio.sleep(0)
    return _list(question, context)


def _strings(question, context):
    yield from _list(question, context)


async def _async_strings(question, context):
    for extract in await _async_list(question, context):
        yield extract


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
@pytest.mark.parametrize("own", [_list, _async_list, _strings, _async_strings])
def test_a_highlighter_of_the_application_has_every_face(adapter, own):
    """A function of strings, a generator, or an async one, where a loop runs too."""
    faces = adapter(brain(), {}, TEXTS, highlighter=own)

    assert {name: face() for name, face in faces.items()} == dict.fromkeys(
        faces, ANSWERED
    )


@pytest.mark.parametrize("adapter", [langchain, llamaindex])
def test_every_answer_is_announced_once(adapter):
    """To the audit, and in LlamaIndex to its handlers: ids and codes, no content."""
    events: list[Any] = []
    faces = adapter(brain(), {}, TEXTS, options=Options(audit=events.append))

    for name, ask in faces.items():
        events.clear()
        with disclosure_events() as heard:
            ask()

        stages = [event.stage for event in events]
        assert stages == ["highlight"] * (2 if "batch" in name else 1), name
        if adapter is llamaindex:
            assert [stage for _, stage, _ in heard] == stages
        assert "deposit" not in f"{events}{heard}"


def test_a_guard_around_it_keeps_what_it_said():
    """The guard's report and the ending are under one key, and both are there."""
    hook = llamaindex_sdrag.HighlightAndSummarize(llm=Completion(brain(())))
    guard = llamaindex_sdrag.AnswerGuard(synthesizer=hook, policy={"grounding": {}})
    node = TextNode(id_="p", text=DEPOSIT)
    response: Any = guard.synthesize(QUESTION, [NodeWithScore(node=node)])

    assert response.metadata["sdrag"]["declined"] is True
    assert "claims" in response.metadata["sdrag"]


@pytest.mark.parametrize("key", ["question", "input", "query"])
def test_the_question_is_found_under_the_keys_of_langchain(key):
    """Every chain of LangChain names it in its own way."""
    hook = langchain_sdrag.HighlightAndSummarize(llm=Chat(reply=brain()))

    assert hook.invoke({key: QUESTION, "context": CONTEXT}) == "In ten days."


@pytest.mark.parametrize(
    "given",
    [{"question": "What?", "context": "one string"}, {"context": []}, {"question": 1}],
)
def test_another_input_is_refused(given):
    """A context that is one string cannot be told apart or cited."""
    with pytest.raises(UsageError):
        langchain_sdrag.HighlightAndSummarize(llm=Chat(reply=brain())).invoke(given)


def test_a_named_highlighter_needs_its_model():
    """The mistake is told when the hook is built, not at the first question."""
    for package in (langchain_sdrag, llamaindex_sdrag):
        with pytest.raises(UsageError):
            package.HighlightAndSummarize(highlighter="span")


def test_it_is_a_part_of_a_retrieval_chain():
    """`create_retrieval_chain` takes it in place of the documents chain."""
    hook = langchain_sdrag.HighlightAndSummarize(llm=Chat(reply=brain()))
    chain = create_retrieval_chain(RunnableLambda(lambda _: CONTEXT), hook)

    assert chain.invoke({"input": QUESTION})["answer"] == "In ten days."
