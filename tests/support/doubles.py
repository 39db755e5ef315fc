"""Stand-ins for what a test cannot have: a hosted model, in both frameworks' shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CustomLLM
from llama_index.core.response_synthesizers import BaseSynthesizer
from pydantic import Field, PrivateAttr

from .scripted import answer_control, toy_vectors
from .waiting import hang

Reply = Callable[[str], str]


class LangChainModel(BaseChatModel):
    """Answers what `reply` makes of the whole prompt; remembers the prompts."""

    reply: Any
    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "double"

    def _generate(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> ChatResult:
        prompt = "\n".join(str(message.text) for message in messages)
        self.prompts.append(prompt)
        message = AIMessage(content=answer_control(prompt, self.reply(prompt)))
        return ChatResult(generations=[ChatGeneration(message=message)])


class LlamaIndexModel(CustomLLM):
    """The same for LlamaIndex."""

    _reply: Any = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._reply = reply

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="double")

    def complete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponse:
        self._prompts.append(prompt)
        return CompletionResponse(text=answer_control(prompt, self._reply(prompt)))

    def stream_complete(self, prompt: str, *args: Any, **kwargs: Any):
        yield self.complete(prompt)


class Answering(BaseSynthesizer):
    """A synthesizer of LlamaIndex that answers in these pieces."""

    def __init__(self, pieces: Sequence[str], *, streaming: bool = False) -> None:
        super().__init__(llm=LlamaIndexModel(str), streaming=streaming)
        self._pieces = pieces

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def get_response(self, query_str: str, text_chunks: Any, **others: Any) -> Any:
        each = (piece for piece in self._pieces)
        return each if self._streaming else "".join(self._pieces)

    async def aget_response(self, query_str: str, text_chunks: Any, **_: Any) -> Any:
        async def stream():
            for piece in self._pieces:
                yield piece

        return stream() if self._streaming else "".join(self._pieces)


class LangChainToyEmbeddings(Embeddings):
    """Hashed bags of words."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return toy_vectors(texts)

    def embed_query(self, text: str) -> list[float]:
        return toy_vectors([text])[0]


class LlamaIndexToyEmbedding(BaseEmbedding):
    """Hashed bags of words."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return toy_vectors([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return toy_vectors([text])[0]


def verdicts(**spans: list[str]) -> Reply:
    """Answer, for these constraint ids, with those spans that stand in the prompt."""

    def reply(prompt: str) -> str:
        listed = [
            {"constraint": name, "spans": [one for one in found if one in prompt]}
            for name, found in spans.items()
        ]
        return json.dumps({"verdicts": listed})

    return reply


def talkative(**spans: list[str]) -> Reply:
    """Answer likewise, wrapped in talk and in a code fence."""
    inner = verdicts(**spans)
    return lambda prompt: f"Sure! Here:\n```json\n{inner(prompt)}\n```\nAnything else?"


def garbled(prompt: str) -> str:
    """Answer with something that is no verdict."""
    return "I am sorry, I cannot help with that. " + prompt[-40:]


def failing(prompt: str) -> str:
    """Fail with a message that quotes the prompt, as providers do."""
    raise ValueError(f"invalid request: {prompt}")


def hanging(prompt: str) -> str:
    """Answer when the test is over."""
    hang()
    return verdicts()(prompt)
