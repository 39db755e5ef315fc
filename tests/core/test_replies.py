"""What is read as JSON or JSON5 in a model's words, and what is never made up."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.replies import read_json

from ..support.tables import each_row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES.map(lambda value: [value]), st.sampled_from([None, 2]))
def test_json_is_read_as_it_is(value, indent):
    assert read_json(f"So: {json.dumps(value, indent=indent)}.") == [value]


@each_row(
"text, values", [
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('{"a": [1]} or rather {"a": []}', [{"a": [1]}, {"a": []}]),
        ('{"a": "https://example.org/*"}', [{"a": "https://example.org/*"}]),
        ("So: ['a', \"b\"].", [["a", "b"]]),
        ("{a: 1, 'b': true, c: null,}", [{"a": 1, "b": True, "c": None}]),
        ("{'a': 1, 'a': 1}", [{"a": 1}]),
    ])  # fmt: skip
def test_common_slips_are_read(text, values):
    assert read_json(text) == values


@each_row(
"text", [
        "", "no", "{", "[" * 100_000, '{"a":' * 50_000, "[“a”]", "{'a': True}",
        '["a", ', '["a', '["a" "b"]', "['a', b]", "['a', ...]", "['a', , 'b']", "[,]",
        "[01]", '[not "a"]', '["say "a" or b"]', "['O'Brien']", '{ok} {"a": 1}',
        '{"a": 1, "a": 2}', "{a: 1, a: 2}", '{"a": NaN}', "{a: -Infinity}",
        "[/* 'a' */]", "['a', // 'b'\n]", "['a', # b\n]", "[['a'], ['b",
        '{"a": 1} No: {\'a\': [', "{'a': '[1]', 'b': \"{'c': []}",
        "['" + "a" * 20_000 + "']",
    ])  # fmt: skip
def test_what_breaks_off_or_makes_no_sense_is_unreadable(text):
    """A comment may hold what is missing; of two values of a key neither is meant."""
    assert read_json(text) == []


@given(st.text() | st.text(st.sampled_from("{}[]\"':,ab/*#\\ \n1-“”‘’`")))
def test_anything_can_be_read(text):
    """Nothing is raised, whatever stands there."""
    for value in read_json(text):
        assert isinstance(value, dict | list)
