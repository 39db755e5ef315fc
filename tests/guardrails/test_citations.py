"""Citations: present, valid, accurate and complete."""

from __future__ import annotations

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.guardrails.citations import CitationsSection
from sdrag.guardrails.citations import check as citations
from sdrag.guardrails.statements.claims import claims
from sdrag.policy import Policy
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
    ("form", "answer", "faults"),
    [
        ("number", f"{CITED} [1].", []),
        ("number", f"{CITED}.", ["presence"]),
        ("number", f"{CITED} [7].", ["validity"]),
        ("number", f"{CITED} [0].", ["validity"]),
        ("number", f"{CITED} [source one].", ["validity"]),
        ("number", f"{CITED} [1, 9].", ["validity"]),
        ("number", f"{CITED} [2].", ["accuracy"]),
        ("number", f"{CITED} [1", ["presence"]),
        ("id", f"{CITED} [harbour].", []),
        ("id", f"{CITED} [Harbor].", ["validity"]),
    ],
)
def test_citations_are_present_valid_and_accurate(ask, form, answer, faults):
    """Three of the four checks, in both formats."""

    def judge(_effect, pair):
        return 0.9 if pair[0] == HARBOUR.text else 0.1

    policy = {"citations": {"format": form}, "grounding": {"method": "nli"}}
    done = guarded(ask, answer, policy, score=judge)

    assert [item.fault for item in done.faults] == faults


FEE = "The fee is 30 pounds"
WRITTEN = [
    # as models write citations
    (f"{FEE} \u30101\u3011.", ["1"]),
    (f"{FEE} \u30101\u3011\u30102\u3011.", ["1", "2"]),
    (f"{FEE}. \u30101\u3011 It is due in May [2].", ["1", "2"]),
    (f"{FEE}\u30104:1\u2020source\u3011.", ["1"]),
    (f"{FEE} \u30101\u2020L3-L5\u3011.", ["1"]),
    (f"{FEE} \u30107\u3011.", ["?"]),
    (f"{FEE} \u30104:7\u2020source\u3011.", ["?"]),
    (f"{FEE} \uff3b1\uff3d.", ["1"]),
    (f"{FEE} [^2].", ["2"]),
    (f"{FEE} [1](#source-1).", ["1"]),
    (f"{FEE}[1].", ["1"]),
    (f"{FEE} [Source 2].", ["2"]),
    (f"{FEE} [1-2].", ["1", "2"]),
    (f"{FEE} [2-9].", ["?"]),
    (f"{FEE} [1; 2].", ["1", "2"]),
    (f"It was free until 1871[1]. {FEE} [2].", ["1", "2"]),
    # brackets that cite nothing
    ("'the fee [sic] is 30 pounds' [1]", ["1"]),
    (f"{FEE} [emphasis added] [1].", ["1"]),
    ("'the fee [...] is 30 pounds' [1].", ["1"]),
    ("'[T]he fee is 30 pounds' [1].", ["1"]),
    ("'[she] pays the fee' [1].", ["1"]),
    ("The fee is in `fees[2]` [1].", ["1"]),
    ("The fee is `fees[2][3]` [1].", ["1"]),
    ("```\nfee = fees[2][3]\n``` [1]", ["1"]),
    ("```python\nfee = fees[2]\n```\n[1]", ["1"]),
    ("~~~\nfee = fees[2]\n~~~ [2]", ["2"]),
    ("```\nrate = 30\nfee = 2 * rate\n``` [1]", ["1", "1"]),
    ("The code:\n```\nfee = fees[2]\n``` [1][2]", ["1", "2"]),
    ("```\nfee = 30\n``` [7]", ["?"]),
    ("```\nfee = fees[1]\n```", []),
    ("- [x] The fee is paid [1].", ["1"]),
    ("The fee is on [this page](http://lorne.example) [1].", ["1"]),
    (f"{FEE} [sic].", []),
    # neither hides an invented source
    ("The shop sells these items[7].", ["?"]),
    (f"{FEE} [sic] [7].", ["?"]),
    (f"{FEE}[7].", ["?"]),
    (f"{FEE} [harbour].", ["?"]),
]


def test_a_citation_is_read_as_models_write_it(ask):
    """Full-width and footnote brackets cite; remarks, links and code do not."""
    policy = {"citations": {"require": ["presence", "validity"]}}
    faults = {"?": "validity", "": "presence"}
    for answer, cited in WRITTEN:
        done = guarded(ask, answer, policy)

        assert [fault.fault for fault in done.faults] == [
            faults[mark] for mark in cited or [""] if mark in faults
        ], answer
        numbers = [mark for mark in cited if mark != "?"]
        assert [str(place) for place in places(answer)] == numbers, answer


def places(answer):
    """Return the numbers of the passages that an answer cites, counted from 1."""
    section = CitationsSection()
    cited = citations.find_cited_places(claims(answer), PASSAGES, section)
    return [at + 1 for item in cited for at in item if at is not None]


def test_an_id_is_a_citation_whatever_it_looks_like(ask):
    """`sic` may be the name of a document."""
    policy = {"citations": {"format": "id", "require": ["presence", "validity"]}}
    passages = [Passage(name, f"{FEE}.") for name in ("sic", "she", "fees")]

    for answer in (
        f"{FEE} [sic].",
        f"{FEE} [she].",
        f"{FEE} \u30104:0\u2020fees\u3011.",
    ):
        assert guarded(ask, answer, policy, passages).status == "checked"


def test_a_placeholder_is_no_citation(ask):
    """What was redacted is not taken for an invented source."""
    answer = "The harbour was built by [REDACTED] [1]."
    policy = {"citations": {"require": ["presence", "validity"]}}

    assert guarded(ask, answer, policy).status == "checked"


def test_a_source_that_contradicts_must_be_cited_too(ask):
    """Completeness: the other side is not left out."""
    other = Passage("other", "The harbour was built in 1902 by the town of Lorne.")
    policy = {"citations": {"require": ["completeness"]}}
    whole = "The harbour was built in 1871 by the town of Lorne"

    for with_section in (policy, {**policy, "contradictions": {}}):
        one_side = guarded(ask, f"{whole} [1].", with_section, (HARBOUR, other))
        both = guarded(ask, f"{whole} [1][2].", with_section, (HARBOUR, other))

        assert [fault.fault for fault in one_side.faults] == ["completeness"]
        assert both.faults == ()


@pytest.mark.parametrize("made", [in_langchain, in_llamaindex])
@pytest.mark.parametrize("format_", ["number", "id"])
def test_the_prompt_asks_for_what_is_checked(made, format_):
    """A policy that checks citations has the prompt ask for them, in its format."""
    policy = {"citations": {"format": format_}}
    asked = citations.instruction(Policy.read(policy).citations)

    assert asked in made("Be brief.", policy)
    assert "Be brief." in made("Be brief.", policy)
    assert asked not in made("Be brief.", {})
