"""A policy file that changes while it is in force: whole, at once, or not at all."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import local
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from langchain_core.messages import ToolMessage
from langchain_core.runnables import ConfigurableField
from langchain_core.tools import tool as langchain_tool
from llama_index.core.tools import FunctionTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag.engine import policy_hash
from sdrag.errors import UsageError
from sdrag.policy import LinkageSection, Policy, PolicyFile
from sdrag.privacy.audit import AuditEvent
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
    wrapper = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=FOUND), policy=policy, **options
    )
    return Face(wrapper, lambda: str(of_documents(wrapper.invoke(QUERY))))


def langchain_ainvoke(policy: Any, **options: Any) -> Face:
    wrapper = langchain_invoke(policy, **options).wrapper
    return Face(wrapper, lambda: str(of_documents(asyncio.run(wrapper.ainvoke(QUERY)))))


def langchain_compress(policy: Any, **options: Any) -> Face:
    wrapper = langchain_sdrag.SelectiveDisclosureCompressor(policy=policy, **options)
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
    wrapper = langchain_sdrag.SelectiveDisclosureMiddleware(policy=policy, **options)
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
    wrapper = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(FOUND), policy=policy, **options
    )
    return Face(wrapper, lambda: str(of_nodes(wrapper.retrieve(QUERY))))


def llamaindex_aretrieve(policy: Any, **options: Any) -> Face:
    wrapper = llamaindex_retrieve(policy, **options).wrapper
    return Face(wrapper, lambda: str(of_nodes(asyncio.run(wrapper.aretrieve(QUERY)))))


def llamaindex_postprocess(policy: Any, **options: Any) -> Face:
    wrapper = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        policy=policy, **options
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
    wrapper = llamaindex_sdrag.guard_tool(inner, policy=policy, **options)
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


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return what was warned of a file on the logger `sdrag`."""
    caplog.set_level(logging.WARNING, "sdrag")

    def messages() -> list[str]:
        said = [one.getMessage() for one in caplog.records if one.name == "sdrag"]
        return [one for one in said if "a changed policy file" in one]

    return messages


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
        assert made.wrapper.reload()
        shown = made.ask()
        assert NAME not in shown
        assert PHONE not in shown

        write(file, B)
        assert made.wrapper.reload()
        assert is_under_b(made.ask())

    @sync_face
    def test_nothing_is_read_again_unasked(self, face, file):
        """Neither a path nor a file that is not watched."""
        for source in (str(file), PolicyFile(file)):
            write(file, A)
            made = face(source)
            write(file, B)
            assert is_under_a(made.ask())
            assert made.wrapper.reload()
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

        with pytest.raises(UsageError, match="not read from a file") as caught:
            made.wrapper.reload()

        assert "PolicyFile" in caught.value.hint
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

        assert made.wrapper.reload()
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
    @pytest.mark.parametrize("watch", [False, True], ids=["told", "watched"])
    @pytest.mark.parametrize("kind", REFUSED)
    def test_the_old_policy_stays_and_the_operator_is_warned(
        self, face, file, watch, kind, warned
    ):
        """Once a change, in no word of the file; and the next change is taken."""
        write(file, A)
        made = face(PolicyFile(file, watch=watch))
        assert is_under_a(made.ask())

        if REFUSED[kind] is None:
            file.unlink()
        else:
            file.write_bytes(REFUSED[kind])
        for _ in range(2):
            assert is_under_a(made.ask())
            assert watch or not made.wrapper.reload()

        (message,) = warned()
        assert named(A) in message
        assert (kind if kind.endswith("Error") else "PolicyError") in message
        for word in ("Karlsson", "Blorf", "wug", "Anna", str(file)):
            assert word not in message

        write(file, B)
        assert watch or made.wrapper.reload()
        assert is_under_b(made.ask())
        assert len(warned()) == 1

    def test_every_change_is_warned_of(self, file, warned):
        write(file, A)
        made = langchain_compress(PolicyFile(file, watch=True))
        for text in ("[", "[[", "- x"):
            file.write_text(text, encoding="utf-8")
            assert is_under_a(made.ask())

        assert len(warned()) == 3

    def test_what_fails_in_another_way_changes_nothing_either(
        self, file, warned, monkeypatch
    ):
        """Whatever it is, no request fails of it, and its words are not told."""
        write(file, A)
        made = langchain_compress(PolicyFile(file, watch=True))
        made.ask()

        def broken(_: Any) -> None:
            raise RuntimeError(TEXT)

        write(file, B)
        monkeypatch.setattr(Policy, "read", broken)

        assert is_under_a(made.ask())
        (message,) = warned()
        assert "InternalError" in message
        assert "RuntimeError" in message
        assert NAME not in message

    def test_a_wrapper_is_not_built_on_it(self, file):
        """There is no old policy then."""
        with pytest.raises(UsageError, match="relevance"):
            langchain_compress(PolicyFile(_written(file), watch=True))


def _written(file: Path) -> Path:
    file.write_bytes(REFUSED["UsageError"])
    return file


