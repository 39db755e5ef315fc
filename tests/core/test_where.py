"""`where`: a constraint holds wherever the metadata does not say that it does not."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sdrag.policy import Policy, applies, metadata_of_any
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Constraint, WhereMissing

from ..support.tables import each_row

MISSING = object()
WORDS = ("cardiology", "Heart Surgery")
NAN = float("nan")

MISSED, HELD, CLEARED = (True, False), (True, True), (False, False)
"""Whether it holds, and whether with `where_missing: skip`."""
CASES: list[tuple[tuple[Any, ...], tuple[bool, bool], list[Any]]] = [
    # what is listed, what a constraint does, and the values with which it does so
    (WORDS, MISSED, [MISSING, None, "", "  \t\n", "\u200b\u00ad", [], (), set()]),
    (WORDS, MISSED, [[None], [""], ["surgery", " "], ["surgery", None]]),
    (WORDS, HELD, ["cardiology", "Cardiology ", "CARDIOLOGY", "\tcardiology\n"]),
    (WORDS, HELD, ["cardio\u200blogy", "cardio\u00adlogy", "ｃａｒｄｉｏｌｏｇｙ"]),
    (WORDS, HELD, ["heart  surgery", "heart\u00a0surgery", ["surgery", "Cardiology"]]),
    (WORDS, HELD, [("cardiology",), frozenset({"surgery", "cardiology"})]),
    (WORDS, HELD, [1, 1.5, True, NAN, {}, {"name": "surgery"}, b"surgery", object()]),
    (WORDS, HELD, [dt.date(2030, 1, 1), Decimal(1), ["surgery", 1], ["surgery", {}]]),
    (WORDS, CLEARED, ["surgery", "cardio", "1", ["surgery"], {"surgery"}]),
    (WORDS, CLEARED, [["surgery", "oncology"]]),
    ((1, 2.5), MISSED, [""]),
    ((1, 2.5), HELD, [1, 1.0, 2.5, NAN, True, "1", "surgery", [3, 1.0], [3, NAN]]),
    ((1, 2.5), CLEARED, [3, 10**400, float("inf"), [3, 4]]),
    ((True,), HELD, [True, 1, "true"]),
    ((True,), CLEARED, [False]),
    ((0,), HELD, [False]),
    (("north", 1), HELD, [True]),
    (("north", 1), CLEARED, ["south", 2, ["south", 2]]),
]


SECRET = ("secret", "Heart Surgery")

UNCOMPARED = [
    # joined
    "public,secret",
    "secret,",
    "public; secret",
    "public|secret",
    "public secret",
    "public\nsecret",
    "public/secret",
    "public_secret",
    "public、secret",
    "public,internal",  # no word of it is listed, but an item may be written otherwise
    "public;internal",
    "public|internal",
    "public，internal",
    "public、internal",
    "public،internal",
    "public%2Cinternal",
    # serialised
    "['public', 'secret']",
    "('secret',)",
    "{'secret'}",
    "{public,secret}",
    '["secret"]',
    '"secret"',
    '["\\u0073ecret"]',
    '{"tag": "secret"}',
    "- public\n- secret",
    "['internal']",
    "(internal)",
    "［internal］",
    # in a longer string
    "top-secret",
    "secret files",
    "heart_surgery",
    "heart-surgery",
    "Ward for heart  surgery",
    # look-alikes and disguises
    "sеcrеt",
    "ѕесгет",
    "public, ѕеcret",
    "ｓｅｃｒｅｔ，ｐｕｂｌｉｃ",
    "ｐｕｂｌｉｃ｜ｓｅｃｒｅｔ",
    "s\u200becret files",
    "s e c r e t",
    "%73ecret",
    "&#115;ecret",
    "c2VjcmV0",
    ["public,secret"],
    ["public", "['internal']"],
]
COMPARED = [
    "public",
    "secrets",
    "secretary",
    "secretariat office",
    "heart",
    "surgery of the heart",
    "Ward 3 (north)",
    "Research & Development",
    "public/internal",
    "non-public",
    "2024-05-03",
    "3.5",
    "hr@example.com",
    "https://example.com/wards/3",
    "хирургия",
    "外科",
    ["public", "internal"],
]


def rule(where_missing: WhereMissing = "hold", **where: tuple[Any, ...]) -> Constraint:
    return Constraint("c", "Hide doses", where=where, where_missing=where_missing)


def carrying(value: Any) -> dict[str, Any]:
    return {} if value is MISSING else {"key": value}


def outcomes(listed: tuple[Any, ...], value: Any) -> tuple[bool, bool]:
    metadata = carrying(value)
    strict, skipping = rule(key=listed), rule("skip", key=listed)
    return applies(strict, metadata), applies(skipping, metadata)


def test_a_value_decides():
    """What can be compared and equals nothing listed; doubt never opens."""
    assert not [
        (listed, value)
        for listed, expected, values in CASES
        for value in values
        if outcomes(listed, value) != expected
    ]


def test_a_joined_or_serialised_value_cannot_be_compared():
    """Nor can one that contains a listed value: the constraint holds."""
    assert not [v for v in UNCOMPARED if outcomes(SECRET, v) != HELD]
    assert outcomes(("sеcret",), "secret") == HELD  # what is listed has another e
    assert not [v for v in COMPARED if outcomes(SECRET, v) != CLEARED]


@each_row(
    "metadata, holds",
    [
        ({"ward": "a", "year": 1}, True),
        ({"ward": "a"}, True),
        ({"year": 1}, True),
        ({}, True),
        ({"ward": "a", "year": 2}, False),
        ({"ward": "b", "year": 1}, False),
        ({"ward": "b"}, False),
        ({"year": "one"}, True),
    ],
)
def test_all_keys_must_hold(metadata, holds):
    """One key that says otherwise is enough."""
    assert applies(rule(ward=("a",), year=(1,)), metadata) is holds


def test_without_where_it_holds_everywhere() -> None:
    """There is nothing to look at."""
    assert applies(rule(), {"ward": "b"})


TEXTS = st.text("xyzÉ")
COMPARABLE = TEXTS | st.integers() | st.floats() | st.booleans()
ITEMS = COMPARABLE | st.none() | st.binary() | st.dictionaries(st.text(), st.text())
VALUES = ITEMS | st.lists(ITEMS, max_size=4) | st.lists(ITEMS, max_size=4).map(tuple)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LISTED = st.lists(
    TEXTS | st.integers() | FINITE | st.booleans(), min_size=1, max_size=4
).map(tuple)
JOINED = [", ".join, ";".join, "|".join, "\n".join, json.dumps, repr, str]


def kind_of(value: Any) -> str:
    if isinstance(value, (bool, str)):
        return type(value).__name__
    is_number = isinstance(value, (int, float)) and not math.isnan(value)
    return "number" if is_number else ""


def clears(value: Any, listed: tuple[Any, ...]) -> bool:
    """Say whether a value is comparable, of a listed kind, and equals none of them."""
    same = [item for item in listed if kind_of(item) == kind_of(value)]
    if isinstance(value, str):
        value, same = fold_text(value), [fold_text(item) for item in same]
    return bool(same) and value != "" and value not in same


@given(value=VALUES, listed=LISTED)
def test_it_holds_unless_the_value_clears_it(
    value: Any, listed: tuple[Any, ...]
) -> None:
    """A comparable value of the same kind that equals none of the listed ones."""
    items = value if isinstance(value, (list, tuple)) else [value]
    cleared = bool(items) and all(clears(item, listed) for item in items)

    assert applies(rule(key=listed), {"key": value}) is not cleared


@given(
    items=st.lists(st.text("xyzÉ", min_size=1), min_size=1),
    write=st.sampled_from(JOINED),
    data=st.data(),
)
def test_however_a_list_is_written_it_holds_for_an_item(items, write, data) -> None:
    """A store that has no lists keeps them as text."""
    listed = (data.draw(st.sampled_from(items)),)

    assert applies(rule("skip", key=listed), {"key": write(items)})


@given(value=VALUES, listed=LISTED)
def test_skipping_only_opens_what_is_missing_or_empty(
    value: Any, listed: tuple[Any, ...]
) -> None:
    """A value that says something is treated alike, whether `skip` or `hold`."""
    items = value if isinstance(value, (list, tuple)) else [value]
    says = [item for item in items if item is not None]
    says = [item for item in says if not isinstance(item, str) or fold_text(item)]

    strict, open_ = rule(key=listed), rule("skip", key=listed)
    if says and len(says) == len(items):
        assert applies(open_, {"key": value}) is applies(strict, {"key": value})
    else:
        assert applies(strict, {"key": value}) >= applies(open_, {"key": value})


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abc"), LISTED, min_size=1),
            st.sampled_from(["hold", "skip"]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_for_text_of_unknown_origin_every_constraint_holds(
    limits: list[tuple[dict[str, tuple[Any, ...]], WhereMissing]],
) -> None:
    """Whatever may be forbidden in it is, also by those that skip what is missing."""
    entries = [
        {"text": "Hide doses", "where": where, "where_missing": missing}
        for where, missing in limits
    ]
    policy = Policy.read({"constraints": entries})
    metadata = metadata_of_any(policy)

    assert all(applies(item, metadata) for item in policy.rules)
