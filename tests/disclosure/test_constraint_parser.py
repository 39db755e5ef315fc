"""What a constraint is understood as, and whether it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.constraint_parser.words import table
from sdrag.disclosure.local.by_type import find_by_cue, find_by_type, find_sure
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Constraint, Passage

from ..support.tables import each_row, read_table

READ = read_table(__file__, "constraints.toml")
UNDERSTOOD_AS, TABLES = READ["understood_as"], READ["tables"]


def _parsed(text: str) -> ParsedConstraint:
    return parse(Constraint("c", text))


def _is_refused(parsed: ParsedConstraint, reason: str) -> bool:
    return parsed.status == "needs_model" and reason in parsed.reason


def _is_understood(parsed: ParsedConstraint) -> bool:
    return parsed.status == "understood"


IS: dict[str, Callable[[ParsedConstraint], object]] = {
    "all there is": lambda p: _is_understood(p) and p.kind == "everything",
    "an event, not all there is": lambda p: p.kind != "everything",
    "what may be disclosed": lambda p: (
        p.kind == "only" and _is_refused(p, "It says what may be disclosed")
    ),
    "another language": lambda p: _is_refused(p, "It is not in English."),
    "a slip of the pen": lambda p: _is_understood(p) and "is read as" in p.reason,
    "a name that looks like a slip": lambda p: _is_understood(p) and p.kind == "named",
    "an order and more than it": lambda p: _is_understood(p) and p.kind == "meaning",
    "a permission with a slip": (
        lambda p: p.kind == "only" and _is_refused(p, "It says what may be disclosed")
    ),
    "an order at the end": lambda p: _is_understood(p) and p.kind == "types",
    "a slip that may be of two words": lambda p: _is_refused(p, "is in no dictionary"),
    "nothing": lambda p: p.status == "needs_model",
    "terms of a trade": lambda p: _is_understood(p) and p.cues,
    "plain English": _is_understood,
    "a name": lambda p: _is_understood(p) and p.names,
    "a type, wherever it is written": lambda p: _is_understood(p) and p.kind == "types",
    "what a name is of": lambda p: (
        _is_understood(p) and p.kind == "named" and not p.types
    ),
    "more than what a name is of": lambda p: _is_understood(p) and p.types,
    "a word taken for a name": lambda p: (
        _is_understood(p) and p.names and "is taken for a name" in p.reason
    ),
    "a noun of another language": lambda p: (
        _is_refused(p, "is not English") or _is_refused(p, "in no dictionary")
    ),
    "a noun that may be a name": lambda p: _is_refused(p, "quotation marks"),
    "an exception": lambda p: (
        _is_understood(p) and p.asked and "may go too" in p.reason
    ),
    "no exception": lambda p: _is_understood(p) and not p.asked,
    "that nobody be recognised": lambda p: (
        _is_understood(p) and p.people and "is not promised" in p.reason
    ),
    "another text": lambda p: _is_refused(p, "refers to another text"),
    "a word that is not looked for": lambda p: (
        _is_understood(p) and p.reason.startswith("Word 6 is not looked for by itself.")
    ),
    "what is short": lambda p: p.kind == "meaning" and "short" in p.reason,
}


@each_row("name", UNDERSTOOD_AS)
def test_a_constraint_is_understood_as_what_it_says(name) -> None:
    """What is not understood has a reason, and needs a model."""
    wrong = [text for text in UNDERSTOOD_AS[name] if not IS[name](_parsed(text))]

    assert not wrong


@each_row("row", table("words")["language"])
def test_a_language_is_told_by_its_little_words(row) -> None:
    """And its constraints need a model."""
    assert _is_refused(_parsed(row["example"]), "It is not in English.")


def test_the_place_of_a_slip_is_said() -> None:
    """And which word of a policy is meant; the author's word is not quoted."""
    reason = _parsed("Remove the nmaes of witneses").reason

    names, witnesses = reason.split(". ")
    assert names == "Word 3 is read as \u201cnames\u201d"
    assert witnesses == "Word 5 is read as \u201cwitnesses\u201d."


@each_row("mark", ["'", '"'])
def test_what_is_quoted_is_neither_corrected_nor_spelt_out(mark) -> None:
    """It is meant as it is."""
    assert _parsed(f"Hide {mark}stdents pls nos{mark}").names == ("stdents pls nos",)


def test_what_a_subject_stands_for_is_said() -> None:
    """Whoever means more than it can say so."""
    for text in ("mails out pls", "Hide people", "ip away"):
        assert _parsed(text).reason.startswith("It is read as")


