"""What a finding in one text of a document takes in another one."""

from __future__ import annotations

from sdrag.disclosure.propagation import find_disguised, find_forms, lasts, propagate
from sdrag.state.keys import Keys
from sdrag.state.register import Register
from sdrag.text.spans import merge, splice
from sdrag.vocabulary import Constraint, Finding, Span

from ..support.tables import each_row

KEYS = Keys(b"k" * 32).of_document(b"d" * 8)
NAMES, SUMS, WHY = "Remove names of people", "Hide sums of money", "Conceal why he left"
RULE, OTHER = b"rule" * 4, b"else" * 4


def know(told, words, type_="", reason="local", rule=NAMES):
    """Return the register of a document in a text of which words were found."""
    start = told.index(words)
    span = Span(start, start + len(words))
    finding = Finding(span, "c", reason, type=type_)
    forms = find_forms(told, [finding], Constraint("c", rule), KEYS)
    return Register({form: frozenset({RULE}) for form in forms}, KEYS)


def take(register, text, spans=()):
    taken = propagate(text, {OTHER: spans} if spans else {}, register)
    return splice(text, merge(taken), lambda _: "_"), frozenset().union(*taken.values())


ANNA, SHE = "It was Anna Maria Karlsson.", "She had the red sickness."
ROWS = [
    # a name, and its parts where the constraint speaks of people
    ((ANNA, "Anna Maria Karlsson", "PERSON"), "Karlsson saw KARLSSON.", "_ saw _."),
    ((ANNA, "Anna Maria Karlsson", "PERSON"), "Then Anna left.", "Then _ left."),
    ((ANNA, "Anna Maria Karlsson", "PERSON"), "Karlssons came.", "_ came."),
    ((ANNA, "Anna Maria Karlsson", "PERSON"), "The car was hers.", None),
    ((ANNA, "Anna Maria Karlsson", "", "named", SUMS), "Then Karlsson left.", None),
    (
        (ANNA, "Anna Maria Karlsson", "", "local", "Who came?"),
        "Karlsson left.",
        "_ left.",
    ),
    # of an organisation, no everyday word
    (("At Port Ellery.", "Port Ellery", "ORGANIZATION"), "The port, Port.", None),
    (("At Port Ellery.", "Port Ellery", "ORGANIZATION"), "To Ellery now.", "To _ now."),
    (
        ("At Port Ellery.", "Port Ellery", "LOCATION", "local", SUMS),
        "To Ellery now.",
        None,
    ),
    (("Mr White came.", "White", "PERSON"), "He wore a white coat.", None),
    (("Mr White came.", "White", "PERSON"), "Then White left.", "Then _ left."),
    (
        (ANNA, "Anna Maria Karlsson", "", "local", "Hide surnames"),
        "To Karlsson.",
        "To _.",
    ),
    # figures and codes
    (("It is KX-4471 now.", "KX-4471", "CODE"), "Call kx4471.", "Call _."),
    (("He got 500.", "500", "MONEY", "local", SUMS), "500 of them", "_ of them"),
    (("He got 12.", "12", "MONEY", "local", SUMS), "12 of them", None),
    (("He was of it.", "of", "", "local", SUMS), "of them", None),
    (("In May 1971.", "May 1971", "DATE", "local", "Hide dates"), "May 1971", "_"),
    (("In May 1971.", "May 1971", "DATE", "local", "Hide dates"), "By May.", None),
    (("In May 1971.", "May 1971", "DATE", "local", "Hide dates"), "In May.", "In _."),
    # what was found for its meaning goes beside the same words
    ((SHE, "sickness", "", "scored", WHY), "the red sickness.", "the red _."),
    ((SHE, "sickness", "", "scored", WHY), "a sickness of sheep", None),
    (
        ("Sickness", "Sickness", "", "scored", WHY),
        "a sickness of sheep",
        "a _ of sheep",
    ),
]


@each_row("found, text, left", ROWS)
def test_what_was_found_in_one_text_goes_in_another(found, text, left):
    """In each form that is its own, whole words, for the rules that took it."""
    assert take(know(*found), text) == (left or text, {RULE} if left else set())


def test_what_is_taken_is_cut_to_words_and_cells():
    """A label stays, and another constraint takes what was found here."""
    register = know(ANNA, "Anna Maria Karlsson", "PERSON")

    assert take(register, '{"surname": "Karlsson"}')[0] == '{"surname": "_"}'
    assert take(register, "surname: x", (Span(0, 7),))[0] == "surname: x"
    assert take(register, "the Karlsson-led", (Span(1, 2),)) == (
        "_ _-led",
        {RULE, OTHER},
    )
    assert take(Register({}, KEYS), "the end", (Span(1, 2),)) == ("_ end", {OTHER})
    assert propagate("Karlsson left.", {OTHER: [Span(0, 8)]}, register) == {
        Span(0, 8): {RULE, OTHER}
    }


@each_row(
    "text, holds",
    [
        ("https://a.example/Anna%20Karlsson", True),
        ("notes_annakarlsson_7.pdf", True),
        ("noteK a r l s s o nbook", True),
        ("karlsson", True),
        ("xannakarl_ssonx" + " of it" * 100, True),
        ("is xkarl ssonx in", True),
        ("carlson", False),
        ("x" * 5_001, True),
        ("x" * 4_999, False),
        ("", False),
    ],
)
def test_a_form_in_disguise_is_known(text, holds):
    """In paths, addresses and ids; what is too long to search counts as holding one."""
    register = know(ANNA, "Anna Maria Karlsson", "PERSON")

    assert find_disguised(text, {}, register) == ({RULE} if holds else set())
    assert not find_disguised(text, {}, Register({}, KEYS))


def test_what_is_cut_out_holds_nothing_any_more():
    """Of the rule that cuts it; what another one cuts is still there."""
    register, text = know(ANNA, "Anna Maria Karlsson", "PERSON"), "see Karlsson twice"

    for rule, holds in ((RULE, set()), (OTHER, {RULE})):
        assert find_disguised(text, {Span(4, 12): frozenset({rule})}, register) == holds


def test_what_says_little_by_itself_stays_where_it_is_said_again():
    """A short number and a word of the commonest; a name does not."""
    assert all(map(lasts, ["harbour", "123", "Karlsson", "KX-4471", "kestrel"]))
    assert not any(map(lasts, ["of", "OF", "12", " 12 "]))
