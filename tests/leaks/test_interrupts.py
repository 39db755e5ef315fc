"""
An interrupt that holds text, from whatever a host hands in.

It passes as an interrupt: through a wrapper, a chain with retries and fallbacks, a
query engine, a stream. Its words are seen by nobody: not by who catches it, not by a
tracer, a handler or a log.
"""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexRetriever
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Principal, acting_as
from sdrag.vocabulary import Passage

from ..support.doubles import LlamaIndexModel
from .agent import ASK, AgentModel
from .canaries import CLEAN, QUERY, RAW, leaked
from .surfaces import told, watching_langchain, watching_llamaindex

JUDGE = Principal("j", tenant="a", roles=frozenset({"judge"}))
METADATA = {"tenant": "a", "roles": ["judge"]}
CONSTRAINTS = [{"id": "why", "text": "Conceal the purpose of the voyage"}]


@dataclass(frozen=True)
class Kind:
    """What is raised, and what leaves."""

    make: Callable[[], BaseException]
    type: type[BaseException]


KINDS = {
    "keyboard": Kind(lambda: KeyboardInterrupt(RAW), KeyboardInterrupt),
    "exit": Kind(lambda: SystemExit(RAW), SystemExit),
    "group": Kind(
        lambda: BaseExceptionGroup(RAW, [ValueError(RAW), KeyboardInterrupt(RAW)]),
        BaseExceptionGroup,
    ),
    "cancelled": Kind(lambda: CancelledError(RAW), CancelledError),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
every_interrupt = pytest.mark.parametrize(
    "kind",
    [KINDS[name] for name in KINDS if name != "cancelled"],
    ids=[name for name in KINDS if name != "cancelled"],
)
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


def fail(kind: Kind) -> Any:
    """Raise as hosts do: with a note, a cause, and frames that hold the text."""
    raw = RAW
    error = kind.make()
    error.add_note(raw)
    raise error from ValueError(raw)


class LangChainHost(LangChainRetriever):
    kind: Any = None

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        if self.kind is not None:
            fail(self.kind)
        return [Document(RAW, id="p", metadata=METADATA)]


class LlamaIndexHost(LlamaIndexRetriever):
    def __init__(self, kind: Kind | None = None) -> None:
        super().__init__()
        self.kind = kind

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        if self.kind is not None:
            fail(self.kind)
        node = TextNode(text=RAW, id_="p", metadata=METADATA)
        return [NodeWithScore(node=node, score=0.5)]


class LangChainFailing(BaseChatModel):
    kind: Any

    @property
    def _llm_type(self) -> str:
        return "double"

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        return fail(self.kind)

    def _stream(self, *args: Any, **kwargs: Any) -> Any:
        yield fail(self.kind)


class LlamaIndexFailing(CustomLLM):
    kind: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="double")

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return fail(self.kind)

    def stream_complete(self, *args: Any, **kwargs: Any) -> Any:
        yield fail(self.kind)


class LangChainVectors(Embeddings):
    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def embed_query(self, text: str) -> list[float]:
        return list(fail(self.kind))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return list(fail(self.kind))


class LlamaIndexVectors(BaseEmbedding):
    kind: Any

    def _get_query_embedding(self, query: str) -> list[float]:
        return list(fail(self.kind))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return list(fail(self.kind))

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(fail(self.kind))


def failing(port: str, kind: Kind, *, langchain: bool) -> dict[str, Any]:
    """Return the arguments of a retriever of which one part is interrupted."""

    def judge(*_: Any) -> Any:
        return fail(kind)

    policy: dict[str, Any] = {"constraints": []}
    host: Any = LangChainHost() if langchain else LlamaIndexHost()
    match port:
        case "retriever":
            host = LangChainHost(kind=kind) if langchain else LlamaIndexHost(kind)
            return {"base_retriever": host, "policy": policy}
        case "model":
            model = LangChainFailing if langchain else LlamaIndexFailing
            policy["constraints"] = CONSTRAINTS
            given = {"llm": model(kind=kind)}
        case "embeddings":
            policy["relevance"] = {"scores": "measured"}
            vectors = (
                LangChainVectors(kind) if langchain else LlamaIndexVectors(kind=kind)
            )
            given = {"embeddings": vectors}
        case "authorizer":
            policy["access"] = {"tenant_key": "tenant"}
            given = {"authorize": judge}
        case "scorer":
            policy["relevance"] = {"rerank": True}
            given = {"judges": {"relevance": judge}}
        case "classifier":
            policy["injection"] = {}
            given = {"judges": {"injection": judge}}
    return {"base_retriever": host, "policy": policy, **given}


