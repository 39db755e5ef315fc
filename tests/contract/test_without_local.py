"""Without the extra `local`, what can be enforced is, and the rest is refused early."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag import embeddings
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import not_understood, why_not
from sdrag.errors import ConstraintNotUnderstoodError, MissingExtraError
from sdrag.policy import Policy
from sdrag.studio.authoring.understood_as import describe
from sdrag.vocabulary import Constraint, Passage

from ..support.doubles import (
    LangChainModel,
    LangChainToyEmbeddings,
    LlamaIndexModel,
    LlamaIndexToyEmbedding,
    verdicts,
)
from ..support.faces import (
    BUILDERS,
    Scenario,
    ask,
    core_disclose,
    documents,
    langchain_retriever,
    llamaindex_retriever,
    text_nodes,
)

ROOT = Path(__file__).parents[2]
INSTALL = 'pip install "sdrag[local]"'
BLOCKED = ("onnxruntime", "safetensors", "tokenizers")
TEXT = "The witness Anna Karlsson left on 3 May 2024 to buy the island."
ONE = (Passage("p1", TEXT, document_id="log"),)
FORMS = {"constraints": ["Remove names of witnesses", "Hide dates"]}
NAME = {"constraints": ["Do not reveal anything about Anna Karlsson"]}
MEANT = {"constraints": ["Conceal the purpose of the voyage"]}
STATED = {"constraints": ["Do not say that Anna Karlsson is ill."]}
PERSONAL = {"constraints": ["Do not disclose personal data"]}
LANGCHAIN = {"llm": LangChainModel(reply=str)}
LLAMAINDEX = {"llm": LlamaIndexModel(str)}
RANKED = {**FORMS, "disclosure": {"top_k": 1}}


@pytest.fixture(autouse=True)
def _not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be found of the extra, and nothing run that was loaded before."""

    def missing(*_args: Any) -> Any:
        raise MissingExtraError("The packaged MiniLM", "local")

    for name in BLOCKED:
        monkeypatch.setitem(sys.modules, name, None)
    embeddings._warn.cache_clear()
    monkeypatch.setattr(embeddings, "load_network", missing)
    monkeypatch.setattr(embeddings, "load_tokenizer", missing)
    embeddings.installed.cache_clear()
    yield
    embeddings.installed.cache_clear()


@pytest.mark.parametrize(("policy", "hidden"), [(FORMS, "3 May"), (NAME, "Karlsson")])
def test_forms_and_names_need_neither_a_model_nor_embeddings(policy, hidden):
    """What has a form, and whom a constraint names, is found by rules."""
    passage = Passage("p1", f"{TEXT} The boat sank.", document_id="log")
    ((_, text, _),) = core_disclose(Scenario("forms", (passage,), policy))

    assert hidden not in text
    assert "Karlsson" not in text
    assert "The boat sank." in text


@pytest.mark.parametrize("build", BUILDERS)
def test_what_must_be_understood_is_refused_when_the_wrapper_is_built(build):
    """It names the constraint, what is missing, and the line that mends it."""
    for policy, why in ((MEANT, "scorer"), (STATED, "scorer"), (PERSONAL, "tagger")):
        with pytest.raises(ConstraintNotUnderstoodError) as refused:
            build(Scenario("refused", ONE, policy))

        for part in ("c1: ", why, INSTALL):
            assert part in str(refused.value)
        assert "voyage" not in str(refused.value)


def test_the_policy_may_withhold_it_instead():
    """As it may with what needs a model for other reasons."""
    policy = {**MEANT, "when_not_understood": "withhold"}

    assert core_disclose(Scenario("withheld", ONE, policy)) == []


def test_with_a_model_it_rests_on_the_model_alone(caplog):
    """It is enforced without any embeddings, and told once on the logger `sdrag`."""
    caplog.set_level(logging.WARNING, "sdrag")
    reply = verdicts(c1=["to buy the island"])
    for _ in range(2):
        ((_, text, _),) = core_disclose(Scenario("model", ONE, MEANT, reply=reply))
        assert "to buy the island" not in text

    (warned,) = [r.getMessage() for r in caplog.records if r.name == "sdrag"]
    assert "rests on the model alone" in warned
    assert INSTALL in warned


def test_a_setting_that_needs_the_extra_is_refused():
    """At the first question it would be an error for each passage."""
    for policy, feature in (
        (RANKED, "disclosure.top_k"),
        ({"relevance": {}}, "relevance.scores"),
        ({"relevance": {"scores": "measured"}}, "relevance.scores"),
        ({"injection": {}}, "injection.local_classifier"),
    ):
        with pytest.raises(MissingExtraError, match=feature) as refused:
            langchain_retriever(Scenario("refused", ONE, policy))
        assert INSTALL in str(refused.value)


