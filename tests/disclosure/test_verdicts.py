"""What of a model's reply is a verdict; what is none leaves its constraint in doubt."""

from __future__ import annotations

import json
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.model.replies import MAX_REPLY, MAX_SPANS, read_verdicts

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
        pytest.param(json.dumps([A, B]), BOTH, id="bare list"),
        pytest.param(said(B, A, {"constraint": "b", "spans": ["x"]}),
                     {"a": ("Ann", "Lee"), "b": ("x",)}, id="duplicate ids unite"),
        pytest.param(said({"constraint": "a", "spans": []}, B) + said(A), BOTH,
                     id="a draft unites with what follows"),
        pytest.param(said(A), {"a": ("Ann", "Lee")}, id="one missing"),
        pytest.param(said(A, B, {"constraint": "zz", "spans": ["x"]}), {},
                     id="an id that nobody asked about"),
        pytest.param(said(B), {"b": ()}, id="explicit empty verdict"),
        pytest.param(said(A, B)[:-20], {}, id="cut in a verdict"),
        pytest.param(said(A, B).replace('"', "'"), BOTH, id="single quotes"),
        pytest.param("{verdicts: [{constraint: 'a', spans: ['Ann', 'Lee',]},]}",
                     {"a": ("Ann", "Lee")}, id="bare keys and trailing commas"),
        pytest.param("{verdicts: [{constraint: 'a', spans: ['Ann', 'Lee'",
                     {}, id="cut in a list"),
        pytest.param("{verdicts: [{constraint: 'a', spans: ['Ann', 'Le}",
                     {}, id="cut in a quotation"),
        pytest.param("{verdicts: [{constraint: 'a', spans: }]}", {}, id="no list"),
        pytest.param('{verdicts: [{constraint: "a", spans: ["Ann", ...]}]}', {},
                     id="and so on"),
        pytest.param('{verdicts: [{constraint: "a", spans: ["x", // "Ann"\n]}]}', {},
                     id="a span in a comment"),
        pytest.param('{"constraint": "a", "spans": ["x"], "spans": []}', {},
                     id="two lists"),
        pytest.param(said(B, {"constraint": "b"}, A), {"a": ("Ann", "Lee")},
                     id="one verdict cannot be read"),
        pytest.param('{"verdicts": [{"constraint": "b", "spans": [...]}]}' + said(A, B),
                     {}, id="the form repeated before the answer"),
        pytest.param(
            said({"constraint": "a", "spans": [said(B)]}).replace('\\"', '"'), {},
            id="a verdict in an open quotation"),
        pytest.param(
            "{verdicts: [{constraint: 'a', spans: ['" + said(B) + "', 'Ann'],}]}",
            {"a": (said(B), "Ann")}, id="a verdict in a quotation"),
        pytest.param('{"a": ["Ann", "Lee"], "b": []}', BOTH, id="keyed by id"),
        pytest.param('{"verdicts": {"a": ["Ann", "Lee"], "b": []}}', BOTH,
                     id="verdicts keyed by id"),
        pytest.param('{"a": ["Ann", "Lee"], "b": [', {},
                     id="keyed by id, and cut off"),
        pytest.param('{"zz": []}', {}, id="keyed by nobody's id"),
        pytest.param(said({**A, "constraint": "[A]"},
                          {**B, "constraint": "constraint b"}),
                     BOTH, id="ids in brackets, in other case, with their noun"),
        pytest.param(said({"constraint": "a", "spans": [{"text": "Ann", "start": 0},
                     {"text": "Lee", "start": 5}]}, B), BOTH, id="objects"),
        pytest.param(said({"constraint": "a", "spans": [{"start": 0}]}), {},
                     id="objects without text"),
        pytest.param(said({"constraint": "a", "spans": "Ann"}), {"a": ("Ann",)},
                     id="one span"),
        pytest.param(said({"constraint": "a", "spans": None}), {}, id="null spans"),
        pytest.param(said({"constraint": "a"}), {}, id="no spans"),
        pytest.param("There is nothing to redact.", {}, id="prose"),
        pytest.param("", {}, id="empty"),
        pytest.param('{"x":' * 50_000, {}, id="nested"),
        pytest.param("{" * 100_000, {}, id="braces"),
        pytest.param(said(A, B) + " " * MAX_REPLY, {}, id="huge"),
        pytest.param(said({"constraint": "a", "spans": FLOOD}),
                     {}, id="too many spans"),
        pytest.param(said({"constraint": "a", "spans": ["Ann"] * len(FLOOD)}),
                     {}, id="too many spans, all alike"),
    ],
)  # fmt: skip
def test_replies(reply, expected):
    """Read in any common dress; what breaks off, garbage and floods are no verdict."""
    assert dict(read_verdicts(reply, ["a", "b"])) == expected


DRESSES = [
    said(A, B),
    said(A, B).replace('"', "'"),
    """{verdicts: [
    {constraint: 'a', spans: ['Ann', 'Lee',],},
    {constraint: 'b', spans: []},
    ],}""",
    '```json\n{"a": ["Ann", "Lee"], "b": []}\n```',
    said({"constraint": "a", "spans": [{"text": "Ann"}, {"text": "Lee"}]}, B),
]


@pytest.mark.parametrize("reply", DRESSES)
def test_no_cut_changes_a_verdict(reply):
    """However little of a reply came, what is read of it is what it says in full."""
    assert dict(read_verdicts(reply, ["a", "b"])) == BOTH
    for end in range(len(reply)):
        read = read_verdicts(reply[:end], ["a", "b"])
        assert read.items() <= BOTH.items()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reply", DRESSES[::2])
def test_no_slip_of_one_character_loses_a_span(reply, step):
    """Left out, doubled or mistyped: both spans are there, or no verdict is."""
    slips = product(range(len(reply)), ["", *"{}[]:,'\"\\/#x \n”"], (0, 1))
    for place, slip, gone in islice(slips, 0, None, step):
        text = f"{reply[:place]}{slip}{reply[place + gone :]}"
        read = read_verdicts(text, ["a", "b"])
        assert len(read.get("a", BOTH["a"])) >= 2


def test_ids_that_differ_by_case_alone_are_not_guessed():
    reply = '{"A": ["Ann"], "[b]": [], "B": ["Lee"], "c ": []}'

    assert read_verdicts(reply, ["a", "b", "B", "c"]) == {
        "a": ("Ann",),
        "b": (),
        "B": ("Lee",),
        "c": (),
    }
    assert read_verdicts('{"AB": ["Ann"]}', ["ab", "aB"]) == {}


@given(st.text() | st.text(st.sampled_from('{}[]":,ab-*# \n')))
def test_any_reply_gives_verdicts_on_what_was_asked_only(reply):
    """Nothing is raised, and no id comes out that was not asked about."""
    assert set(read_verdicts(reply, ["a", "b"])) <= {"a", "b"}
