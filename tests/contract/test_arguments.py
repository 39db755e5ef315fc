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
    ("SelectiveDisclosureRetriever", "r", "", "needs the argument `policy`"),
    ("SelectiveDisclosureRetriever", "", "policy", "needs the argument `base_retr"),
    ("SelectiveDisclosureRetriever", "", "policy vectorstore", "by `vectorstore`"),
    ("SelectiveDisclosureRetriever", "r", "polcy", "by `polcy`"),
    ("SelectiveDisclosureRetriever", "rp", "model", "mean `llm`"),
    ("hook", "", "", "needs the argument `policy`"),
    ("hook", "p", "embedding", "mean `embeddings`"),
    ("hook", "p", "option", "mean `options`"),
    ("hook", "p", "audit", r"no argument `audit`"),
    ("hook", "p", "xyzzy", r"no argument `xyzzy`\. It takes policy, "),
    ("ConstraintBinder", "", "", "needs the argument `policy`"),
    ("ConstraintBinder", "", "policy state_path", "by `state_path`"),
    ("InjectionScanner", "p", "classifier", "takes no argument `classifier`"),
    ("HierarchySummarizer", "", "policy state llm embedings", "mean `embeddings`"),
    ("RedactingTransformer", "", "", "needs the argument"),
    ("AnswerGuard", "", "", "needs the argument"),
    ("HighlightAndSummarize", "", "policy models", "takes no argument `models`"),
]


@pytest.mark.parametrize("package", HOOKS, ids=lambda package: package.__name__)
def test_a_wrong_call_is_told_how_to_call(package):
    """The error names what is missing, and the nearest argument that there is."""
    host = HOSTS[package](SCENARIO)
    values = {"r": host, "p": SCENARIO.policy}
    for name, positional, named, expected in CALLS:
        kwargs = dict.fromkeys(named.split(), SCENARIO.policy)
        wrapper = HOOKS[package] if name == "hook" else getattr(package, name)

        with pytest.raises(UsageError, match=expected) as caught:
            wrapper(*(values[letter] for letter in positional), **kwargs)

        assert NAME not in str(caught.value)


def test_functions_and_the_middleware_are_told_too():
    with pytest.raises(UsageError, match="needs the argument `tool`"):
        llamaindex_sdrag.guard_tool(policy="p")
    with pytest.raises(UsageError, match="by `polcy`"):
        llamaindex_sdrag.guard_tool("tool", polcy="p")
    with pytest.raises(UsageError, match="needs the argument `policy`"):
        langchain_sdrag.SelectiveDisclosureMiddleware()
    with pytest.raises(UsageError, match="no argument `tool`"):
        langchain_sdrag.SelectiveDisclosureMiddleware(SCENARIO.policy, tool="a")


@pytest.mark.parametrize("package", HOOKS, ids=lambda package: package.__name__)
def test_base_retriever_and_policy_may_be_given_by_position(package):
    """As the classes of the frameworks are called; the rest goes by name."""
    host = HOSTS[package](SCENARIO)
    wrapper = package.SelectiveDisclosureRetriever(host, SCENARIO.policy)
    ask = wrapper.invoke if package is langchain_sdrag else wrapper.retrieve

    assert "opens at six" in str(ask("When?"))


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
        retriever.base_retriever = SCENARIO.policy

    assert NAME not in str(caught.value)
