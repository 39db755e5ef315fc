"""What LlamaIndex says of a model: the tokens of a reply, and what it takes in."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
    MessageRole,
    ToolCallBlock,
)
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel, PrivateAttr

from llamaindex_sdrag.models import complete, context_window
from llamaindex_sdrag.wrapping import LLAMAINDEX
from sdrag.effects.prompts import Message, Prompt, constant
from sdrag.effects.tokens import Completion
from sdrag.engine import Engine
from sdrag.policy import Policy

from ..support.doubles import LlamaIndexModel


class Verdict(BaseModel):
    yes: bool


class Counting(FunctionCallingLLM):
    """A model that says what its replies took, wherever it is told to."""

    _usage: dict = PrivateAttr()

    def __init__(self, **usage):
        super().__init__()
        self._usage = usage

    @property
    def metadata(self):
        return LLMMetadata(context_window=1000, is_function_calling_model=True)

    def chat(self, messages, **kwargs):
        return self._response(ChatMessage(role=MessageRole.ASSISTANT, content="fine"))

    async def achat(self, messages, **kwargs):
        return self.chat(messages)

    def chat_with_tools(self, tools, *args, **kwargs):
        block = ToolCallBlock(tool_name="Verdict", tool_kwargs='{"yes": true}')
        return self._response(ChatMessage(role=MessageRole.ASSISTANT, blocks=[block]))

    async def achat_with_tools(self, tools, *args, **kwargs):
        return self.chat_with_tools(tools)

    def _response(self, message):
        return ChatResponse(message=message, **self._usage)

    def _prepare_chat_with_tools(self, *args, **kwargs):
        raise NotImplementedError

    def complete(self, *args, **kwargs):
        raise NotImplementedError

    acomplete = astream_chat = astream_complete = complete
    stream_chat = stream_complete = complete


def replied(llm, reply_format=None, *, is_async=False):
    port = complete(llm)
    prompt = Prompt("p", (Message("user", constant("?")),), reply_format=reply_format)
    if is_async:
        return asyncio.run(port.acall(prompt))
    return port.call(prompt)


def test_prompts_of_about_one_length_share_a_copy_of_the_model():
    """Each copy would open connections; no limit is lower than what is asked for."""
    asked = {}

    class Limited(MockLLM):
        def chat(self, messages, **kwargs):
            asked[id(self)] = self.max_tokens
            return super().chat(messages, **kwargs)

    port = complete(Limited())
    for limit in range(200, 900, 10):
        port.call(Prompt("p", (Message("user", constant("?")),), max_tokens=limit))

    assert sorted(asked.values()) == [250, 500, 750, 1000]


OPENAI = {"prompt_tokens": 50, "completion_tokens": 20}
GOOGLE = {"prompt_token_count": 50, "candidates_token_count": 20}


class Usage(BaseModel):
    """What a provider's package makes of it."""

    input_tokens: int = 50
    output_tokens: int = 20


PLACES = {
    "a mapping": {"raw": {"usage": OPENAI}},
    "an object": {"raw": {"usage": Usage()}},
    "metadata": {"raw": {"usage_metadata": GOOGLE}},
    "arguments": {"raw": {"usage": None}, "additional_kwargs": OPENAI},
}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("reply_format", "text"), [(None, "fine"), (Verdict, '{"yes": true}')]
)
@pytest.mark.parametrize("place", PLACES)
def test_what_the_response_reports_is_handed_on(place, reply_format, text, is_async):
    """Wherever LlamaIndex looks for it, for words and for a tool call."""
    said = replied(Counting(**PLACES[place]), reply_format, is_async=is_async)

    assert said == Completion(text, 50, 20)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"raw": {}},
        {"raw": {"usage": {"prompt_tokens": 0, "completion_tokens": 0}}},
        {"raw": {"usage": {"prompt_tokens": "many"}}},
        {"raw": object()},
    ],
    ids=["nothing", "empty", "zero", "words", "object"],
)
def test_what_reports_nothing_is_handed_on_without_counts(usage):
    assert replied(Counting(**usage)) == Completion("fine")


def test_a_completion_model_is_handed_on_without_counts():
    assert replied(LlamaIndexModel(lambda _: "fine")) == Completion("fine")


@pytest.mark.parametrize(
    ("llm", "window"),
    [
        (Counting(), 1000),
        (LlamaIndexModel(str), None),
        (MockLLM(), None),
        (OpenAILike(model="double", api_key="none"), None),
        (OpenAILike(model="double", api_key="none", context_window=500), 500),
        (OpenAILike(model="double", api_key="none", context_window=3900), 3900),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_window_is_read_from_the_metadata(llm, window):
    """The number that every model has until somebody says another is not one."""
    assert context_window(llm) == window


def test_wrappers_fit_their_prompts_to_it():
    """Also under another policy; what audits tell of it is as it was."""
    policy = Policy.read({"constraints": ["Remove names"]})

    engine = Engine(policy, Counting(), stage="bind", framework=LLAMAINDEX)

    for made in (engine, engine.replace(policy=policy)):
        assert made.disclosure.policy.disclosure.token_budget == 500
        assert made.policy.hash == made.disclosure.policy.hash == policy.hash
        assert made.policy.disclosure.token_budget == 4000
