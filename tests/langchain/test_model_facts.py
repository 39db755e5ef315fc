"""What LangChain says of a model: the tokens of a reply, and what it takes in."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from langchain_sdrag import ConstraintBinder, RedactingTransformer
from langchain_sdrag.models import complete, context_window
from sdrag.effects.prompts import Message, Prompt, constant
from sdrag.effects.tokens import Completion, text_of
from sdrag.state import open_state

USAGE = {"input_tokens": 50, "output_tokens": 20, "total_tokens": 70}
PARSED = '{"yes":true}'


class Verdict(BaseModel):
    yes: bool


class Counting(BaseChatModel):
    """A model that says what its replies took."""

    usage: dict[str, int] | None = Field(default_factory=lambda: dict(USAGE))

    @property
    def _llm_type(self) -> str:
        return "counting"

    def bind_tools(self, tools, **_):
        return self

    def with_structured_output(self, schema, *, include_raw=False, **_):
        assert include_raw
        return self | RunnableLambda(
            lambda raw: {"raw": raw, "parsed": schema.model_validate_json(raw.text)}
        )

    def _generate(self, messages, *args, **kwargs):
        message = AIMessage(PARSED, usage_metadata=self.usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def replied(llm, reply_format=None, *, is_async=False):
    port = complete(llm)
    prompt = Prompt("p", (Message("user", constant("?")),), reply_format=reply_format)
    if is_async:
        return asyncio.run(port.acall(prompt))
    return port.call(prompt)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("reply_format", [None, Verdict])
def test_what_the_message_reports_is_handed_on(reply_format, is_async):
    """Also beside what was parsed."""
    said = replied(Counting(), reply_format, is_async=is_async)

    assert said == Completion(PARSED, 50, 20)


@pytest.mark.parametrize(
    "llm",
    [
        Counting(usage=None),
        Counting() | StrOutputParser(),
        FakeListLLM(responses=[PARSED]),
        RunnableLambda(lambda _: json.loads(PARSED)),
    ],
    ids=["no usage", "parsed", "completion model", "a dictionary"],
)
def test_what_reports_nothing_is_handed_on_as_text(llm):
    said = replied(llm)

    assert json.loads(text_of(said)) == {"yes": True}
    assert (said.tokens_in, said.tokens_out) == (None, None)


def sized(tokens):
    return Counting(profile={"max_input_tokens": tokens})


@pytest.mark.parametrize(
    ("llm", "window"),
    [
        (None, None),
        (Counting(), None),
        (Counting(profile={}), None),
        (sized(0), None),
        (sized(1000), 1000),
        (sized(1000).bind(stop=["x"]), 1000),
        (sized(1000).with_retry(), 1000),
        (sized(1000) | StrOutputParser(), 1000),
        (sized(1000).with_fallbacks([sized(500), Counting()]), 500),
        (RunnableLambda(str), None),
        (FakeListLLM(responses=["x"]), None),
    ],
    ids=str,
)
def test_a_window_is_read_from_the_profile(llm, window):
    """Of several models in each other's place, the smallest."""
    assert context_window(llm) == window


@pytest.mark.parametrize("wrapper", [ConstraintBinder, RedactingTransformer])
def test_wrappers_fit_their_prompts_to_it(wrapper):
    policy = {"constraints": ["Remove names"]}

    built = wrapper(policy=policy, llm=sized(1000), state=open_state(None))

    assert built._engine.disclosure.policy.disclosure.token_budget == 500
