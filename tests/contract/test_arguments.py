"""What a wrapper is given is checked when it is built, and names whose fault it is."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import HostError, UsageError
from sdrag.principals import acting_as
from sdrag.vocabulary import Passage

from ..support.faces import (
    BUILDERS,
    Documents,
    Nodes,
    Scenario,
    ask,
    langchain_compressor,
    langchain_retriever,
    llamaindex_postprocessor,
    llamaindex_retriever,
    nodes,
)
from ..support.wrappers import build as build_wrapper

NAME = "Karlsson"
SCENARIO = Scenario(
    "arguments",
    (Passage("p", "It opens at six."),),
    {"constraints": [{"id": "names", "text": f'Remove "{NAME}"', "always": True}]},
)
PACKAGES = (langchain_sdrag, llamaindex_sdrag)
each_package = pytest.mark.parametrize(
    "package", PACKAGES, ids=lambda package: package.__name__
)
REFUSED = [
    ("authorize", NAME, "`authorize` must be callable, got str"),
    ("audit", NAME, "`audit` must be callable, got str"),
    ("audit", [3], "`audit` must be callable, got int"),
    ("judges", {"relevance": NAME}, "A judge must be callable, got str"),
    ("judges", {"beauty": len}, "`judges` has no place for 'beauty'"),
    ("limits", NAME, "A str is no limits"),
    ("state", 3, "A state must be a path or a State, got int"),
]


@pytest.mark.parametrize("build", BUILDERS)
def test_what_cannot_do_its_work_is_refused(build):
    """Before a question is asked, for then it would only withhold."""
    for argument, value, expected in REFUSED:
        with pytest.raises(UsageError, match=expected) as caught:
            build(SCENARIO, **{argument: value})
        assert NAME not in str(caught.value)


@each_package
def test_what_is_of_another_kind_is_refused(package, tmp_path):
    policy, state = SCENARIO.policy, tmp_path / "state"

    with pytest.raises(UsageError, match=r"must be a L\w+ retriever, got list"):
        package.SelectiveDisclosureRetriever(base_retriever=[], policy=policy)
    with pytest.raises(UsageError, match=r"A str is no \w+ embedding model"):
        package.ConstraintBinder(policy=policy, state=state, embeddings="MiniLM")


def test_what_is_no_tool_is_refused():
    with pytest.raises(UsageError, match="A str is no LlamaIndex tool"):
        llamaindex_sdrag.guard_tool("search", policy=SCENARIO.policy)


HOSTS = {
    langchain_sdrag: Documents(scenario=SCENARIO),
    llamaindex_sdrag: Nodes(SCENARIO),
}


@each_package
def test_base_retriever_and_policy_may_be_given_by_position(package):
    """As the classes of the frameworks are called; the rest goes by name."""
    host = HOSTS[package]
    wrapper = package.SelectiveDisclosureRetriever(host, SCENARIO.policy)

    assert "opens at six" in str(ask(wrapper, SCENARIO))


def test_an_error_of_validation_quotes_nothing():
    retriever = langchain_retriever(SCENARIO)

    with pytest.raises(ValueError, match="frozen") as caught:
        retriever.base_retriever = SCENARIO.policy

    assert NAME not in str(caught.value)


def transformer(package):
    kind = package.RedactingTransformer
    return build_wrapper(kind, policy=SCENARIO.policy)


def document(**changed):
    fields = {"id": "1", "page_content": NAME, "metadata": {}}
    return Document.model_construct(**{**fields, **changed})


def compress(documents, question="q"):
    return langchain_compressor(SCENARIO).compress_documents(documents, question)


def pipe(given):
    return langchain_compressor(SCENARIO).invoke(given)


def guard(tools):
    middleware = langchain_sdrag.SelectiveDisclosureMiddleware
    return middleware(SCENARIO.policy, tools=tools)


def limit(k):
    return llamaindex_retriever(SCENARIO, k=k)


def transform(documents):
    return transformer(langchain_sdrag).transform_documents(documents)


def call(given):
    return transformer(llamaindex_sdrag)(given)


def postprocess(given, question="q"):
    made = llamaindex_postprocessor(SCENARIO)
    return made.postprocess_nodes(given, query_str=question)


def act(principal):
    with acting_as(principal):
        raise AssertionError


def invoke(question, **given):
    return langchain_retriever(SCENARIO).invoke(question, **given)


def retrieve(given):
    return llamaindex_retriever(SCENARIO).retrieve(given)


def synthesize(given):
    kind = llamaindex_sdrag.HighlightAndSummarize
    made = build_wrapper(kind, policy={"highlight": {}})
    return made.synthesize(given, nodes(SCENARIO))


MISTAKES = [
    *[(act, (given,)) for given in ("manager", {"id": NAME}, [NAME], 3)],
    *[(transform, (given,)) for given in (None, NAME, 3, [NAME], document())],
    *[(call, (given,)) for given in (None, NAME, 3, [NAME])],
    *[(invoke, (given,)) for given in (None, 3, {"question": NAME}, [NAME])],
    *[(compress, (given,)) for given in (None, NAME, [NAME], 3)],
    *[(compress, ([document()], given)) for given in (None, 3)],
    *[(postprocess, (given,)) for given in (None, NAME, [NAME])],
    (postprocess, (nodes(SCENARIO), 3)),
    *[(pipe, (given,)) for given in (NAME, 3, {"context": NAME})],
    (guard, (NAME,)),
    (limit, (0,)),
    *[
        (use, (given,))
        for use in (retrieve, synthesize)
        for given in (None, 3, [NAME], {"question": NAME}, NAME.encode())
    ],
    *[
        (use, ([document(**changed)],))
        for use in (compress, transform)
        for changed in (
            {"id": {"a": NAME}},
            {"page_content": None},
            {"page_content": 3},
            {"metadata": None},
        )
    ],
]


def test_a_mistake_of_the_application_is_told_as_one():
    """It names the type of what was passed, and never quotes it."""
    for use, given in MISTAKES:
        with pytest.raises((UsageError, HostError)) as caught:
            use(*given)
        assert NAME not in str(caught.value)
