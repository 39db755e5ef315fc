"""`sdrag.explain`: each span, its constraint, and who found it."""

from __future__ import annotations

import pickle
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdrag
from benchmarks.suites.scripted.exact import ExactModel
from sdrag.disclosure.constraint_parser import parse
from sdrag.errors import ConstraintNotUnderstoodError, UsageError
from sdrag.explanation import FOUND_BY, Explainer
from sdrag.explanation.explanations import Mark, marked
from sdrag.vocabulary import Constraint, Passage, Principal, Span

REPORT = (
    "The witness Jonathan Meyers, born on 12 May 1981, saw it. "
    "Meyers called +44 20 7946 0018. He had been treated for depression."
)


def policy(*constraints: object, **sections: object) -> dict:
    return {"constraints": list(constraints), **sections}


def said(explanation: sdrag.Explanation, name: str) -> dict[str, set[str]]:
    """Return what a constraint hides, and the codes of who found it."""
    return {
        found.span.of(explanation.text): {cause.by for cause in found.causes}
        for found in explanation.spans
        if found.constraint_id == name
    }


@pytest.mark.parametrize(
    ("words", "value", "by"),
    [
        ("Remove names of witnesses", "Jonathan Meyers", "type"),
        ("Hide exact dates of birth", "12 May 1981", "type"),
        ("Remove telephone numbers", "+44 20 7946 0018", "checked"),
        ("Remove the name Jonathan Meyers", "Meyers", "named"),
        ("Hide everything about his health", "depression", "scored"),
    ],
)
def test_each_span_names_who_found_it(words, value, by) -> None:
    """The value is hidden, and the engine that found it is among the causes."""
    found = said(sdrag.explain(REPORT, policy(words)), "c1")
    hidden = {text: causes for text, causes in found.items() if value in text}
    assert hidden
    assert any(by in causes for causes in hidden.values())


def test_what_a_document_knows_from_elsewhere_is_said() -> None:
    """A form that no engine finds in this chunk is hidden by the register."""
    explainer = Explainer(
        policy("Remove names of witnesses", disclosure={"sensitivity": "balanced"})
    )
    passages = [
        Passage("1", "The witness Aurelio Vantongeren spoke.", document_id="d"),
        Passage(
            "2",
            "The log says user=avantongeren; read V a n t o n g e r e n.",
            document_id="d",
        ),
    ]
    _, second = explainer.explain(passages)
    found = said(second, "c1")
    assert found["avantongeren"] == {"register"}
    assert found["V a n t o n g e r e n"] == {"encoded"}
    assert "vantongeren" not in (second.released or "").lower()


def test_what_is_hidden_is_what_the_pipeline_cuts() -> None:
    """With the spans taken out nothing else differs from what is released."""
    explanation = sdrag.explain(REPORT, policy("Remove names", "Hide dates of birth"))
    hidden = {i for f in explanation.spans for i in range(f.span.start, f.span.end)}
    shown = "".join(c if i not in hidden else "\0" for i, c in enumerate(REPORT))
    assert re.split("\0+", shown) == re.split(
        r"\[[a-z-]+\]", explanation.released or ""
    )


def test_what_was_considered_and_left_is_said() -> None:
    """A lower sensitivity leaves what the highest one hides, with its score."""
    text = (
        "She had been tired for weeks. He has been off sick since March. She sees a"
        " counsellor on Mondays. The ferry left at nine."
    )
    words = "Hide everything about her health"
    careful = sdrag.explain(text, policy(words, disclosure={"sensitivity": "high"}))
    lenient = sdrag.explain(text, policy(words, disclosure={"sensitivity": "low"}))
    assert not careful.left
    more, fewer = (
        {i for found in one.spans for i in range(found.span.start, found.span.end)}
        for one in (careful, lenient)
    )
    assert fewer < more
    assert {cause.by for found in lenient.left for cause in found.causes} == {"scored"}
    left = {
        i for found in lenient.left for i in range(found.span.start, found.span.end)
    }
    assert more - fewer <= left


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        ("Nothing may be disclosed", "everything"),
        ({"text": "Remove names", "method": "withhold"}, "withheld-by-constraint"),
    ],
)
def test_a_passage_that_is_withheld_says_why(constraint, reason) -> None:
    """Nothing is released, and the reason is a code."""
    explanation = sdrag.explain(REPORT, policy(constraint))
    assert explanation.released is None
    assert explanation.reason == reason
    assert explanation.spans


