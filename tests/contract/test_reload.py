"""A policy file that changes while it is in force: whole, at once, or not at all."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool as langchain_tool
from llama_index.core.tools import FunctionTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag.engine import policy_hash
from sdrag.errors import SdragError, UsageError
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from ..support.doubles import LangChainModel, LlamaIndexModel, verdicts
from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    documents,
    nodes,
    of_documents,
    of_nodes,
)
from ..support.wrappers import build

NAME, PHONE = "Karlsson", "070-123 45 67"
TEXT = f"The witness Anna {NAME} called {PHONE} from the quay."
PASSAGES = (Passage("p1", TEXT), Passage("p2", f"Then {TEXT}"))
FOUND = Scenario("found", PASSAGES)
QUERY = FOUND.query
NAMES = {"id": "names", "text": "Remove the names of witnesses"}
PHONES = {"id": "phones", "text": "Remove phone numbers"}
A = {"constraints": [NAMES], "disclosure": {"placeholder": "[a]"}}
B = {"constraints": [PHONES], "disclosure": {"placeholder": "[b]"}}
BOTH = {"constraints": [NAMES, PHONES]}


@dataclass
class Face:
    """A wrapper that can reload, and how it is asked."""

    wrapper: Any
    ask: Callable[[], str]


def langchain_invoke(policy: Any, **options: Any) -> Face:
    wrapper = build(
        langchain_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Documents(scenario=FOUND),
        policy=policy,
        **options,
    )
    return Face(wrapper, lambda: str(of_documents(wrapper.invoke(QUERY))))


def langchain_ainvoke(policy: Any, **options: Any) -> Face:
    wrapper = langchain_invoke(policy, **options).wrapper
    return Face(wrapper, lambda: str(of_documents(asyncio.run(wrapper.ainvoke(QUERY)))))


def langchain_compress(policy: Any, **options: Any) -> Face:
    wrapper = build(
        langchain_sdrag.SelectiveDisclosureCompressor, policy=policy, **options
    )
    found = documents(FOUND)
    return Face(
        wrapper, lambda: str(of_documents(wrapper.compress_documents(found, QUERY)))
    )


def langchain_acompress(policy: Any, **options: Any) -> Face:
    wrapper = langchain_compress(policy, **options).wrapper
    found = documents(FOUND)

    def ask() -> str:
        released = asyncio.run(wrapper.acompress_documents(found, QUERY))
        return str(of_documents(released))

    return Face(wrapper, ask)


def langchain_agent(policy: Any, **options: Any) -> Face:
    pytest.importorskip("langchain.agents")
    wrapper = build(
        langchain_sdrag.SelectiveDisclosureMiddleware, policy=policy, **options
    )
    message = ToolMessage(TEXT, name="search", tool_call_id="call")

    def ask() -> str:
        state = {"messages": [message]}
        return str(wrapper.before_model(state, SimpleNamespace(context=None)))

    return Face(wrapper, ask)


def langchain_async_agent(policy: Any, **options: Any) -> Face:
    wrapper = langchain_agent(policy, **options).wrapper
    message = ToolMessage(TEXT, name="search", tool_call_id="call")

    def ask() -> str:
        state, runtime = {"messages": [message]}, SimpleNamespace(context=None)
        return str(asyncio.run(wrapper.abefore_model(state, runtime)))

    return Face(wrapper, ask)


def llamaindex_retrieve(policy: Any, **options: Any) -> Face:
    wrapper = build(
        llamaindex_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Nodes(FOUND),
        policy=policy,
        **options,
    )
    return Face(wrapper, lambda: str(of_nodes(wrapper.retrieve(QUERY))))


def llamaindex_aretrieve(policy: Any, **options: Any) -> Face:
    wrapper = llamaindex_retrieve(policy, **options).wrapper
    return Face(wrapper, lambda: str(of_nodes(asyncio.run(wrapper.aretrieve(QUERY)))))


def llamaindex_postprocess(policy: Any, **options: Any) -> Face:
    wrapper = build(
        llamaindex_sdrag.SelectiveDisclosurePostprocessor, policy=policy, **options
    )

    def ask() -> str:
        return str(of_nodes(wrapper.postprocess_nodes(nodes(FOUND), query_str=QUERY)))

    return Face(wrapper, ask)


def llamaindex_apostprocess(policy: Any, **options: Any) -> Face:
    wrapper = llamaindex_postprocess(policy, **options).wrapper

    def ask() -> str:
        asked = wrapper.apostprocess_nodes(nodes(FOUND), query_str=QUERY)
        return str(of_nodes(asyncio.run(asked)))

    return Face(wrapper, ask)


def llamaindex_tool(policy: Any, **options: Any) -> Face:
    inner = FunctionTool.from_defaults(lambda query: TEXT, name="search")
    wrapper = build(llamaindex_sdrag.guard_tool, inner, policy=policy, **options)
    return Face(wrapper, lambda: wrapper.call(query="who").content)


def llamaindex_atool(policy: Any, **options: Any) -> Face:
    wrapper = llamaindex_tool(policy, **options).wrapper
    return Face(wrapper, lambda: asyncio.run(wrapper.acall(query="who")).content)


SYNC = (
    langchain_invoke,
    langchain_compress,
    langchain_agent,
    llamaindex_retrieve,
    llamaindex_postprocess,
    llamaindex_tool,
)
FACES = (
    *SYNC,
    langchain_ainvoke,
    langchain_acompress,
    langchain_async_agent,
    llamaindex_aretrieve,
    llamaindex_apostprocess,
    llamaindex_atool,
)
every_face = pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
sync_face = pytest.mark.parametrize("face", SYNC, ids=lambda face: face.__name__)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.yaml"


def named(policy):
    """Name a policy as wrappers without a state on disk do."""
    return policy_hash(Policy.read(policy))


def write(file: Path, policy: Any) -> None:
    """Replace the file at once, as a deployment does."""
    beside = file.with_suffix(".new")
    beside.write_text(yaml.safe_dump(policy), encoding="utf-8")
    beside.replace(file)


def is_under_a(shown: str) -> bool:
    return NAME not in shown and PHONE in shown and "[b]" not in shown


def is_under_b(shown: str) -> bool:
    return NAME in shown and PHONE not in shown and "[a]" not in shown


class TestReload:
    """A wrapper whose policy has a path reads it again when it is told to."""

    @every_face
    def test_the_next_answer_is_under_the_new_policy(self, face, file):
        """A constraint that was added holds at once, one that was removed no more."""
        write(file, A)
        made = face(file)
        assert is_under_a(made.ask())

        write(file, BOTH)
        made.wrapper.reload()
        shown = made.ask()
        assert NAME not in shown
        assert PHONE not in shown

        write(file, B)
        made.wrapper.reload()
        assert is_under_b(made.ask())

    @sync_face
    def test_the_hash_tells_the_policy_in_force(self, face, file):
        write(file, A)
        wrapper = face(file).wrapper
        assert wrapper.policy_hash == named(A)

        write(file, B)
        wrapper.reload()

        assert wrapper.policy_hash == named(B)
        for one in (wrapper, getattr(wrapper, "_redactor", wrapper)):
            assert named(A) not in repr(one)
        if isinstance(wrapper, llamaindex_sdrag.SelectiveDisclosurePostprocessor):
            assert wrapper.model_dump()["policy_hash"] == wrapper.policy_hash

    @sync_face
    @pytest.mark.parametrize("source", [A, Policy.read(A)], ids=["mapping", "policy"])
    def test_a_policy_of_no_file_cannot_be_reloaded(self, face, source):
        made = face(source)

        with pytest.raises(UsageError, match="not read from a file"):
            made.wrapper.reload()

        assert is_under_a(made.ask())

    @sync_face
    def test_a_relative_path_is_that_of_the_start(
        self, face, file, tmp_path, monkeypatch
    ):
        write(file, A)
        monkeypatch.chdir(file.parent)
        made = face(file.name)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")

        write(file, B)

        made.wrapper.reload()
        assert is_under_b(made.ask())

    @pytest.mark.parametrize("face", [langchain_invoke, llamaindex_retrieve])
    def test_what_was_located_stays_located(self, face, file):
        """The state is kept, so a model is not asked again."""
        asked = []

        def reply(prompt):
            asked.append(prompt)
            return verdicts(names=[f"Anna {NAME}"])(prompt)

        double = LangChainModel(reply=reply)
        if face is llamaindex_retrieve:
            double = LlamaIndexModel(reply)
        write(file, A)
        made = face(file, llm=double)
        assert is_under_a(made.ask())
        before = len(asked)
        assert before

        write(
            file,
            {**A, "disclosure": {"placeholders": "plain", "placeholder": "[later]"}},
        )
        made.wrapper.reload()

        assert "[later]" in made.ask()
        assert len(asked) == before


REFUSED = {
    "PolicyError": b"constraints: [Karlsson: Anna]",
    "not YAML": b"constraints: [Karlsson",
    "empty": b"",
    "not UTF-8": b"constraints: ['\xff Karlsson']",
    "ConstraintNotUnderstoodError": b"constraints: ['Blorf the wug of Karlsson']",
    "UsageError": b"relevance: {rerank: true}",
    "missing": None,
}


class TestRefused:
    """A file that says nothing that can be enforced changes nothing."""

    @sync_face
    @pytest.mark.parametrize("kind", REFUSED)
    def test_the_last_policy_stays(self, face, file, kind):
        """The error says why, in no word of the file; and the next change is taken."""
        write(file, A)
        made = face(file)

        if REFUSED[kind] is None:
            file.unlink()
        else:
            file.write_bytes(REFUSED[kind])
        with pytest.raises(SdragError) as caught:
            made.wrapper.reload()

        expected = kind if kind.endswith("Error") else "PolicyError"
        assert type(caught.value).__name__ == expected
        for word in ("Karlsson", "Blorf", "wug", "Anna", str(file)):
            assert word not in f"{caught.value!r}"
        assert is_under_a(made.ask())
        write(file, B)
        made.wrapper.reload()
        assert is_under_b(made.ask())


class TestWhole:
    """No answer is under two policies."""

    @pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
    def test_a_reload_while_the_host_retrieves_waits_for_the_next(
        self, framework, file
    ):
        """A request is under the policy of its start."""
        write(file, A)
        events: list[Any] = []
        face = {"langchain": langchain_invoke, "llamaindex": llamaindex_retrieve}[
            framework
        ]
        made = face(file, audit=events.append)
        host = (
            made.wrapper.base_retriever
            if framework == "langchain"
            else made.wrapper._base_retriever
        )

        class Changing(Scenario):
            def found(self):
                write(file, B)
                made.wrapper.reload()
                return PASSAGES

        host.scenario = Changing("changing")

        assert is_under_a(made.ask())
        assert events[0].policy_hash == named(A)
        assert is_under_b(made.ask())

    def test_a_tool_is_under_the_policy_of_its_call(self, file):
        """In LlamaIndex, where it is wrapped."""
        write(file, A)

        def search(query: str) -> str:
            write(file, B)
            guarded.reload()
            return TEXT

        inner = FunctionTool.from_defaults(search, name="search")
        guarded = llamaindex_sdrag.guard_tool(inner, policy=file)

        assert is_under_a(guarded.call(query="who").content)
        assert is_under_b(guarded.call(query="who").content)

    def test_an_agents_tool_is_under_the_policy_of_its_call(self, file):
        """In LangChain, where a middleware wraps the call."""
        pytest.importorskip("langchain.agents")
        write(file, A)
        wrapper = langchain_sdrag.SelectiveDisclosureMiddleware(policy=file)

        @langchain_tool
        def search(query: str) -> str:
            """Search."""
            write(file, B)
            wrapper.reload()
            return TEXT

        class Request(SimpleNamespace):
            def override(self, **changed: Any) -> Any:
                return Request(**{**vars(self), **changed})

        call = {
            "name": "search",
            "args": {"query": "q"},
            "id": "c",
            "type": "tool_call",
        }
        request = Request(
            tool=search,
            tool_call=call,
            state={"messages": []},
            runtime=SimpleNamespace(context=None),
        )

        def run(one: Any) -> Any:
            return one.tool.invoke(one.tool_call)

        assert is_under_a(str(wrapper.wrap_tool_call(request, run).content))
        assert is_under_b(str(wrapper.wrap_tool_call(request, run).content))


class TestCopies:
    """What LangChain copies reads the file as well."""

    @pytest.mark.parametrize("deep", [False, True])
    def test_a_copy_reads_the_file_too(self, deep, file):
        write(file, A)
        first = langchain_invoke(file).wrapper
        copied = first.model_copy(deep=deep)

        write(file, B)

        for one in (copied, first, copy.copy(first), copy.deepcopy(copied)):
            one.reload()
            assert is_under_b(str(of_documents(one.invoke(QUERY))))
            assert one.policy_hash == named(B)