def test_other_wrappers_are_refused_in_the_same_way():
    guard, both = langchain_sdrag.AnswerGuard, (langchain_sdrag, llamaindex_sdrag)
    for wrapper, arguments, feature in (
        *((p.LinkageMasker, {"whole_corpus": True}, "linkage.reso") for p in both),
        *((p.HighlightAndSummarize, {}, "highlighter `local`") for p in both),
        (langchain_sdrag.HighlightAndSummarize, LANGCHAIN, "highlight.grounded"),
        (llamaindex_sdrag.HighlightAndSummarize, LLAMAINDEX, "highlight.grounded"),
        (guard, {"policy": {"grounding": {}}}, "grounding.method"),
        (guard, {"policy": {"citations": {}}}, "citations.require"),
    ):
        with pytest.raises(MissingExtraError, match=feature) as refused:
            wrapper(**{"policy": {}, **arguments})
        assert INSTALL in str(refused.value)


def test_what_does_not_need_the_extra_is_not_refused():
    for policy in (
        {"relevance": {"scores": "similarity", "min_passages": 0}},
        {"injection": {"local_classifier": False}},
    ):
        core_disclose(Scenario("runs", ONE, policy))

    unchecked = {"highlight": {"grounded": False}}
    langchain_sdrag.HighlightAndSummarize(unchecked, **LANGCHAIN)
    llamaindex_sdrag.HighlightAndSummarize(unchecked, **LLAMAINDEX)
    off = {"linkage": {"resolution": {"meaning": False, "terms": False}}}
    masker = langchain_sdrag.LinkageMasker(policy=off, whole_corpus=True)
    assert masker.transform_documents(documents(Scenario("masked", ONE)))


def test_an_index_is_bound_without_embeddings(tmp_path):
    """Places are located; what a ranking would need is not kept."""
    state, scenario = tmp_path / "state.sqlite", Scenario("bound", ONE, FORMS)
    langchain_sdrag.ConstraintBinder(policy=FORMS, state=state).transform_documents(
        documents(scenario)
    )
    llamaindex_sdrag.ConstraintBinder(policy=FORMS, state=state)(text_nodes(scenario))

    ((_, text, _),) = core_disclose(replace(scenario, state=state))

    assert "Karlsson" not in text
    assert "3 May" not in text


@pytest.mark.parametrize(
    ("build", "model"),
    [
        (langchain_retriever, LangChainToyEmbeddings),
        (llamaindex_retriever, LlamaIndexToyEmbedding),
    ],
)
def test_the_applications_embeddings_take_the_place_of_the_packaged_ones(build, model):
    """Where something has to be embedded, that model does it."""
    scenario = Scenario("ranked", ONE, RANKED, reply=verdicts(c1=[], c2=[]))

    assert len(ask(build(scenario, embeddings=model()), scenario)) == 1


def test_what_is_said_of_a_policy_is_what_a_wrapper_does():
    """`sdrag check` and `sdrag preview` read the same answer."""
    policy = Policy.read([*FORMS["constraints"], *MEANT["constraints"]])
    parsed = parse(Constraint("c3", MEANT["constraints"][0]))

    assert list(not_understood(policy)) == ["c3"]
    assert INSTALL in why_not(parsed, policy)
    assert any(INSTALL in w for w in describe(parsed, policy, has_model=False).warnings)


PROGRAMS = {
    "langchain": """
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_sdrag import ConstraintBinder, SelectiveDisclosureRetriever

shared = {"policy": ["Remove names of witnesses"], "state": "langchain.sqlite"}
chunks = [Document("The witness Anna Karlsson left.")]
store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
store.add_documents(ConstraintBinder(**shared).transform_documents(chunks))
retriever = SelectiveDisclosureRetriever(base_retriever=store.as_retriever(), **shared)
(document,) = retriever.invoke("Who left?")
assert document.page_content == "The witness [person] left."
""",
    "llamaindex": """
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import TextNode
from llamaindex_sdrag import ConstraintBinder, SelectiveDisclosureRetriever

shared = {"policy": ["Remove names of witnesses"], "state": "llamaindex.sqlite"}
nodes = ConstraintBinder(**shared)([TextNode(text="The witness Anna Karlsson left.")])
index = VectorStoreIndex(nodes, embed_model=MockEmbedding(8))
retriever = SelectiveDisclosureRetriever(base_retriever=index.as_retriever(), **shared)
(scored,) = retriever.retrieve("Who left?")
assert scored.text == "The witness [person] left."
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_an_application_runs_where_nothing_is_installed(program, tmp_path):
    """In a process in which the extra cannot be imported."""
    blocking = f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED}))\n"
    path = f"sys.path[:0] = {[str(ROOT), str(ROOT / 'shared')]}\n"

    ended = subprocess.run(
        [sys.executable, "-c", blocking + path + program],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr
