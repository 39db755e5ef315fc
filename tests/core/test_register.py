"""What is known again, under keys that tell nothing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sdrag.state.keys import Keys
from sdrag.state.register import Register, make_forms, make_word
from sdrag.text.folding import fold
from sdrag.vocabulary import Constraint

from ..support.tables import each_row

KEYS = Keys(b"k" * 32)
RULES = [bytes([n]) * 8 for n in range(4)]
PARTS = st.lists(st.text(max_size=4), max_size=4)
DOCUMENT = KEYS.document(None, "d")


@given(PARTS, PARTS)
def test_equal_where_all_parts_are(left, right):
    """Two parts are not their concatenation, and another state has other keys."""
    assert (KEYS.of(*left) == KEYS.of(*right)) is (left == right)
    assert KEYS.of(*left) != Keys(b"j" * 32).of(*left)


def test_what_is_known_by_one_key_and_what_is_not():
    """A mark is its state's, a document its tenant's, a rule what it asks."""
    other = KEYS.document(None, "e")
    rule, foreign = Constraint("names", "Hide names"), Keys(b"j" * 32)
    released = None, "policy", ["x"]

    assert KEYS.mark_release(*released) != foreign.mark_release(*released)
    assert KEYS.release("policy", "x") != foreign.release("policy", "x")
    assert len({KEYS.document(tenant, "d") for tenant in (None, "", "a", "b")}) == 4
    assert KEYS.text(DOCUMENT, "text", "x").startswith(DOCUMENT)
    assert KEYS.text(DOCUMENT, "text", "x") != KEYS.text(DOCUMENT, "leaf", "x")
    assert KEYS.text(DOCUMENT, "text", "x")[8:] != KEYS.text(other, "text", "x")[8:]
    assert KEYS.rule(rule) == KEYS.rule(replace(rule, id="other"))
    assert KEYS.rule(rule) != KEYS.rule(replace(rule, text="Hide all names"))
    assert KEYS.rule(rule) != KEYS.rule(replace(rule, sensitivity="high"))


def forms_of(*surfaces, rule=RULES[0], keys=KEYS, document=DOCUMENT):
    """Return what is to be known again of some surface forms."""
    own = keys.of_document(document)
    return {one: {rule} for said in surfaces for one in make_forms(said, own)}


def register_of(*surfaces):
    return Register(forms_of(*surfaces), KEYS.of_document(DOCUMENT))


WORDS = st.sampled_from(["Ann", "Lee", "O.F.", "山田", "Müller", "555-0142", "o'neil"])


@each_row(
    "form, text, places",
    [
        ("Ann Lee", "ANN-LEE, ann_lee, AnnLee, Ann  Lee", 4),
        ("Ann Lee", "An nlee", 1),
        ("Meyers", "Mey\u200bers", 1),
        ("Meyers", "Meyersdorf", 0),
        ("王小明", "我是王小明吗", 1),
        ("Crane", "crane, CRANE", 2),
        ("Crane", "cra ne", 0),
        ("Li", "Li met li and LI", 1),
        ("O.F.", "O.F. came OF age", 1),
        ("$5", "$5, 5 and $500", 1),
        ("C++", "C++ and C", 1),
        ("-5", "5 of 5", 0),
        ("1984-05-03", "1984.05.03 or 19840503", 2),
    ],
)
def test_a_form_is_known_by_its_words(form, text, places):
    """Whatever separates a long one; a short one by as many words, in its case."""
    assert len(list(register_of(form).find([fold(text)]))) == places


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=3))
def test_more_forms_find_no_less(some, more):
    """Rows are only added, so what was found stays found."""
    text = [fold(" and ".join((*some, *more)))]

    less = {span for _, span in register_of(*some).find(text)}

    assert less
    assert less <= {span for _, span in register_of(*some, *more).find(text)}


def test_a_hidden_word_is_known_between_the_same_words():
    """A common word that was hidden for what it means is harmless elsewhere."""
    keys, words = KEYS.of_document(DOCUMENT), ["by", "the", "lamp", "he", "sat"]
    register = Register({make_word(words, 2, keys): {RULES[0]}}, keys)
    texts = ("By the lamp, he sat.", "The Lamp. He", "the lamp was", "a lamp he")

    assert [len(list(register.find([fold(text)]))) for text in texts] == [1, 1, 0, 0]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.data())
def test_a_hidden_word_is_known_in_each_part_of_its_text(words, data):
    """As far as the part has the words beside it, at its edges too."""
    keys = KEYS.of_document(DOCUMENT)
    places = range(len(words))
    register = Register({make_word(words, i, keys): {RULES[0]} for i in places}, keys)
    first, last = sorted(data.draw(st.tuples(*[st.sampled_from(places)] * 2)))
    part = words[first : last + 1]

    found = {span for _, span in register.find([fold(" ".join(part))])}

    assert len(found) == len(part)


def test_it_says_nothing_without_its_key():
    """Neither to whoever hashes with another one, nor of another document."""
    forms = forms_of("Karlsson")
    text = [fold("Anna Karlsson left")]

    assert list(Register(forms, KEYS.of_document(DOCUMENT)).find(text))
    for keys in (
        Keys(b"j" * 32).of_document(DOCUMENT),
        KEYS.of_document(KEYS.document("tenant", "d")),
    ):
        assert not list(Register(forms, keys).find(text))
    assert "arlsson" not in repr((forms, register_of("Karlsson")))