class TestWatched:
    """A watched file is read again by itself."""

    @every_face
    def test_a_change_is_taken_with_the_next_question(self, face, file):
        write(file, A)
        made = face(PolicyFile(file, watch=True))
        assert is_under_a(made.ask())
        write(file, B)
        assert is_under_b(made.ask())
        write(file, A)
        assert is_under_a(made.ask())

    @sync_face
    def test_a_file_is_read_once_a_change(self, face, file, monkeypatch):
        """However many ask, and at once too."""
        write(file, A)
        made = face(PolicyFile(file, watch=True))
        made.ask()
        read, kept = Policy.read, []

        def counting(source: Any) -> Policy:
            kept.append(source)
            return read(source)

        monkeypatch.setattr(Policy, "read", counting)
        made.ask()
        assert not kept

        write(file, B)
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(lambda _: is_under_b(made.ask()), range(8)))

        assert sum(isinstance(source, PolicyFile) for source in kept) == 1

    def test_a_link_that_points_elsewhere_is_a_change(self, tmp_path):
        """As where a mounted configuration is replaced."""
        first, second, link = (tmp_path / name for name in ("a", "b", "policy.yaml"))
        write(first, A)
        write(second, B)
        link.symlink_to(first)
        made = langchain_compress(PolicyFile(link, watch=True))
        assert is_under_a(made.ask())

        (tmp_path / "new").symlink_to(second)
        (tmp_path / "new").replace(link)

        assert is_under_b(made.ask())

    def test_a_file_that_is_being_written_is_not_taken(self, file, warned, monkeypatch):
        """What changes while it is read is read again, and kept out if it goes on."""
        write(file, A)
        made = langchain_compress(PolicyFile(file, watch=True))
        made.ask()
        read = Policy.read

        def growing(source: Any) -> Policy:
            found = read(source)
            with file.open("a", encoding="utf-8") as written:
                written.write("# more\n")
            return found

        write(file, B)
        with monkeypatch.context() as patch:
            patch.setattr(Policy, "read", growing)
            assert is_under_a(made.ask())

        assert "being written" in warned()[0]
        assert is_under_b(made.ask())

    def test_others_take_a_file_and_read_it_once(self, file):
        """Whatever takes a policy takes its file."""
        write(file, {"linkage": {}})
        source = PolicyFile(file, watch=True)

        assert Policy.read(source) == Policy.read(file)
        assert langchain_sdrag.AnswerGuard(policy=source).policy == Policy.read(file)
        assert isinstance(Policy.read(source).linkage, LinkageSection)
        assert str(file) not in repr(source)


class TestWhole:
    """No answer is under two policies."""

    @every_face
    def test_every_answer_is_under_one_policy(self, face, file):
        """However often the file changes while many ask; its event tells which."""
        write(file, A)
        told = local()

        def tell(event: AuditEvent) -> None:
            told.hash = event.policy_hash

        def asked(_: int) -> tuple[str, str]:
            return made.ask(), told.hash

        made = face(PolicyFile(file, watch=True), audit=tell)
        made.ask()
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(asked, number) for number in range(24)]
            for turn in range(200):
                write(file, (A, B)[turn % 2])
                if all(answer.done() for answer in answers):
                    break
            seen = [answer.result() for answer in answers]

        for shown, under in seen:
            assert is_under_a(shown) == (under == named(A))
            assert is_under_b(shown) == (under == named(B))
        write(file, B)
        assert is_under_b(made.ask())

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
                assert made.wrapper.reload()
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
    """What LangChain copies stays under the file, unless it is given another policy."""

    @pytest.mark.parametrize("deep", [False, True])
    def test_a_copy_looks_at_the_file_too(self, deep, file):
        write(file, A)
        first = langchain_invoke(PolicyFile(file, watch=True)).wrapper
        write(file, BOTH)
        first.invoke(QUERY)
        copied = first.model_copy(deep=deep)
        assert copied.policy_hash == first.policy_hash == named(BOTH)

        write(file, B)

        for one in (copied, first, copy.copy(first), copy.deepcopy(copied)):
            assert is_under_b(str(of_documents(one.invoke(QUERY))))
            assert one.policy_hash == named(B)

    def test_a_copy_with_another_policy_does_not(self, file):
        write(file, A)
        first = langchain_invoke(PolicyFile(file, watch=True)).wrapper
        copied = first.model_copy(update={"policy": Policy.read(A)})

        write(file, B)

        assert is_under_a(str(of_documents(copied.invoke(QUERY))))
        assert is_under_b(str(of_documents(first.invoke(QUERY))))
        with pytest.raises(UsageError, match="not read from a file"):
            copied.reload()

    def test_what_callers_configure_is_under_the_file(self, file):
        """Such a wrapper is built for each call."""
        write(file, A)
        first = langchain_invoke(PolicyFile(file, watch=True)).wrapper
        chosen = first.configurable_fields(k=ConfigurableField(id="k"))

        def ask(**config: Any) -> str:
            return str(of_documents(chosen.invoke(QUERY, {"configurable": config})))

        assert is_under_a(ask(k=2))
        write(file, B)
        assert is_under_b(ask(k=2))
        assert is_under_b(ask())
