"""Highlight & Summarize reads what was released under its policy, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import PromptSanitizationError
from sdrag.state import open_state

from ..support.doubles import LangChainModel, LlamaIndexModel

RAW = "The witness Anna Karlsson left at nine in the evening."
RELEASED = "The witness [person] left at nine in the evening."
QUESTION = "When did the witness leave?"
POLICY = {"constraints": ["Remove the names of witnesses"]}
SAID = "At nine."


@dataclass
class Host:
    """A framework: what it releases, and how it answers."""

    package: Any
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
        (document,) = hook.compress_documents([Document(RAW, id="a")], QUESTION)
        return document.page_content, document.metadata

    def answer(self, text, metadata, policy, state):
        hook = langchain_sdrag.HighlightAndSummarize(
            policy, LangChainModel(reply=self.reply), state=state
        )
        context = [Document(text, id="a", metadata=metadata)]
        return hook.invoke({"question": QUESTION, "context": context})


class InLlamaIndex(Host):
    def release(self, policy, state):
        hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(policy, state=state)
        nodes = [NodeWithScore(node=TextNode(id_="a", text=RAW))]
        (scored,) = hook.postprocess_nodes(nodes, query_str=QUESTION)
        return scored.node.get_content(), scored.node.metadata

    def answer(self, text, metadata, policy, state):
        hook = llamaindex_sdrag.HighlightAndSummarize(
            policy, LlamaIndexModel(self.reply), state=state
        )
        node = TextNode(id_="a", text=text, metadata=metadata)
        return str(hook.synthesize(QUESTION, [NodeWithScore(node=node)]))


@pytest.fixture(params=[InLangChain, InLlamaIndex])
def host(request):
    return request.param(request.param.__name__)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("evidence", ["sdrag", "disclosure"])
def test_what_was_released_is_answered_from(host, evidence, on_disk, tmp_path):
    """Whatever the key of the evidence, and wherever the state is."""
    policy = POLICY | {"metadata": {"evidence": evidence}}
    state = tmp_path / "state.sqlite" if on_disk else None

    text, metadata = host.release(policy, state)

    assert text == RELEASED
    assert host.answer(text, metadata, policy, state) == SAID


def test_anything_else_is_refused_before_a_model_is_asked(host, tmp_path):
    """Metadata is for anyone to write: only the key's holder can make a mark."""
    state = open_state(tmp_path / "state.sqlite")
    other = open_state(tmp_path / "other.sqlite")
    text, metadata = host.release(POLICY, state)
    stricter = {"constraints": [*POLICY["constraints"], "Remove the times"]}
    silent = POLICY | {"metadata": {"evidence": None}}
    forged = metadata["sdrag"] | {"mark": "00" * 12}
    cases = {
        "raw": (RAW, {}, POLICY, state),
        "raw, with the mark of what was released": (RAW, metadata, POLICY, state),
        "says that it is redacted": (
            text,
            {"sdrag": {"redacted": True}},
            POLICY,
            state,
        ),
        "no evidence": (text, {"sdrag": "mark"}, POLICY, state),
        "forged": (text, {"sdrag": forged}, POLICY, state),
        "no text at all": (text, {"sdrag": {"mark": "\ud800"}}, POLICY, state),
        "of another policy": (text, metadata, stricter, state),
        "of another key": (text, metadata, POLICY, other),
        "of a key that was not passed": (text, metadata, POLICY, None),
        "without evidence": (*host.release(silent, state), silent, state),
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
