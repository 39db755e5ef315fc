"""What was located is gone: from text, metadata and id, once and for all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.disclosure.forms import name_forms
from sdrag.disclosure.metadata import rewritten
from sdrag.disclosure.redaction import cut, disguised, public_id, sweep
from sdrag.folding import fold
from sdrag.needles import Needles
from sdrag.vocabulary import Constraint, Finding, Span

HOLE = "[REDACTED]"
HOLES = {"n": HOLE, "d": HOLE}
RULES = (Constraint("n", "Remove names of witnesses"), Constraint("d", "Hide doses"))
WORDS = st.sampled_from(
    ["Ann", "Lee", "annlee", "ANN", "A\u200bnn", "ß", "ss", "5", "mg", HOLE, "REDACTED",
     "山田", "\n", "-", "_", "Leeds", "\u0301", ","]
)  # fmt: skip
TEXTS = st.lists(
    st.tuples(WORDS, st.sampled_from(["", " ", "\u200b"])), min_size=1, max_size=12
).map(lambda pairs: "".join(word + gap for word, gap in pairs))


@st.composite
def cases(draw):
    texts = draw(st.lists(TEXTS, min_size=1, max_size=3))
    findings = {}
    for index, text in enumerate(texts):
        places = st.integers(0, len(text))
        pairs = draw(st.lists(st.tuples(places, places), max_size=3))
        findings[index] = [
            Finding(Span(min(p), max(p)), draw(st.sampled_from("nd")))
            for p in pairs
            if p[0] != p[1]
        ]
    return texts, findings


@given(cases())
@settings(max_examples=300, deadline=None)
def test_no_located_form_remains_in_any_text(case):
    """Whatever was found anywhere stands nowhere, and placeholders never nest."""
    texts, findings = case
    swept = sweep(texts, findings, RULES, HOLES)
    for index, text in enumerate(texts):
        made = cut(text, findings[index], ("n", "d"), swept)
        if made.text is None:
            continue
        rest = fold(made.text.replace(HOLE, "\u25a1"))
        for finding in findings[index]:
            surface = finding.span.of(text)
            if surface != HOLE:
                assert not Needles([surface]).occur(rest)
        assert "[[" not in made.text or "[[" in text
        assert made.text.count(HOLE) <= text.count(HOLE) + made.spans
        again = cut(made.text, (), ("n", "d"), swept)
        assert again.text is None or again.text.count("[[") == made.text.count("[[")


@pytest.mark.parametrize(
    ("text", "found", "left"),
    [
        (
            "Ruth Calder came. Calder left.",
            ["Ruth Calder"],
            f"{HOLE} came. {HOLE} left.",
        ),
        ("R. Calder and CALDER, RUTH", ["Ruth Calder"], f"{HOLE} and {HOLE}"),
        ("Ruth \u200b Calder", ["Ruth Calder"], HOLE),
        ("_Calder_ and Calder's", ["Ruth Calder"], f"_{HOLE}_ and {HOLE}'s"),
        ("私はCalderです", ["Calder"], f"私は{HOLE}です"),
        ("Caldera stays", ["Ruth Calder"], "Caldera stays"),
        (f"{HOLE} stays one", ["REDACTED"], f"{HOLE} stays one"),
        ("nothing here", ["Ruth Calder"], "nothing here"),
    ],
)
def test_forms_of_names(text, found, left):
    """What was found elsewhere goes here too, in the forms in which people write it."""
    texts = [" ".join(found), text]
    findings = {0: [Finding(Span(0, len(texts[0])), "n")]}
    swept = sweep(texts, findings, RULES, HOLES)

    assert cut(text, (), ("n",), swept).text == left


def test_what_a_cut_lays_bare_goes_too():
    """A name that stood inside a word stands alone once the other half is cut."""
    texts = ["AnnCalder", "Calder"]
    findings = {0: [Finding(Span(0, 3), "n")], 1: [Finding(Span(0, 6), "n")]}
    swept = sweep(texts, findings, RULES, HOLES)

    assert cut(texts[0], findings[0], ("n",), swept).text == HOLE


@pytest.mark.parametrize(
    "surface", ["the safe", "at noon", "5 mg", "a b c d e f", "5", ""]
)
def test_what_is_no_name_has_no_forms(surface):
    """Port Ellery must not take every port with it."""
    assert name_forms(surface) == ()


@pytest.mark.parametrize(
    ("identity", "hides"),
    [
        ("doc-17", False),
        ("file:///data/Ruth%20Calder.pdf", True),
        ("ruth_calder_3", True),
        ("RuthCalder3", True),
        ("ruthcalder.txt", True),
        ("notes/calder", True),
        ("caldera", True),
        ("scald", False),
    ],
)
def test_ids_in_disguise(identity, hides):
    """An id or a path that spells a name in any way is aliased, or left out."""
    texts = ["Ruth Calder"]
    swept = sweep(texts, {0: [Finding(Span(0, 11), "n")]}, RULES, HOLES)

    assert disguised(identity, ("n",), swept) is hides
    shown = public_id(identity, ("n",), swept, b"k" * 32)
    assert (shown != identity) is hides
    assert shown == public_id(identity, ("n",), swept, b"k" * 32)
    assert hides is (shown != public_id(identity, ("n",), swept, b"j" * 32))


@pytest.mark.parametrize(
    ("metadata", "left"),
    [
        ({"t": "by Ann"}, {"t": "by #"}),
        ({"t": ["Ann", {"k": "Ann"}]}, {"t": ["#", {"k": "#"}]}),
        ({"t": {"Ann": 1}}, {"t": {"#": 1}}),
        ({"t": 7, "u": 42}, {"t": 7}),
        ({"t": None, "u": True, "v": 1.5}, {"t": None, "u": True, "v": 1.5}),
        ({"t": "gone"}, {}),
        ({"t": ["x", "gone"], "u": "x"}, {"u": "x"}),
        ({"t": {"lc": 1, "type": "constructor"}}, {}),
        ({"t": [{"__lc_escaped__": {}}]}, {}),
        ({"t": b"Ann", "u": {1, 2}, "v": object()}, {}),
        ({"t": [[[[[["Ann"]]]]]]}, {}),
        ({"t": 10**5_000}, {}),
    ],
)
def test_metadata_that_leaves(metadata, left):
    """Every string at every depth is redacted; what cannot be judged stays behind."""

    def rewrite(value):
        return None if value in {"gone", "42"} else value.replace("Ann", "#")

    assert rewritten(metadata, rewrite) == left
