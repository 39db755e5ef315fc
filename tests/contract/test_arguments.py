"""What a wrapper is handed is checked when it is built, and names whose fault it is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

from ..support.faces import (
    Scenario,
    langchain_compressor,
    langchain_retriever,
    llamaindex_retriever,
)

NAME = "Karlsson"
SCENARIO = Scenario(
    "arguments",
    (Passage("p", "It opens at six."),),
    {"constraints": [{"id": "names", "text": f"Remove {NAME}", "always": True}]},
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
        ("scorer", len, "takes no argument `scorer`.*judges="),
        ("escalate", len, "takes no argument `escalate`.*on_contradiction"),
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


def test_a_tool_of_another_kind_is_refused():
    with pytest.raises(UsageError, match="A str is no LlamaIndex tool"):
        llamaindex_sdrag.guard_tool("search", policy=SCENARIO.policy)


def test_an_error_of_validation_quotes_nothing():
    retriever = langchain_retriever(SCENARIO)

    with pytest.raises(ValueError, match="frozen") as caught:
        retriever.setup = SCENARIO.policy

    assert NAME not in str(caught.value)


def test_arguments_next_to_a_whole_setup_are_refused():
    """They would be read by nobody."""
    setup = langchain_compressor(SCENARIO).setup

    with pytest.raises(UsageError, match="takes no argument `policy`"):
        langchain_sdrag.SelectiveDisclosureCompressor(
            setup=setup, policy={"constraints": ["Remove all names"]}
        )


class TestConfigurableFields:
    """What callers choose may not be what protects from them."""

    @pytest.mark.parametrize("field", ["policy", "authorize", "principal_resolver"])
    def test_what_protects_is_not_for_callers_to_choose(self, field):
        compressor = langchain_compressor(SCENARIO)

        with pytest.raises(UsageError, match=f"Callers do not choose {field}"):
            compressor.configurable_fields(**{field: ConfigurableField(id=field)})

    def test_the_schema_of_what_they_choose_says_nothing_of_the_policy(self):
        """LangServe publishes it."""
        chosen = langchain_retriever(SCENARIO).configurable_fields(
            k=ConfigurableField(id="k")
        )

        assert NAME not in json.dumps(chosen.get_config_jsonschema())
