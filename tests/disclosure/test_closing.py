"""What was located is gone: from text, metadata and id, once and for all."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.cut import cut
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.disclosure.propagation import find_disguised, find_forms, lasts, propagate
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.state.keys import Keys
from sdrag.state.register import Register
from sdrag.text.folding import fold, is_boundary
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.vocabulary import Constraint, Finding, Passage, Span

from ..support.scripted import Scripted, locate_by
from ..support.tables import each_row

HOLE = "[REDACTED]"
HOLES = PlaceholderStyle.of((), DisclosureSection(placeholders="plain"))
RULES = {
    "n": Constraint("n", "Remove names of witnesses"),
    "d": Constraint("d", "Hide doses"),
}
KEYS = {"n": b"n" * 8, "d": b"d" * 8}
NAMES = {key: name for name, key in KEYS.items()}
HASHES = Keys(b"k" * 32).of_document(b"d" * 8)
WORDS = st.sampled_from(
    ["Ann", "Lee", "annlee", "ANN", "A\u200bnn", "ß", "ss", "5", "mg", HOLE, "REDACTED",
     "山田", "\n", "-", "_", "Leeds", "\u0301", ","]
)  # fmt: skip
TEXTS = st.lists(
    st.tuples(WORDS, st.sampled_from(["", " ", "\u200b"])), min_size=1, max_size=12
).map(lambda pairs: "".join(word + gap for word, gap in pairs))
APPLIED = st.sampled_from([("n", "d"), ("n",), ("d",)])


@st.composite
def cases(draw):
    texts = draw(st.lists(TEXTS, min_size=1, max_size=3))
    findings = []
    for text in texts:
        places = st.integers(0, len(text))
        pairs = draw(st.lists(st.tuples(places, places), max_size=3))
        findings.append(
            [
                Finding(Span(min(p), max(p)), draw(st.sampled_from("nd")), "model")
                for p in pairs
                if p[0] != p[1]
            ]
        )
    return texts, findings


def by_rule(findings):
    own = {}
    for finding in findings:
        own.setdefault(KEYS[finding.constraint_id], []).append(finding)
    return own


def registered(texts, findings):
    """Return the register of a document of these texts."""
    forms = {}
    for text, found in zip(texts, findings, strict=True):
        told = [each for each in found if not in_a_hole(text, each.span)]
        for rule, own in by_rule(told).items():
            for form in find_forms(text, own, RULES[NAMES[rule]], HASHES):
                forms.setdefault(form, set()).add(rule)
    return Register(forms, HASHES)


def in_a_hole(text, span):
    """Say whether a span lies within a placeholder that stands in a text."""
    holes = (Span(*match.span()) for match in re.finditer(re.escape(HOLE), text))
    return any(hole.contains(span) for hole in holes)


def closed(text, found, register):
    spans = {rule: [f.span for f in own] for rule, own in by_rule(found).items()}
    return propagate(text, spans, register)


def taken(text, found, register):
    return {
        span: frozenset(map(NAMES.__getitem__, rules))
        for span, rules in closed(text, found, register).items()
    }


def cut_of(text, found, register, applied=("n", "d")):
    return cut(text, taken(text, found, register), applied, HOLES).apply(text)


@given(cases(), APPLIED)
def test_no_located_form_remains_in_any_text(case, applied):
    """Whatever was found anywhere stands nowhere, whichever constraints hold."""
    texts, findings = case
    register = registered(texts, findings)
    located = [
        finding.span.of(text)
        for text, found in zip(texts, findings, strict=True)
        for finding in found
        if finding.constraint_id in applied and not in_a_hole(text, finding.span)
    ]
    for text, found in zip(texts, findings, strict=True):
        made = cut_of(text, found, register, applied)
        rest = fold(made.text.replace(HOLE, "\u25a1"))
        for surface in located:
            if lasts(surface) and any(map(str.isalnum, surface)):
                assert not PhraseMatcher([surface]).occur(rest), surface


@given(cases(), APPLIED)
def test_placeholders_never_nest(case, applied):
    """What touches one takes all of it along, and none is left in pieces."""
    texts, findings = case
    register = registered(texts, findings)
    for text, found in zip(texts, findings, strict=True):
        made = cut_of(text, found, register, applied)
        assert made.text.count("[[") <= text.count("[[")
        assert made.text.count("[") == made.text.count(HOLE)
        assert made.text.count(HOLE) <= text.count(HOLE) + made.spans


@given(cases())
def test_spans_are_whole_words(case):
    """So cutting needs no thought: no cut leaves half a word."""
    texts, findings = case
    register = registered(texts, findings)
    for text, found in zip(texts, findings, strict=True):
        spans = closed(text, found, register)
        edges = {edge for span in spans for edge in (span.start, span.end)}
        assert all(is_boundary(text, edge) for edge in edges)


@given(cases())
def test_a_register_that_has_grown_takes_no_less(case):
    """In whatever order a document's chunks came, what was cut stays cut."""
    texts, findings = case
    before = registered(texts[:1], findings[:1])
    after = registered(texts, findings)
    for text, found in zip(texts, findings, strict=True):
        late = closed(text, found, after)
        for span, rules in closed(text, found, before).items():
            assert rules <= late[span]