def test_what_names_types_asks_for_them() -> None:
    """By their plain names, by roles and by what a trade calls them."""
    wrong = [
        text
        for text, kind, types in TABLES["typed"]
        for parsed in [_parsed(text)]
        if (parsed.kind, parsed.status) != (kind, "understood")
        or not parsed.types.issuperset(types)
        or parsed.reason
    ]

    assert not wrong


def test_types_that_a_constraint_does_not_ask_for_stay() -> None:
    """What officers write asks for its types; no other counts wherever it is."""
    wrong = [
        text
        for text, asked, spared in TABLES["everywhere"]
        for parsed in [_parsed(text)]
        if not parsed.types.union(parsed.everywhere) >= {*asked.split()}
        or parsed.everywhere & {*spared.split()}
    ]

    assert not wrong


def test_an_exception_of_types_is_enforced() -> None:
    """A type that is excepted without further words is not asked for."""
    for text, hidden, kept in TABLES["excepted_types"]:
        parsed = _parsed(text)
        assert parsed.status == "understood"
        assert hidden in parsed.everywhere
        assert kept not in parsed.types | parsed.everywhere


@each_row(
    "text, places",
    [
        ("Remove e-mail addresses", False),
        ("Remove telephone numbers and E-Mail addresses", False),
        ("Hide IP addresses", False),
        ("Hide MAC addresses and wallet addresses", False),
        ("Remove addresses", True),
        ("Remove e-mail and home addresses", True),
        ("Remove e-mail addresses and addresses", True),
        ("Remove e-mail addresses of people and where they live", True),
    ],
)
def test_an_address_of_a_machine_is_no_place(text, places):
    """Unless the wording asks for places too."""
    types = parse(Constraint("c", text)).types

    assert ("LOCATION" in types) is places
    assert ("ADDRESS" in types) is places


@pytest.mark.parametrize("words", ["blue cardigan", "the east door", "banana"])
def test_words_in_quotation_marks_are_hidden_as_they_are_written(words) -> None:
    """Everyday words too, which without the marks are a meaning."""
    parsed = parse(Constraint("c1", f'Do not mention "{words}"'))

    assert (parsed.kind, parsed.names, parsed.status) == (
        "named",
        (words,),
        "understood",
    )


@pytest.mark.parametrize("term", ["subrogation", "IBAN", "BMI"])
def test_a_term_is_no_name(term) -> None:
    """What no list of names knows is not looked up as if it were somebody's."""
    parsed = _parsed(f"Withhold {term}")

    assert parsed.status == "understood"
    assert parsed.cues or parsed.types


@given(st.text(min_size=1).filter(str.strip))
def test_whatever_is_written_is_parsed(text) -> None:
    """No text raises, and the reason quotes nothing of what is not understood."""
    parsed = _parsed(text)

    assert (parsed.status == "understood") or parsed.reason


COMMON = [
    text
    for name in ("all there is", "what may be disclosed", "terms of a trade")
    for text in UNDERSTOOD_AS[name]
    if "-" not in text
]


@given(
    st.sampled_from(COMMON), st.integers(0, 60), st.sampled_from("\u200b\u00ad\u2060")
)
def test_what_cannot_be_seen_changes_nothing(text, place, invisible) -> None:
    """A zero-width character or a soft hyphen inside a word is no other word."""
    place = min(place, len(text))
    seen, hidden = _parsed(text), _parsed(f"{text[:place]}{invisible}{text[place:]}")

    assert (hidden.kind, hidden.types, hidden.cues) == (
        seen.kind,
        seen.types,
        seen.cues,
    )
    assert hidden.status == seen.status