OF_THE_HOST = ("retriever", "authorizer")
every_port = pytest.mark.parametrize(
    "port", [*OF_THE_HOST, "model", "embeddings", "scorer", "classifier"]
)


async def _caught(call: Callable[[], Any]) -> BaseException | None:
    """Catch in the task that waits, as the code of a host does."""
    try:
        with acting_as(JUDGE):
            await call()
    except BaseException as error:  # noqa: BLE001 -- that is what is tried
        return error
    return None


def caught(
    mode: str, call: Callable[[], Any], acall: Callable[[], Any]
) -> BaseException | None:
    """Catch it there, or outside of the loop: a chain makes a task of each step."""
    try:
        if mode == "async":
            return asyncio.run(_caught(acall))
        with acting_as(JUDGE):
            call()
    except BaseException as error:  # noqa: BLE001 -- that is what is tried
        return error
    return None


def check(error: BaseException | None, kind: Kind, port: str) -> None:
    """An interrupt is one; a call on a thread that cancels itself cancels nobody."""
    if kind.type is CancelledError and port not in OF_THE_HOST:
        assert error is None
        return
    assert type(error) is kind.type
    assert not leaked(told(error))


def recovered(_: Any) -> list[Document]:
    return []


@every_port
@every_kind
@both_modes
def test_langchain(port, kind, mode, tmp_path):
    """Retries and fallbacks are for errors: they let it pass, and their tracers too."""
    if (port, mode) == ("model", "async") and kind.type is not CancelledError:
        pytest.skip("LangChain makes a task of the call: asyncio ends the loop itself.")
    wrapper = langchain_sdrag.SelectiveDisclosureRetriever(
        **failing(port, kind, langchain=True)
    )
    retrying = wrapper.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    chain = RunnableLambda(str) | retrying.with_fallbacks([RunnableLambda(recovered)])

    with watching_langchain(tmp_path) as (handler, seen):
        config = {"callbacks": [handler]}
        error = caught(
            mode,
            lambda: chain.invoke(QUERY, config),
            lambda: chain.ainvoke(QUERY, config),
        )

    check(error, kind, port)
    assert not leaked(seen)


@every_port
@every_kind
@both_modes
def test_llamaindex(port, kind, mode, tmp_path):
    wrapper = llamaindex_sdrag.SelectiveDisclosureRetriever(
        **failing(port, kind, langchain=False)
    )
    engine = RetrieverQueryEngine.from_args(wrapper, llm=LlamaIndexModel(str))

    with watching_llamaindex(tmp_path) as seen:
        error = caught(mode, lambda: engine.query(QUERY), lambda: engine.aquery(QUERY))

    check(error, kind, port)
    assert not leaked(seen)


@every_interrupt
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@both_modes
def test_a_detector(framework, kind, mode):
    class Detector:
        def detect(self, passage: Passage) -> Any:
            return fail(kind)

    policy: dict[str, Any] = {"linkage": {}}
    if framework == "langchain":
        made: Any = langchain_sdrag.LinkageMasker(
            policy=policy, whole_corpus=True, detector=Detector()
        )
        given = [Document(CLEAN, id="p")]
        call, acall = made.transform_documents, made.atransform_documents
    else:
        made = llamaindex_sdrag.LinkageMasker(
            policy=policy, whole_corpus=True, detector=Detector()
        )
        given = [TextNode(text=CLEAN, id_="p")]
        call, acall = made, made.acall

    error = caught(mode, lambda: call(given), lambda: acall(given))

    assert type(error) is kind.type
    assert not leaked(told(error))