def test_who_asks_and_where_decide_which_constraints_hold() -> None:
    """`unless` and `where` are heeded, as in the pipeline."""
    names = {
        "id": "names",
        "text": "Remove names",
        "unless": {"roles": ["clerk"]},
        "where": {"kind": ["report"]},
    }
    clerk = Principal("u", roles=frozenset({"clerk"}))
    report, notice = {"kind": "report"}, {"kind": "notice"}
    assert sdrag.explain(REPORT, policy(names), metadata=report).spans
    assert not sdrag.explain(REPORT, policy(names), metadata=notice).spans
    assert not sdrag.explain(
        REPORT, policy(names), metadata=report, principal=clerk
    ).spans


def test_a_constraint_that_nobody_understands_is_refused() -> None:
    """One text is refused, as a wrapper is; an explainer leaves it out by name."""
    unknown = policy({"id": "odd", "text": "Verberge alles über Drachen"})
    with pytest.raises(ConstraintNotUnderstoodError):
        sdrag.explain(REPORT, unknown)
    assert set(Explainer(unknown).refused) == {"odd"}


def test_every_cause_is_explained():
    """In words, in the table of the documentation, and no other."""
    rules = ("Remove names", "Hide health", "Remove telephone numbers")
    explanation = sdrag.explain(REPORT, policy(*rules))
    causes = {cause.by for found in explanation.spans for cause in found.causes}
    page = (Path(__file__).parents[2] / "docs" / "preview.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z][a-z-]*)` \|", page, re.MULTILINE)

    assert causes <= FOUND_BY.keys()
    assert sorted(rows) == sorted(FOUND_BY)
    assert "a mention of the type PERSON" in explanation.spans[0].why


def test_a_model_is_a_cause_too() -> None:
    """With a model, what it quoted names it."""
    rule = Constraint("c1", "Remove names of witnesses")
    model = ExactModel({rule.text: ["Jonathan Meyers", "Meyers"]})
    explanation = sdrag.explain(REPORT, policy(rule.text), complete=model)
    causes = {cause.by for found in explanation.spans for cause in found.causes}
    assert "model" in causes
    assert parse(rule).people


def test_the_text_is_in_no_repr_and_no_pickle() -> None:
    """The coloured view of a notebook shows the text; nothing else does."""
    explanation = sdrag.explain(REPORT, policy("Remove names"))
    assert "Meyers" not in repr(explanation) + str(explanation)
    assert "Meyers" not in str(explanation.as_dict())
    assert "Meyers" in explanation._repr_html_()
    with pytest.raises(UsageError):
        pickle.dumps(explanation)


@given(
    st.text(string.printable, max_size=80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80), st.integers(0, 3))),
)
def test_marking_keeps_the_text(text: str, ends: list[tuple[int, int, int]]) -> None:
    """Without its tags the marked text is the escaped text."""
    marks = [
        Mark(Span(min(a, b), max(a, b)), group, "why")
        for a, b, group in ends
        if a != b and max(a, b) <= len(text)
    ]
    plain = re.sub(r"</?mark[^>]*>", "", marked(text, marks))
    assert plain == marked(text, [])


WRONG_CALLS = {
    "the policy first": lambda: sdrag.explain(["Remove names"], REPORT),
    "several texts": lambda: sdrag.explain([REPORT], ["Remove names"]),
    "a sentence by itself": lambda: sdrag.explain(REPORT, "Remove names of Meyers"),
    "YAML text": lambda: sdrag.explain(REPORT, "constraints:\n - Remove Meyers"),
    "a list in a list": lambda: sdrag.explain(REPORT, [["Remove Meyers"]]),
    "a role": lambda: sdrag.explain(REPORT, ["Remove names"], principal="Meyers"),
}
RIGHT = (
    r"explain\(text, policy\)|even one is in a list|A sentence is expected|Principal"
)


@pytest.mark.parametrize("call", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_wrong_call_is_told_the_right_one(call) -> None:
    """In an error that quotes neither the text nor the policy."""
    with pytest.raises(sdrag.SdragError, match=RIGHT) as error:
        call()
    assert "Meyers" not in str(error.value)


def test_strings_are_documents_of_their_own() -> None:
    """One, or a list of them, as people try first."""
    explainer = Explainer(["Remove names of witnesses"])
    (single,) = explainer.explain(REPORT)
    several = explainer.explain([REPORT, Passage("p", REPORT)])
    assert "Meyers" not in (single.released or "")
    assert [each.released for each in several] == [single.released] * 2
