"""What a passage says was done to it, under which key, and who believes that."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import PolicyError, PromptSanitizationError
from sdrag.policy import Policy
from sdrag.state import open_state

from ..support.doubles import Answering, LangChainModel, LlamaIndexModel

RAW = "The witness Anna Karlsson left at nine in the evening."
RELEASED = "The witness [person] left at nine in the evening."
QUESTION = "When did the witness leave?"
POLICY = {"constraints": ["Remove the names of witnesses"]}
SAID = "At nine."
GUESSED = "Anna Karlsson left at nine."


def under(key):
    return POLICY | {"metadata": {"allow": ["page"], "evidence": key}}


@dataclass
class Host:
    """A framework: what it releases, how it answers, and how it checks an answer."""

    asked: list[str] = field(default_factory=list)

    def reply(self, prompt):
        self.asked.append(prompt)
        if "text_extracts" in prompt:
            return json.dumps({"answer": SAID, "text_extracts": [RELEASED]})
        return json.dumps({"answer": SAID})


class InLangChain(Host):
    def release(self, policy, state):
        """Return text and metadata of what leaves."""
        hook = langchain_sdrag.SelectiveDisclosureCompressor(policy, state=state)
        given = [Document(RAW, id="a", metadata={"page": 3})]
        (document,) = hook.compress_documents(given, QUESTION)
        return document.page_content, document.metadata

    def answer(self, text, metadata, policy, state):
        hook = langchain_sdrag.HighlightAndSummarize(
            policy, LangChainModel(reply=self.reply), state=state
        )
        context = [Document(text, id="a", metadata=metadata)]
        return hook.invoke({"question": QUESTION, "context": context})

    def check(self, text, metadata, policy, state):
        """Return what a guard makes of an answer, and why."""
        guard = langchain_sdrag.AnswerGuard(policy, state=state, return_report=True)
        context = [Document(text, id="a", metadata=metadata)]
        given = {"question": QUESTION, "context": context, "answer": GUESSED}
        report: Any = guard.invoke(given)
        return report["answer"], report["reasons"]


class InLlamaIndex(Host):
    def release(self, policy, state):
        hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(policy, state=state)
        node = TextNode(id_="a", text=RAW, metadata={"page": 3})
        (scored,) = hook.postprocess_nodes([NodeWithScore(node=node)], None, QUESTION)
        if "allow" in policy.get("metadata", {}):
            for mode in (MetadataMode.LLM, MetadataMode.EMBED):
                printed = scored.node.get_content(mode)
                assert printed == f"page: 3\n\n{RELEASED}"
        return scored.node.get_content(), scored.node.metadata

    def answer(self, text, metadata, policy, state):
        hook = llamaindex_sdrag.HighlightAndSummarize(
            policy, LlamaIndexModel(self.reply), state=state
        )
        node = TextNode(id_="a", text=text, metadata=metadata)
        return str(hook.synthesize(QUESTION, [NodeWithScore(node=node)]))

    def check(self, text, metadata, policy, state):
        guard = llamaindex_sdrag.AnswerGuard(
            Answering([GUESSED]), policy=policy, state=state
        )
        node = TextNode(id_="a", text=text, metadata=metadata)
        response = guard.synthesize(QUESTION, [NodeWithScore(node=node)])
        return response.response, response.metadata["sdrag"]["reasons"]


@pytest.fixture(params=[InLangChain, InLlamaIndex])
def host(request):
    return request.param()


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("key", ["sdrag", "disclosure"])
def test_what_was_released_is_answered_from(host, key, on_disk, tmp_path):
    """Whatever the key of the evidence, and wherever the state is."""
    policy, state = under(key), tmp_path / "state.sqlite" if on_disk else None

    text, metadata = host.release(policy, state)

    assert text == RELEASED
    assert set(metadata) == {"page", key}
    assert metadata[key]["constraints"] == ["c1"]
    assert host.answer(text, metadata, policy, state) == SAID


@pytest.mark.parametrize("key", ["sdrag", "disclosure", None])
def test_a_guard_goes_by_the_evidence_and_says_where_there_is_none(host, key):
    """Under the key of the policy; without one nothing but what is allowed leaves."""
    policy, state = under(key), open_state()

    text, metadata = host.release(policy, state)
    answer, reasons = host.check(text, metadata, policy, state)

    assert answer == "[withheld] left at nine."
    unchecked = [] if key else ["withheld:unchecked"]
    assert reasons == ["withheld:not-in-context", *unchecked]
    assert key or metadata == {"page": 3}


@pytest.mark.parametrize("key", ["page", "lc", "a b", ""])
def test_the_key_is_none_that_may_leave(key):
    """Else evidence and a value of the application would be taken for one another."""
    with pytest.raises(PolicyError):
        Policy.read(under(key))


def test_anything_else_is_refused_before_a_model_is_asked(host, tmp_path):
    """Metadata is for anyone to write: only the key's holder can make a mark."""
    state = open_state(tmp_path / "state.sqlite")
    other = open_state(tmp_path / "other.sqlite")
    text, metadata = host.release(POLICY, state)
    stricter = {"constraints": [*POLICY["constraints"], "Remove the times"]}
    forged = metadata["sdrag"] | {"mark": "00" * 12}
    redacted = {"sdrag": {"redacted": True}}
    cases = {
        "raw": (RAW, {}, POLICY, state),
        "raw, with the mark of what was released": (RAW, metadata, POLICY, state),
        "says that it is redacted": (text, redacted, POLICY, state),
        "no evidence": (text, {"sdrag": "mark"}, POLICY, state),
        "forged": (text, {"sdrag": forged}, POLICY, state),
        "no text at all": (text, {"sdrag": {"mark": "\ud800"}}, POLICY, state),
        "of another policy": (text, metadata, stricter, state),
        "of another key": (text, metadata, POLICY, other),
        "of a key that was not passed": (text, metadata, POLICY, None),
        "without evidence": (*host.release(under(None), state), under(None), state),
    }

    answered = []
    for name, case in cases.items():
        try:
            host.answer(*case)
        except PromptSanitizationError:
            continue
        answered.append(name)

    assert not answered
    assert not host.asked
