"""Citations: present, valid, accurate and complete."""

from __future__ import annotations

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.guardrails import citations
from sdrag.guardrails.claims import claims
from sdrag.policy import CitationsSection, GroundingSection, Policy
from sdrag.vocabulary import Passage

from .answers import HARBOUR, PASSAGES, guarded

CITED = "The harbour was built in 1871"


def in_langchain(instruction_, policy):
    prompt = langchain_sdrag.separated_prompt(instruction_, policy=policy)
    return prompt.invoke({"sources": "", "question": ""}).to_string()


def in_llamaindex(instruction_, policy):
    prompt = llamaindex_sdrag.separated_prompt(instruction_, policy=policy)
    return prompt.format(context_str="x", query_str="")


@pytest.mark.parametrize(
    ("form", "answer", "data", "faults"),
    [
        ("number", f"{CITED} [1].", None, []),
        ("number", f"{CITED}.", None, ["presence"]),
        ("number", f"{CITED} [7].", None, ["validity"]),
        ("number", f"{CITED} [0].", None, ["validity"]),
        ("number", f"{CITED} [source one].", None, ["validity"]),
        ("number", f"{CITED} [1, 9].", None, ["validity"]),
        ("number", f"{CITED} [2].", None, ["accuracy"]),
        ("number", f"{CITED} [1", None, ["presence"]),
        ("id", f"{CITED} [harbour].", None, []),
        ("id", f"{CITED} [Harbor].", None, ["validity"]),
        ("structured", f"{CITED}.", [{"quote": CITED, "source": "harbour"}], []),
        ("structured", f"{CITED}.", [{"quote": CITED, "source": "x"}], ["validity"]),
        ("structured", f"{CITED}.", [], ["presence"]),
        (
            "structured",
            f"{CITED}.",
            [{"quote": "a", "source": "harbour"}],
            ["presence"],
        ),
        ("structured", f"{CITED}.", [{"quote": "", "source": "harbour"}], ["presence"]),
        ("structured", f"{CITED}.", None, ["validity"]),
        ("structured", f"{CITED}.", [{"source": "harbour"}], ["validity"]),
        ("structured", f"{CITED}.", ["harbour"], ["validity"]),
        ("structured", f"{CITED}.", "harbour", ["validity"]),
    ],
)
def test_citations_are_present_valid_and_accurate(ask, form, answer, data, faults):
    """Three of the four checks, in the three formats, on malformed answers too."""

    def judge(_effect, pair):
        return 0.9 if pair[0] == HARBOUR.text else 0.1

    steps = citations.check(
        claims(answer),
        PASSAGES,
        CitationsSection(format=form),
        judge=GroundingSection(method="nli"),
        data=data,
    )

    assert [item.fault for item in ask(steps, score=judge)] == faults


def test_a_placeholder_is_no_citation(ask):
    """What was redacted is not taken for an invented source."""
    answer = "The harbour was built by [REDACTED] [1]."
    policy = {"citations": {"require": ["presence", "validity"]}}

    assert guarded(ask, answer, policy).status == "checked"


def test_a_source_that_contradicts_must_be_cited_too(ask):
    """Completeness: the other side is not left out."""
    other = Passage("other", "The harbour was built in 1902 by the town of Lorne.")
    policy = {
        "contradictions": {},
        "citations": {"require": ["completeness"]},
    }
    whole = "The harbour was built in 1871 by the town of Lorne"

    one_side = guarded(ask, f"{whole} [1].", policy, (HARBOUR, other))
    both = guarded(ask, f"{whole} [1][2].", policy, (HARBOUR, other))

    assert [fault.fault for fault in one_side.faults] == ["completeness"]
    assert both.faults == ()


def test_the_instruction_asks_for_the_format():
    """The prompt's part says how to cite."""
    assert "[1]" in citations.instruction(CitationsSection())
    assert "JSON" in citations.instruction(CitationsSection(format="structured"))


@pytest.mark.parametrize("made", [in_langchain, in_llamaindex])
@pytest.mark.parametrize("format_", ["number", "id", "structured"])
def test_the_prompt_asks_for_what_is_checked(made, format_):
    """A policy that checks citations has the prompt ask for them, in its format."""
    policy = {"citations": {"format": format_}}
    asked = citations.instruction(Policy.read(policy).citations)

    assert asked in made("Be brief.", policy)
    assert "Be brief." in made("Be brief.", policy)
    assert asked not in made("Be brief.", {})