class LangChainBreaking(LangChainFailing):
    """Highlights, and is interrupted in the middle of its answer."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        message = AIMessage(REPLY)
        return ChatResult(generations=[ChatGeneration(message=message)])


class LlamaIndexBreaking(LlamaIndexFailing):
    """The same for LlamaIndex."""

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return CompletionResponse(text=REPLY)


RULE = "The deposit is paid back within ten days of the return."
REPLY = f'{{"answer": "x", "text_extracts": ["{RULE}"]}}'
ASKED = "When is the deposit paid back?"


@every_kind
@both_modes
def test_a_stream_of_langchain(kind, mode, tmp_path):
    hook = langchain_sdrag.HighlightAndSummarize(llm=LangChainBreaking(kind=kind))
    given = {"question": ASKED, "context": [Document(RULE, id="a")]}
    chain = RunnableLambda(dict) | hook

    async def read(config: Any) -> None:
        async for _ in chain.astream(given, config):
            pass

    with watching_langchain(tmp_path) as (handler, seen):
        config = {"callbacks": [handler]}
        error = caught(
            mode, lambda: list(chain.stream(given, config)), lambda: read(config)
        )

    assert type(error) is kind.type
    assert not leaked(told(error))
    assert not leaked(seen)


@every_kind
@both_modes
def test_a_stream_of_llamaindex(kind, mode, tmp_path):
    hook = llamaindex_sdrag.HighlightAndSummarize(
        llm=LlamaIndexBreaking(kind=kind), streaming=True
    )
    nodes = [NodeWithScore(node=TextNode(text=RULE, id_="a"), score=0.9)]

    async def read() -> None:
        response: Any = await hook.asynthesize(ASKED, nodes)
        async for _ in response.async_response_gen():
            pass

    with watching_llamaindex(tmp_path) as seen:
        error = caught(
            mode, lambda: list(hook.synthesize(ASKED, nodes).response_gen), read
        )

    assert type(error) is kind.type
    assert not leaked(told(error))
    assert not leaked(seen)


class HangingDocuments(LangChainHost):
    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        await asyncio.sleep(20)


class HangingNodes(LlamaIndexHost):
    async def _aretrieve(self, query_bundle: Any) -> Any:
        await asyncio.sleep(20)


def hanging_langchain() -> Any:
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=HangingDocuments(), policy={"constraints": []}
    ).ainvoke(QUERY)


def hanging_llamaindex() -> Any:
    return llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=HangingNodes(), policy={"constraints": []}
    ).aretrieve(QUERY)


@pytest.mark.parametrize("hanging", [hanging_langchain, hanging_llamaindex])
class TestCancelling:
    """Who cancels a request finds it cancelled, by whatever means."""

    async def test_the_message_is_dropped(self, hanging):
        task = asyncio.ensure_future(hanging())
        await asyncio.sleep(0.05)
        task.cancel(RAW)

        with pytest.raises(CancelledError) as caught:
            await task
        assert task.cancelled()
        assert not leaked(told(caught.value))

    async def test_a_timeout_is_one(self, hanging):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await hanging()
        assert asyncio.current_task().cancelling() == 0

    async def test_a_cancel_scope_of_anyio_ends_where_it_began(self, hanging):
        """Starlette and FastAPI cancel requests so."""
        with anyio.move_on_after(0.05) as scope:
            await hanging()

        assert scope.cancelled_caught

    async def test_a_task_group_ends(self, hanging):
        async def grouped() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(hanging())
                group.create_task(_broken())

        with pytest.raises(ExceptionGroup) as caught:
            await grouped()
        assert [type(one) for one in caught.value.exceptions] == [OSError]


async def _broken() -> None:
    await asyncio.sleep(0.05)
    raise OSError


def guarded_langchain(kind: Kind) -> Any:
    @tool("search")
    def search(query: str) -> str:
        """Search."""
        return str(fail(kind))

    middleware = langchain_sdrag.SelectiveDisclosureMiddleware(
        policy={"constraints": []}
    )
    return create_agent(AgentModel(), [search], middleware=[middleware])


@every_interrupt
def test_a_tool_of_an_agent(kind, tmp_path):
    agent = guarded_langchain(kind)

    with watching_langchain(tmp_path) as (handler, seen):
        error = caught(
            "sync",
            lambda: agent.invoke(ASK, {"callbacks": [handler]}),
            lambda: None,
        )

    assert type(error) is kind.type
    assert not leaked(told(error))
    assert not leaked(seen)


@every_kind
@both_modes
def test_a_guarded_tool(kind, mode, tmp_path):
    def search(query: str) -> str:
        return str(fail(kind))

    guarded = llamaindex_sdrag.guard_tool(
        FunctionTool.from_defaults(search, name="search"), policy={"constraints": []}
    )

    with watching_llamaindex(tmp_path) as seen:
        error = caught(
            mode, lambda: guarded.call(query="q"), lambda: guarded.acall(query="q")
        )

    assert type(error) is kind.type
    assert not leaked(told(error))
    assert not leaked(seen)
