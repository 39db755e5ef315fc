"""What a wrapper is handed is checked when it is built, and names whose fault it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    langchain_compressor,
    langchain_retriever,
    llamaindex_retriever,
)

NAME = "Karlsson"
SCENARIO = Scenario(
    "arguments",
    (Passage("p", "It opens at six."),),
    {"constraints": [{"id": "names", "text": f'Remove "{NAME}"', "always": True}]},
)
RETRIEVERS = [langchain_retriever, llamaindex_retriever]


@pytest.mark.parametrize("build", RETRIEVERS)
@pytest.mark.parametrize(
    ("argument", "given", "said"),
    [
        ("authorize", 3, "`authorize` must be callable, got int"),
        ("audit", 3, "`audit` must be callable, got int"),
        ("audit", [3], "`audit` must be callable, got int"),
        ("judges", {"relevance": 3}, "A judge must be callable, got int"),
        ("judges", {"beauty": len}, "`judges` has no place for 'beauty'"),
        ("scorer", len, "takes no argument `scorer`"),
        ("state", 3, "A state must be a path or a State, got int"),
    ],
)
def test_what_cannot_do_its_work_is_refused(build, argument, given, said):
    """Before a question is asked, for then it would only withhold."""
    with pytest.raises(UsageError, match=said):
        build(SCENARIO, **{argument: given})


@pytest.mark.parametrize("build", RETRIEVERS)
def test_bounds_of_another_kind_are_refused(build):
    with pytest.raises((UsageError, ValueError), match=r"limits|bounds"):
        build(replace(SCENARIO, limits=3))


@pytest.mark.parametrize(
    ("package", "said"),
    [
        (langchain_sdrag, "must be a LangChain retriever, got list"),
        (llamaindex_sdrag, "must be a LlamaIndex retriever, got list"),
    ],
)
def test_a_retriever_of_another_kind_is_refused(package, said):
    with pytest.raises(UsageError, match=said):
        package.SelectiveDisclosureRetriever(base_retriever=[], policy=SCENARIO.policy)


@pytest.mark.parametrize("package", [langchain_sdrag, llamaindex_sdrag])
def test_embeddings_of_another_kind_are_refused(package, tmp_path):
    given: Any = {"policy": SCENARIO.policy, "state": tmp_path / "state"}

    with pytest.raises(UsageError, match=r"A str is no \w+ embedding model"):
        package.ConstraintBinder(**given, embeddings="MiniLM")


@pytest.mark.parametrize(
    "hook",
    [
        langchain_sdrag.SelectiveDisclosureCompressor,
        llamaindex_sdrag.SelectiveDisclosurePostprocessor,
    ],
)
def test_a_misspelt_argument_is_refused(hook):
    """Ignored, it would leave out what it was to protect."""
    with pytest.raises(UsageError, match="takes no argument `authorise`"):
        hook(policy=SCENARIO.policy, authorise=lambda *_: [False])


HOOKS = {
    langchain_sdrag: langchain_sdrag.SelectiveDisclosureCompressor,
    llamaindex_sdrag: llamaindex_sdrag.SelectiveDisclosurePostprocessor,
}
HOSTS = {
    langchain_sdrag: lambda scenario: Documents(scenario=scenario),
    llamaindex_sdrag: Nodes,
}
CALLS = [
    # the class, its positional arguments, its named ones, what the error says
    ("SelectiveDisclosureRetriever", "rp", "", r"by name only.*base_retriever=\.\.\."),
    ("SelectiveDisclosureRetriever", "p", "", "by name only"),
    ("SelectiveDisclosureRetriever", "", "policy", "needs the argument `base_retr"),
    (
        "SelectiveDisclosureRetriever",
        "",
        "policy retriever",
        "`base_retriever`. Did you mean it by `retriever`",
    ),
    ("SelectiveDisclosureRetriever", "", "policy vectorstore", "by `vectorstore`"),
    ("SelectiveDisclosureRetriever", "", "base_retriever", "needs a `policy`"),
    ("SelectiveDisclosureRetriever", "", "base_retriever polcy", "mean `policy`"),
    ("SelectiveDisclosureRetriever", "", "base_retriever policy model", "mean `llm`"),
    ("SelectiveDisclosureRetriever", "", "base_retriever policy LLM", "mean `llm`"),
    ("hook", "p", "", r"by name only.*Write \w+\(policy=\.\.\.\)"),
    ("hook", "", "", "needs a `policy`"),
    ("hook", "", "policy_path", "mean `policy`"),
    ("hook", "", "policy embedding", "mean `embeddings`"),
    ("hook", "", "policy embed_model", "mean `embeddings`"),
    ("hook", "", "policy authoriser", "mean `authorize`"),
    ("hook", "", "policy judge", "mean `judges`"),
    ("hook", "", "policy xyzzy", r"no argument `xyzzy`\. It takes policy, "),
    ("ConstraintBinder", "p", "", "by name only"),
    ("ConstraintBinder", "", "", "needs the argument `policy`"),
    ("ConstraintBinder", "", "policies", "Did you mean it by `policies`"),
    ("ConstraintBinder", "", "policy state_path", "mean it by `state_path`"),
    ("ConstraintBinder", "", "policy state model", "mean `llm`"),
    ("LinkageMasker", "p", "", "by name only"),
    ("InjectionScanner", "", "policy classifer", "takes no argument `classifer`"),
    ("HierarchySummarizer", "", "policy state llm embedings", "mean `embeddings`"),
    ("RedactedView", "", "", "needs the argument"),
    ("AnswerGuard", "rp", "", "by name only|needs the argument `policy`"),
    ("HighlightAndSummarize", "p", "", "by name only"),
    ("HighlightAndSummarize", "", "policy models", "takes no argument `models`"),
]


@pytest.mark.parametrize("package", HOOKS, ids=lambda package: package.__name__)
@pytest.mark.parametrize(("name", "positional", "named", "said"), CALLS)
def test_a_wrong_call_is_told_how_to_call(package, name, positional, named, said):
    """Arguments go by name, and the error names the nearest one there is."""
    host = HOSTS[package](SCENARIO)
    values = {"r": host, "p": SCENARIO.policy}
    kwargs = {
        argument: host if "retr" in argument else SCENARIO.policy
        for argument in named.split()
    }
    called = HOOKS[package] if name == "hook" else getattr(package, name)

    with pytest.raises(UsageError, match=said) as caught:
        called(*(values[one] for one in positional), **kwargs)

    assert NAME not in str(caught.value)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        (("tool", "policy"), {}, "by name only"),
        ((), {"policy": "p"}, "needs the argument `tool`"),
        (("tool",), {}, "needs a `policy`"),
        (("tool",), {"polcy": "p"}, "mean `policy`"),
    ],
)
def test_a_function_is_told_too(args, kwargs, said):
    with pytest.raises(UsageError, match=said):
        llamaindex_sdrag.guard_tool(*args, **kwargs)


@pytest.mark.parametrize(
    ("given", "said"), [({"tool": "a"}, "no argument `tool`"), ({}, "policy")]
)
def test_the_middleware_is_told_too(given, said):
    with pytest.raises(UsageError, match=said):
        langchain_sdrag.SelectiveDisclosureMiddleware(**given)
    with pytest.raises(UsageError, match="by name only"):
        langchain_sdrag.SelectiveDisclosureMiddleware(SCENARIO.policy)


@pytest.mark.parametrize("given", [list, tuple, "- {}\n"])
@pytest.mark.parametrize("build", RETRIEVERS)
def test_a_policy_may_be_a_list_of_sentences(build, given, tmp_path):
    """In code and in a file."""
    said = "Remove the names of witnesses"
    policy = given([said]) if callable(given) else tmp_path / "policy.yaml"
    if not callable(given):
        policy.write_text(given.format(said))
    text = "The witness Anna Karlsson saw a green van."
    built = build(replace(SCENARIO, policy=policy, passages=(Passage("p", text),)))

    found = built.invoke("Who?") if hasattr(built, "invoke") else built.retrieve("Who?")

    assert NAME not in str(found)
    assert "green van" in str(found)


@pytest.mark.parametrize("package", HOOKS, ids=lambda package: package.__name__)
@pytest.mark.parametrize(
    "name",
    ["HighlightAndSummarize", "ConstraintBinder", "InjectionScanner", "LinkageMasker"],
)
def test_every_wrapper_takes_a_list(package, name, tmp_path):
    state = {"state": tmp_path / "state"} if name == "ConstraintBinder" else {}
    whole = {"whole_corpus": True} if name == "LinkageMasker" else {}

    assert getattr(package, name)(policy=["Remove names"], **state, **whole)


def test_a_tool_of_another_kind_is_refused():
    with pytest.raises(UsageError, match="A str is no LlamaIndex tool"):
        llamaindex_sdrag.guard_tool("search", policy=SCENARIO.policy)


def test_an_error_of_validation_quotes_nothing():
    retriever = langchain_retriever(SCENARIO)

    with pytest.raises(ValueError, match="frozen") as caught:
        retriever.engine = SCENARIO.policy

    assert NAME not in str(caught.value)


def test_arguments_next_to_a_whole_engine_are_refused():
    """They would be read by nobody."""
    engine = langchain_compressor(SCENARIO).engine

    with pytest.raises(UsageError, match="takes no argument `policy`"):
        langchain_sdrag.SelectiveDisclosureCompressor(
            engine=engine, policy={"constraints": ["Remove all names"]}
        )
