"""A policy file that changes while it is in force: whole, at once, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import tool as langchain_tool
from llama_index.core.tools import FunctionTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag.engine import Engine
from sdrag.errors import SdragError, UsageError
from sdrag.health import _load
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from ..support.doubles import verdicts
from ..support.faces import (
    BUILDERS,
    Documents,
    Nodes,
    Scenario,
    ask,
    langchain_retriever,
    llamaindex_retriever,
)

NAME, PHONE = "Karlsson", "070-123 45 67"
TEXT = f"The witness Anna {NAME} called {PHONE} from the quay."
FOUND = Scenario("found", (Passage("p1", TEXT), Passage("p2", f"Then {TEXT}")))
NAMES = {"id": "names", "text": "Remove the names of witnesses"}
PHONES = {"id": "phones", "text": "Remove phone numbers"}
A = {"constraints": [NAMES], "disclosure": {"placeholder": "[a]"}}
B = {"constraints": [PHONES], "disclosure": {"placeholder": "[b]"}}
BOTH = {"constraints": [NAMES, PHONES]}


def middleware(_: Scenario, policy: Any) -> Any:
    pytest.importorskip("langchain.agents")
    return langchain_sdrag.SelectiveDisclosureMiddleware(policy=policy)


def guarded_tool(_: Scenario, policy: Any) -> Any:
    inner = FunctionTool.from_defaults(lambda query: TEXT, name="search")
    return llamaindex_sdrag.guard_tool(inner, policy=policy)


every_wrapper = pytest.mark.parametrize("build", [*BUILDERS, middleware, guarded_tool])
each_framework = pytest.mark.parametrize(
    "build", [langchain_retriever, llamaindex_retriever]
)


def shown(wrapper: Any) -> str:
    """Return what a wrapper shows of the passages."""
    if hasattr(wrapper, "before_model"):
        message = ToolMessage(TEXT, name="search", tool_call_id="call")
        runtime = SimpleNamespace(context=None)
        return str(wrapper.before_model({"messages": [message]}, runtime))
    if hasattr(wrapper, "call"):
        return str(wrapper.call(query="who").content)
    return str(ask(wrapper, FOUND))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.yaml"


def named(policy: Any) -> str:
    """Name a policy as wrappers without a state on disk do."""
    return Engine(policy).policy_hash


def write(file: Path, policy: Any) -> None:
    """Replace the file at once, as a deployment does."""
    beside = file.with_suffix(".new")
    beside.write_text(yaml.safe_dump(policy), encoding="utf-8")
    beside.replace(file)


def is_under_a(text: str) -> bool:
    return NAME not in text and PHONE in text and "[b]" not in text


def is_under_b(text: str) -> bool:
    return NAME in text and PHONE not in text and "[a]" not in text


@every_wrapper
def test_its_health_says_what_became_of_the_file(build, file):
    """And nothing that is in it, nor where it is; its last policy stays in force."""
    write(file, A)
    wrapper = build(FOUND, policy=file)
    before = wrapper.health()
    assert before.ready
    assert (before.state, before.policy) == ("ok", "ok")

    for content, code in ((BOTH, "changed"), ({"constraints": 7}, "refused")):
        write(file, content)
        assert wrapper.health() == replace(before, policy=code)
    assert str(file.parent) not in str(wrapper.health().as_dict())


@pytest.mark.parametrize(
    ("what", "fails", "code"),
    [
        ("state", "sdrag.state.database.Database.reading", "failed-internal"),
        ("weights", "sdrag.health.warm_up", "failed-internal"),
        ("policy", "sdrag.policy.Policy.read", "refused"),
    ],
)
def test_a_probe_raises_nothing(what, fails, code, file, monkeypatch):
    """Not what other libraries raise, either: it is told a code."""
    write(file, A)
    wrapper = langchain_retriever(FOUND, policy=file)
    monkeypatch.setattr("sdrag.health.installed", lambda: True)
    monkeypatch.setattr("sdrag.health._load", _load.__wrapped__)
    monkeypatch.setattr(fails, Mock(side_effect=OSError(str(file))))

    health = wrapper.health()
    assert getattr(health, what) == code
    assert str(file) not in str(health.as_dict())


@every_wrapper
def test_the_next_answer_is_under_the_new_policy(build, file):
    """A constraint that was added holds at once, one that was removed no more."""
    write(file, A)
    wrapper = build(FOUND, policy=file)
    assert is_under_a(shown(wrapper))
    assert wrapper.policy_hash == named(A)

    write(file, BOTH)
    wrapper.reload()
    text = shown(wrapper)
    assert NAME not in text
    assert PHONE not in text

    write(file, B)
    wrapper.reload()
    assert is_under_b(shown(wrapper))
    assert wrapper.policy_hash == named(B)
    assert named(A) not in repr(wrapper)
    if isinstance(wrapper, llamaindex_sdrag.SelectiveDisclosurePostprocessor):
        assert wrapper.model_dump()["policy_hash"] == named(B)


@each_framework
@pytest.mark.parametrize("source", [A, Policy.read(A)], ids=["mapping", "policy"])
def test_a_policy_of_no_file_cannot_be_reloaded(build, source):
    wrapper = build(FOUND, policy=source)

    with pytest.raises(UsageError, match="not read from a file"):
        wrapper.reload()

    assert is_under_a(shown(wrapper))


def test_what_was_located_stays_located(file):
    """The state is kept, so a model is not asked again."""
    prompts = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return verdicts(names=[f"Anna {NAME}"])(prompt)

    write(file, A)
    wrapper = langchain_retriever(
        Scenario("asked", FOUND.passages, reply=reply), policy=file
    )
    assert is_under_a(shown(wrapper))
    before = len(prompts)
    later = {"placeholders": "plain", "placeholder": "[later]"}
    write(file, {**A, "disclosure": later})
    wrapper.reload()

    assert "[later]" in shown(wrapper)
    assert len(prompts) == before > 0


REFUSED = {
    "PolicyError": b"constraints: [Karlsson: Anna]",
    "not YAML": b"constraints: [Karlsson",
    "empty": b"",
    "without constraints": b"constraints: []",
    "not UTF-8": b"constraints: ['\xff Karlsson']",
    "ConstraintNotUnderstoodError": b"constraints: ['Blorf the wug of Karlsson']",
    "UsageError": b"relevance: {rerank: true}",
    "missing": None,
}


@each_framework
def test_what_cannot_be_enforced_leaves_the_last_policy_in_force(build, file):
    """The error says why, in no word of the file, and names one that is missing."""
    write(file, A)
    wrapper = build(FOUND, policy=file)
    for kind, content in REFUSED.items():
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        with pytest.raises(SdragError) as caught:
            wrapper.reload()

        expected = kind if kind.endswith("Error") else "PolicyError"
        assert type(caught.value).__name__ == expected
        for word in ("Karlsson", "Blorf", "wug", "Anna"):
            assert word not in f"{caught.value!r}"
        assert (str(file) in f"{caught.value!r}") is (content is None)
        assert is_under_a(shown(wrapper))
    write(file, B)
    wrapper.reload()
    assert is_under_b(shown(wrapper))


@pytest.mark.parametrize(
    ("build", "host"), [(langchain_retriever, Documents), (llamaindex_retriever, Nodes)]
)
def test_a_request_is_under_the_policy_of_its_start(build, host, file):
    """A reload while the host retrieves waits for the next."""
    write(file, A)
    events: list[Any] = []

    class Reloading(Scenario):
        def retrieve(self) -> Any:
            write(file, B)
            wrapper.reload()
            return FOUND.passages

    wrapper = build(Reloading("reloading"), policy=file, audit=events.append)

    assert is_under_a(shown(wrapper))
    assert events[0].policy_hash == named(A)
    assert is_under_b(shown(wrapper))


def test_a_guarded_tool_is_under_the_policy_of_its_call(file):
    write(file, A)

    def search(query: str) -> str:
        write(file, B)
        guarded.reload()
        return TEXT

    inner = FunctionTool.from_defaults(search, name="search")
    guarded = llamaindex_sdrag.guard_tool(inner, policy=file)

    assert is_under_a(shown(guarded))
    assert is_under_b(shown(guarded))


def test_an_agents_tool_is_under_the_policy_of_its_call(file):
    """In LangChain, where a middleware wraps the call."""
    write(file, A)
    wrapper = middleware(FOUND, file)

    @langchain_tool
    def search(query: str) -> str:
        """Search."""
        write(file, B)
        wrapper.reload()
        return TEXT

    class Request(SimpleNamespace):
        def override(self, **changed: Any) -> Any:
            return Request(**{**vars(self), **changed})

    request = Request(
        tool=search,
        tool_call=tool_call(name="search", args={"query": "q"}, id="c"),
        state={"messages": []},
        runtime=SimpleNamespace(context=None),
    )

    def answer() -> str:
        answered = wrapper.wrap_tool_call(
            request, lambda made: made.tool.invoke(made.tool_call)
        )
        return str(answered.content)

    assert is_under_a(answer())
    assert is_under_b(answer())
