"""A second look: what was found in one document is looked for in all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.linkage import assess, fit
from sdrag.linkage.meaning import meaning_pairs
from sdrag.linkage.mentions import KnownForms
from sdrag.vocabulary import Mention, Passage, Span


def look_again(
    texts: list[str], found: list[tuple[Mention, ...]]
) -> list[tuple[Mention, ...]]:
    rows = list(zip(texts, found, strict=True))
    known = KnownForms.of(rows)
    return [known.look(text, row) for text, row in rows]


def mention(text: str, form: str, type_: str, sure: float = 0.9) -> Mention:
    start = text.index(form)
    return Mention(Span(start, start + len(form)), type_, sure)


@pytest.mark.parametrize(
    ("form", "elsewhere", "seen"),
    [
        ("Valdora Philharmonic", "the VALDORA philharmonic plays", True),
        ("KV-7719203", "policy KV 7719-203 applies", True),
        ("KV-7719203", "policy KV 7719-204 applies", False),
        ("KV-7719203", "policy AKV 7719-203 applies", False),
        ("KV-7719203", "KV, 7719, 203 are three", False),
        ("Lee", "Lee came", False),
        ("Krastev", "Krasteva came", False),
    ],
)
def test_known_forms_are_found_elsewhere(form, elsewhere, seen):
    """Whole words, identifiers under any punctuation; short forms say too little."""
    first = f"It is {form}."
    found = look_again([first, elsewhere], [(mention(first, form, "ID"),), ()])
    assert {one.span for one in found[0]} == {mention(first, form, "ID").span}
    assert bool(found[1]) is seen


@given(st.lists(st.text("aB1 -./", max_size=30), max_size=4))
def test_nothing_found_is_lost(texts):
    """Each find stands, or lies within what took its place."""
    found = [
        (Mention(Span(0, len(text)), "ID", 1.0),) if text else () for text in texts
    ]
    for before, after in zip(found, look_again(texts, found), strict=True):
        assert set(before) <= set(after)


def test_numbers_in_words_keep_forms_apart():
    """Ten is not nine, however near in meaning."""
    near = np.ones((2, 1), np.float32)
    assert list(meaning_pairs(["ten visits", "nine visits"], near, 0.9)) == []
    assert list(meaning_pairs(["ten visits", "10 visits"], near, 0.9)) == [(0, 1)]


def test_links_rest_on_the_second_look():
    """Two documents are linked by what was found in one."""
    texts = ["Member KV-7719203.", "Paid for KV 7719 203.", *["Closed."] * 8]
    documents = [Passage(str(n), text) for n, text in enumerate(texts)]
    found = [(mention(texts[0], "KV-7719203", "PATIENT_ID"),), *[()] * 9]
    assert not assess(documents, found).links
    assert len(fit(documents, None, found).masked.assessment.links) == 1
    given = [[["KV-7719203", "", "PATIENT_ID", 0.9]], *[[]] * 9]
    assert len(fit(documents, None, given).masked.assessment.links) == 1
