"""What is read as JSON, as almost JSON, and what is never made up."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.lenient_json import UNREAD, json_values, lenient_values

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES.map(lambda value: [value]), st.sampled_from([None, 2]))
def test_json_is_read_as_it_is(value, indent):
    written = json.dumps(value, indent=indent)

    assert list(json_values(f"So: {written}.")) == [value]
    assert list(lenient_values(f"So: {written}.")) == [value]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("['a', \"b\", `c`]", [["a", "b", "c"]]),
        ("[“a”, „b“, „c”, ‘d’, ”e”]", [["a", "b", "c", "d", "e"]]),
        ("{a: 1, b-2: True, 3: None,}", [{"a": 1, "b-2": True, "3": None}]),
        (r"['a\'b\\c\n\u00e9\q']", [["a'b\\c\né\\q"]]),
        ("['two\nlines']", [["two\nlines"]]),
        ("['O'Brien', ‘d’Arcy’]", [["O'Brien", "d’Arcy"]]),
        ("[1, # one\n 2, // two's\n 3 /* three */, 4]", [[1, 2, 3, 4]]),
        ("[-0.5e3, 0]", [[-500.0, 0]]),
        ("{ok} [see] {'a': 1}", [{UNREAD: UNREAD}, [UNREAD], {"a": 1}]),
        ("['a', 'b", [["a", UNREAD]]),
        ("['a', ", [["a", UNREAD]]),
        ("['a' 'b']", [[UNREAD]]),
        ("['a'; 'b']", [[UNREAD]]),
        ("['a', b]", [["a", UNREAD]]),
        ("['a', ...]", [["a", UNREAD]]),
        ("['a', , 'b']", [["a", UNREAD]]),
        ("[,]", [[UNREAD]]),
        ("[01]", [[0, UNREAD]]),
        ("[/* a */]", [[UNREAD]]),
        ("[/* a ]", [[UNREAD]]),
        ("['a', // 'b'\n]", [["a", UNREAD]]),
        ('["a" // "b"\n]', [["a", UNREAD]]),
        ('["say "a" or b"]', [[UNREAD]]),
        ("{'a': ['b', {'c': ['d', 'e",
         [{"a": ["b", {"c": ["d", UNREAD], UNREAD: UNREAD}, UNREAD], UNREAD: UNREAD}]),
        ("{'a': 1, 'a': 1, 'b': 1, 'b': 2}", [{"a": 1, "b": UNREAD}]),
        ("{'a': '[1]', 'b': \"{'c': []}", [{"a": "[1]", "b": UNREAD, UNREAD: UNREAD}]),
        ("['a: [1]\n[2]", [[UNREAD], [2]]),
        ("[[1 2], [3]]", [[[1, UNREAD], UNREAD], [3]]),
    ],
)  # fmt: skip
def test_what_is_almost_json(text, values):
    """Slips are read; what breaks off or makes no sense is marked, not mended."""
    assert list(lenient_values(text)) == values


@pytest.mark.parametrize(
    "text", ["{'a': 1}", "{a: 1}", '["a",]', '["a" # b\n]', "[“a”]", '["a", ', '["a'],
)  # fmt: skip
def test_what_is_read_strictly_has_to_be_json(text):
    assert list(json_values(text)) == []


def test_no_value_replaces_another():
    assert list(json_values('{"a": 1, "a": 2, "b": 3}')) == [{"a": UNREAD, "b": 3}]


@given(st.text() | st.text(st.sampled_from("{}[]\"':,ab/*#\\ \n1-“”‘’`")))
def test_anything_can_be_read(text):
    """Nothing is raised, whatever stands there."""
    for value in lenient_values(text):
        assert isinstance(value, dict | list)