@pytest.mark.parametrize("hyphen", "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
@each_row("text", ["Hide e-mails", "Hide the earn-out", "Mask MAC-IDs"])
def test_every_hyphen_is_one(text, hyphen) -> None:
    """Word processors write what looks like a hyphen."""
    plain, other = _parsed(text), _parsed(text.replace("-", hyphen))

    assert (other.kind, other.types, other.cues) == (
        plain.kind,
        plain.types,
        plain.cues,
    )


@each_row("text", COMMON)
def test_case_and_compatibility_forms_change_no_status(text) -> None:
    """Written wide, or folded already, it is the same constraint."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)

    assert unicodedata.normalize("NFKC", wide) == text
    assert _parsed(wide).status == _parsed(text).status
    assert _parsed(fold_text(text)).kind == _parsed(text).kind


@each_row("text, topics, everywhere", TABLES["subjects"])
def test_a_subject_is_what_the_longest_phrase_says(text, topics, everywhere) -> None:
    """Its types count beside its cues, but for those of a form of their own."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert {topic.name for topic in parsed.topics if topic.cues} == {*topics}
    if everywhere != "any":
        assert parsed.everywhere == {*everywhere}


@pytest.mark.parametrize(
    "text",
    [
        "Hide phone numbers and quirks of the twins",
        "Remove names and the colour of the door",
        "Hide dates and everything on the missing boat",
    ],
)
def test_a_list_that_goes_on_with_unknown_words_must_be_understood(text) -> None:
    """What no table knows in it is not dropped."""
    assert _parsed(text).meaning


@each_row("text, goes", TABLES["birth_dates"])
def test_a_birth_date_is_beside_a_word_of_birth_or_full(text, goes) -> None:
    """Other dates stay: a letter has a date, and so has a version."""
    (found,) = run(LocalDetector().detect([text]), PortRunner(Ports()))
    parsed = _parsed("Dates of birth of members")

    document = JoinedText.of([Passage("", text)])
    assert any(find_by_type(document, found.value, [parsed])) is goes


TEXT = (
    "He joined in 2015. He received a final written warning for sleeping on shift. He"
    " had been asleep twice. The canteen was painted."
)


def test_a_sentence_with_a_cue_goes_whole() -> None:
    """Which of its words is the secret nobody can tell."""
    parsed = _parsed("Do not disclose disciplinary records")

    gone = {finding.span.of(TEXT) for finding in find_by_cue(TEXT, [parsed])}

    assert "He received a final written warning for sleeping on shift." in gone
    assert "The canteen was painted." not in gone


def test_a_sentence_that_carries_on_goes_with_it() -> None:
    """A pronoun says that the same is spoken of."""
    text = "The biopsy was on Monday. It has spread. Rain fell on the harbour."
    parsed = _parsed("Do not reveal the prognosis")

    gone = [finding.span.of(text) for finding in find_by_cue(text, [parsed])]

    assert gone == ["The biopsy was on Monday.", "It has spread."]


@each_row(
    "text, goes",
    [
        ("The ballot is on Monday.", True),
        ("The union met.", False),
        ("The union was set for Monday.", False),
        ("The union will strike from Monday.", True),
        ("The dues, said the union, were paid.", True),
        ("The whole union of sets that were formed in that proof is due.", False),
    ],
)
def test_hints_tell_a_sentence_together(text, goes) -> None:
    """A frequent word alone takes nothing, nor do two far from one another."""
    assert bool(list(find_by_cue(text, [_parsed("Trade union membership")]))) is goes


@each_row(
    "topic, text, word",
    [
        ("Trade union membership", "She is an NASUWT rep since May.", "nasuwt"),
        ("Trade union membership", "He was expelled from the union.", "union"),
        ("Trade union membership", "The UCU card in his wallet expired.", "ucu"),
        ("Trade union membership", "Lina joined the Teamsters.", "teamsters"),
        ("Trade union membership", "She is a shop steward.", "steward"),
        ("Trade union membership", "His union wrote to us.", "union"),
        ("Trade union membership", "They stood on the picket line.", "picket"),
        ("Trade union membership", "She is a member of Unison.", "unison"),
        ("Religion", "He asked for time off for Eid.", "eid"),
        ("Political party membership", "She stood for the Greens.", "greens"),
        ("Trade union membership", "The union of two sets is a set.", ""),
        ("Trade union membership", "Credit union opening hours are short.", ""),
        ("Trade union membership", "European Union member states agreed.", ""),
        ("Trade union membership", "They sang in unison.", ""),
        ("Trade union membership", "The steward served coffee.", ""),
        ("Trade union membership", "A rep from the supplier came.", ""),
        ("Political party membership", "The birthday party card is green.", ""),
    ],
)
def test_some_phrases_tell_a_topic_in_any_text(topic, text, word):
    """They go undecided, and nothing else of their sentence does."""
    gone = [each.span.of(text).lower() for each in find_sure(text, [_parsed(topic)])]

    assert bool(gone) is bool(word)
    assert all(word in phrase for phrase in gone)


def test_without_cues_nothing_is_cued() -> None:
    """A constraint that types tell whole takes no sentence."""
    assert not list(find_by_cue(TEXT, [_parsed("Remove names of witnesses")]))
