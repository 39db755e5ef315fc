"""What of a model's reply is a verdict; what is none leaves its constraint in doubt."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.verdicts import MAX_REPLY, MAX_SPANS, read_verdicts

A = {"constraint": "a", "spans": ["Ann", "Lee"]}
B = {"constraint": "b", "spans": []}
FLOOD = [f"s{i}" for i in range(MAX_SPANS + 1)]
BOTH = {"a": ("Ann", "Lee"), "b": ()}


def said(*verdicts):
    return json.dumps({"verdicts": list(verdicts)})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(said(A, B), BOTH, id="json"),
        pytest.param(f"```json\n{said(A, B)}\n```", BOTH, id="fence"),
        pytest.param(f"Sure {{ok}}: {said(A, B)} Done [1].", BOTH, id="talk"),
        pytest.param(json.dumps([A, B]), BOTH, id="bare list"),
        pytest.param("a:\n- Ann\n- Lee\n\nb:\n- none\n", BOTH, id="markdown"),
        pytest.param("### [a]\n* Ann\n* `Lee`\n**b**:\n- None", BOTH, id="headings"),
        pytest.param(said(B, A, {"constraint": "b", "spans": ["x"]}),
                     {"a": ("Ann", "Lee"), "b": ("x",)}, id="duplicate ids unite"),
        pytest.param(said({"constraint": "a", "spans": []}, B) + said(A), BOTH,
                     id="a draft unites with what follows"),
        pytest.param(said({"constraint": "a", "spans": ["Ann", "Ann", "Lee"]}, B), BOTH,
                     id="repeated spans"),
        pytest.param(said(A), {"a": ("Ann", "Lee")}, id="one missing"),
        pytest.param(said(A, B, {"constraint": "zz", "spans": ["x"]}), BOTH,
                     id="unknown id"),
        pytest.param(said(B), {"b": ()}, id="explicit empty verdict"),
        pytest.param(said({**A, "why": "x"}, B), BOTH, id="extra keys"),
        pytest.param(said(A, B)[:-20], {"a": ("Ann", "Lee")}, id="cut in a verdict"),
        pytest.param(said(A, B)[:40], {}, id="cut in the first verdict"),
        pytest.param(said(A, B)[:-3], {"a": ("Ann", "Lee")}, id="cut before an end"),
        pytest.param(said(A, B)[:-2], BOTH, id="cut behind the last verdict"),
        pytest.param(said(A, B).replace('"', "'"), BOTH, id="single quotes"),
        pytest.param(said(A, B).replace("]}", ",],}"), BOTH, id="trailing commas"),
        pytest.param("Well: " + said(A, B).replace("]}", "],}") + " Bye.", BOTH,
                     id="trailing commas in talk"),
        pytest.param("{verdicts: [{constraint: 'a', spans: ['Ann', 'Lee'",
                     {}, id="cut in a list"),
        pytest.param("{verdicts: [{constraint: 'a', spans: ['Ann', 'Le}",
                     {}, id="cut in a quotation"),
        pytest.param("{verdicts: [{constraint: 'a', spans: [",
                     {}, id="cut before the first span"),
        pytest.param("{verdicts: [{constraint: 'a', spans: }]}", {}, id="no list"),
        pytest.param(said({"constraint": "a"}), {}, id="no spans"),
        pytest.param(said({"constraint": "a", "spans": "Ann"}), {}, id="spans no list"),
        pytest.param(said({"constraint": "a", "spans": [1]}), {}, id="spans no text"),
        pytest.param('{"verdicts": {}}', {}, id="wrong shape"),
        pytest.param("a:\nb:\n", {}, id="headings without lists"),
        pytest.param("- Ann\n- Lee\n", {}, id="a list of nobody's"),
        pytest.param("There is nothing to redact.", {}, id="prose"),
        pytest.param("", {}, id="empty"),
        pytest.param("null", {}, id="null"),
        pytest.param('{"x":' * 50_000, {}, id="nested"),
        pytest.param("[" * 100_000, {}, id="nested lists"),
        pytest.param("{" * 100_000, {}, id="braces"),
        pytest.param(said(A, B) + " " * MAX_REPLY, {}, id="huge"),
        pytest.param(said({"constraint": "a", "spans": FLOOD}),
                     {}, id="too many spans"),
    ],
)  # fmt: skip
def test_replies(reply, expected):
    """Read in any common dress; half a reply, garbage and floods are no verdict."""
    start = time.perf_counter()

    assert dict(read_verdicts(reply, ["a", "b"])) == expected
    assert time.perf_counter() - start < 3


@given(st.text() | st.text(st.sampled_from('{}[]":,ab-*# \n')))
def test_any_reply_gives_verdicts_on_what_was_asked_only(reply):
    """Nothing is raised, and no id comes out that was not asked about."""
    assert set(read_verdicts(reply, ["a", "b"])) <= {"a", "b"}