@given(cases(), APPLIED)
def test_more_constraints_show_no_more(case, applied):
    """Nothing that one constraint takes alone is shown beside another."""
    texts, findings = case
    register = registered(texts, findings)
    for text, found in zip(texts, findings, strict=True):
        shown = cut_of(text, found, register).text.split(HOLE)
        alone = cut_of(text, found, register, applied).text.split(HOLE)
        assert all(any(piece in whole for whole in alone) for piece in shown)


@each_row("joined", ["", "\u200b", "\u00ad", "\u2060"])
def test_what_a_cut_lays_bare_goes_too(joined):
    """A name that stood inside a word goes with the word of which half is cut."""
    texts = [f"Ann{joined}Calder", "Calder"]
    findings = [[Finding(Span(0, 3), "n")], [Finding(Span(0, 6), "n")]]
    register = registered(texts, findings)

    assert "Calder" not in cut_of(texts[0], findings[0], register).text


SENTENCE = "He hid the small lamp under his coat."
LAMP = Span(SENTENCE.index("lamp"), SENTENCE.index("lamp") + 4)


@each_row(
    "text, hides",
    [
        (SENTENCE, True),
        (f"Before that. {SENTENCE} After that.", True),
        ("the small lamp", True),
        ("lamp under his coat.", True),
        ("THE SMALL LAMP UNDER", True),
        ("lamp", True),
        ("A lamp stood on the desk.", False),
        ("the small dog under", False),
    ],
)
def test_a_word_hidden_for_what_it_means_there(text, hides):
    """It is known again by the words beside it, however its sentence is split."""
    register = registered([SENTENCE], [[Finding(LAMP, "d", "scored")]])

    made = cut_of(text, [], register)

    assert (HOLE in made.text) is hides


DISGUISES = [
    ("doc-17", False),
    ("Ruth Calder", True),
    ("file:///data/Ruth%20Calder.pdf", True),
    ("ruth_calder_3", True),
    ("RuthCalder3", True),
    ("ruthcalder.txt", True),
    ("notes/calder", True),
    ("CALDER-2024", True),
    ("caldera", True),
    ("scald", False),
]


@each_row("words, hides", [("xy" * 3_000, True), ("xy " * 3_000, False)])
def test_a_run_that_is_too_long_to_search_is_not_shown(words, hides):
    """Else a title could hold up every question."""
    register = registered(["Ruth Calder"], [[Finding(Span(0, 11), "n")]])

    assert bool(find_disguised(words, {}, register)) is hides


@each_row("identity, hides", DISGUISES)
def test_ids_and_values_in_disguise(identity, hides, tmp_path):
    """An id gets an alias, the same for one state; a value is not shown."""
    passage = Passage(identity, "Ruth Calder came.", {"path": identity}, None, "d")
    policy = {
        "constraints": [{"id": "n", "text": RULES["n"].text}],
        "metadata": {"allow": ["path"]},
    }

    def released(state):
        engine = locate_by(Engine(policy, state=state), "Ruth Calder")
        (one,) = run(disclose([passage], Request("?"), engine), Scripted()).passages
        return one

    first, again, other = (
        released(state) for state in (tmp_path / "a", tmp_path / "a", open_state())
    )

    assert first.text == "[person] came."
    assert (first.id != identity) is hides
    assert first.id == again.id
    assert (first.id != other.id) is hides
    assert "calder" not in str(dict(first.metadata)).lower() or not hides
    assert ("path" in first.metadata) or hides


def test_a_long_form_goes_again_in_parts():
    """What a model quoted, pages of it, is known again in a longer text."""
    said = " ".join(f"word{number}" for number in range(300))
    text = f"Before it. {said}. After it."
    register = registered([said], [[Finding(Span(0, len(said)), "n", "model")]])

    made = cut_of(text, [], register)

    assert made.text == f"Before it. {HOLE}. After it."
