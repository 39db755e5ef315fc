"""What a constraint is understood as, and whether it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_type import find_by_cue, find_by_type
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Constraint

from ..support.tables import each_row

UNDERSTOOD_AS = {
    "all there is": [
        "Nothing may be disclosed",
        "No information may leave the company",
        "Redact the document in its entirety",
        "Refuse to disclose any content of these files",
    ],
    "an event, not all there is": [
        "Nobody in the press may learn of the strike",
        "Keep the strike secret",
        "Do not speak of her leave",
    ],
    "what may be disclosed": [
        "Only the verdict may be disclosed",
        "Nothing other than the verdict may be released",
        "Nobody needs to redact the dates",
        "Addresses are public and should be shown",
    ],
    "another language": [
        "Supprimer les noms des témoins",
        "Usuń nazwiska świadków",
        "隐藏证人的姓名",
    ],
    "a slip of the pen": [
        "Remove the nmaes of witneses",
        "Hide phnoe numbers",
        "Remove DOBz",
    ],
    "nothing": [
        "...",
        "banana",
        "Colourless green ideas sleep furiously",
        "Withhold the frobnication",
        "Zyltrix Quomb",
        "Entferne Zeugen",
    ],
    "terms of a trade": [
        "Withhold matters under seal",
        "Protect informants and sources",
        "Witness statements are confidential",
        "Do not disclose substance use treatment",
        "Withhold indicators of compromise",
        "Do not reveal intelligence sources and methods",
        "Withhold board discussions",
    ],
    "plain English": [
        "It must remain private why the chief judge gave up his office",
        "Ratings are to be taken out",
        "Nobody may learn that Meyers has diabetes",
        "The parties to the dispute must be unrecognisable by name",
        "Do not reveal who reported the fire",
        "Complainant's identity must be protected",
        "Hide how the insider was identified",
        "Withhold the annex to the contract on prices",
        "Do not reveal the terms agreed with the union",
        "Hide phone numbers as set out in the policy",
        "Names of agents, not only those of tenants, must go",
    ],
    "a name": [
        "Remove Jonathan Meyers",
        "Meyers must stay out of it",
        'Remove "Quintrell"',
        "Do not mention the name Quintrell",
        "Keep Mrs Quintrell out of it",
        "Remove Ann",
        "Hide a person called Quintrell",
        "Do not mention the codename Zorblax",
        "Redact everything about Jonathan Meyers",
        'Remove "Quintrell" from everything',
        "The Duchess of Quintrell must never be mentioned",
    ],
    "a word taken for a name": [
        "Do not mention Karlsson",
        "Redact Vlorp and Snarfle",
        "Never mention Çelik in any answer",
        "Do not disclose anything about Hrvoje Kovačić",
        "Do not reveal who Karlsson is",
    ],
    "a noun of another language": [
        "Hide Anschriften",
        "Remove Namen",
        "Keep the Sueldo of the manager secret",
        "Remove Nazwiska",
        "Redact the Gehälter",
    ],
    "a noun that may be a name": [
        "Hide Wohngeldstelle",
        "Remove Verurteilungen",
        "Do not mention Annex B",
        "Remove Mitarbeitergehalt",
    ],
    "an exception": [
        "Remove names of tenants, but keep those of agents",
        "Mask addresses, other than those of the court",
        "Remove names with the exception of officials",
        "Hide all e-mail addresses; those of the press office may stay",
    ],
    "that nobody be recognised": [
        "No one may guess who Source B is",
        "No one should be able to infer whose sample it was",
        "Nobody may put two and two together about who Source B is",
    ],
    "another text": [
        "See annex B of the contract",
        "Remove what the data protection officer listed",
        "Anything marked yellow",
        "As discussed",
    ],
    "a word that is not looked for": [
        "Do not explain how the Zorblax works",
    ],
    "what is short": [
        "Hide the risk appetite",
        "Conceal the beds",
    ],
}


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
    "a slip of the pen": lambda p: _is_refused(p, "is in no dictionary"),
    "nothing": lambda p: p.status == "needs_model",
    "terms of a trade": lambda p: _is_understood(p) and p.cues,
    "plain English": _is_understood,
    "a name": lambda p: _is_understood(p) and p.names,
    "a word taken for a name": lambda p: (
        _is_understood(p) and p.names and "is taken for a name" in p.reason
    ),
    "a noun of another language": lambda p: (
        _is_refused(p, "is not English") or _is_refused(p, "in no dictionary")
    ),
    "a noun that may be a name": lambda p: _is_refused(p, "quotation marks"),
    "an exception": lambda p: _is_refused(p, "Leave it out"),
    "that nobody be recognised": lambda p: _is_refused(p, "who somebody is"),
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


def test_the_place_of_a_slip_is_said() -> None:
    """And the word is not quoted."""
    reason = _parsed("Remove the nmaes of witneses").reason

    assert reason == "Word 3 is in no dictionary."


TYPED = [
    ("Remove names of suspects and what they are accused of", "meaning", {"PERSON"}),
    (
        "Hide the names of informants and anything about their families",
        "meaning",
        {"PERSON"},
    ),
    ("Do not say who complained by name or what the charge was", "meaning", {"PERSON"}),
    ("Remove names of tenants and their landlords", "people", {"PERSON"}),
    ("Remove names of witnesses", "people", {"PERSON"}),
    ("Hide dates of birth", "types", {"DATE"}),
    ("Hide the exact doses of medicine", "types", {"DOSE"}),
    ("Suppress private telephone numbers", "types", {"PHONE_NUMBER"}),
    ("Conceal e‑mail addresses", "types", {"EMAIL_ADDRESS"}),
    ("Mask card numbers", "types", {"CREDIT_CARD"}),
    ("Mask NHS numbers", "types", {"CODE"}),
    ("Do not disclose the quantum of damages", "types", {"MONEY"}),
    ("Do not disclose the date of knowledge", "types", {"DATE"}),
    ("Complainant's identity must be protected", "people", {"PERSON"}),
    ("Strip all HIPAA identifiers", "people", {"DATE", "PERSON", "CODE"}),
    ("Data subjects must not be identifiable", "people", {"PERSON"}),
    ("Remove home addresses of staff", "types", {"ADDRESS"}),
    ("Remove usernames and social media handles", "people", {"USERNAME"}),
]
EVERYWHERE = [
    ("Dates of birth of patients must not be disclosed", "BIRTH_DATE", "DATE PERSON"),
    ("Hide admission and discharge dates", "DATE", "PERSON TIME"),
    ("Hide the statements of jurors", "", "USERNAME MONEY"),
    ("Hide the nationality and residence status of clients", "NATIONALITY", "ADDRESS"),
    ("Do not disclose customers' credit card numbers", "CREDIT_CARD", "IBAN_CODE"),
    ("Hide identification numbers", "CODE US_SSN", "PERSON DATE"),
    ("Hide identity card numbers and identity documents", "CODE", "PERSON"),
    ("Device identifiers and serial numbers", "CODE", "PERSON"),
    ("Hide organisations and places", "ORGANIZATION LOCATION", "PERSON DATE"),
    ("Hide account numbers of customers", "IBAN_CODE CODE", "PERSON MONEY"),
    ("Do not reveal the reasons for dismissals", "DATE", "MONEY"),
    ("Do not disclose which server holds the backups", "LOCATION", "PHONE_NUMBER"),
    ("Do not disclose delivery times of cash", "TIME", "MONEY"),
    ("Hide IP addresses and host names", "IP_ADDRESS DOMAIN_NAME", "PERSON ADDRESS"),
    ("Never reveal a patient's HIV status", "CONDITION", "PERSON DATE"),
]
EXCEPTED_TYPES = [
    ("Hide contact details except e-mail addresses", "PHONE_NUMBER", "EMAIL_ADDRESS"),
    ("Mask personal data, but not dates", "PERSON", "DATE"),
    ("Remove personal information apart from ages", "PERSON", "AGE"),
]


def test_what_names_types_asks_for_them() -> None:
    """By their plain names, by roles and by what a trade calls them."""
    wrong = [
        text
        for text, kind, types in TYPED
        for parsed in [_parsed(text)]
        if (parsed.kind, parsed.status) != (kind, "understood")
        or not types <= parsed.types
        or parsed.reason
    ]

    assert not wrong


def test_types_that_a_constraint_does_not_ask_for_stay() -> None:
    """What officers write asks for its types; no other counts wherever it is."""
    wrong = [
        text
        for text, asked, spared in EVERYWHERE
        for parsed in [_parsed(text)]
        if not parsed.types.union(parsed.everywhere) >= {*asked.split()}
        or parsed.everywhere & {*spared.split()}
    ]

    assert not wrong


def test_an_exception_of_types_is_enforced() -> None:
    """A type that is excepted without further words is not asked for."""
    for text, hidden, kept in EXCEPTED_TYPES:
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


@settings(deadline=None)
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


SUBJECTS = [
    # The longest phrase wins.
    ("Accounts of the accident", {"evidence"}, set()),
    ("Mail addresses", set(), {"EMAIL_ADDRESS"}),
    ("Hide fertility treatment", {"pregnancy"}, set()),
    ("Medication errors", {"medical errors"}, set()),
    ("Source code", {"intellectual property", "trade secrets"}, set()),
    ("Results of pregnancy tests", {"results"}, set()),
    ("Personality test results", {"appraisals"}, set()),
    # The audience, the occasion and the grounds are no topic.
    ("Nobody in the press may learn of the strike", {"union"}, set()),
    ("Parents must not learn of detentions", {"pupil behaviour"}, set()),
    ("Keep salaries from the union", set(), {"AMOUNT", "MONEY"}),
    ("Rotas must not be given to patients or their families", {"rosters"}, set()),
    ("Complaints must not reach anyone outside the hospital", {"grievances"}, set()),
    ("Do not inform the police of asylum claims", {"immigration"}, {"CODE"}),
    # What has a form of its own counts everywhere, the rest beside a cue.
    ("Hide passwords", {"secrets"}, {"CREDENTIAL", "CODE"}),
    ("Hide phone numbers", set(), {"PHONE_NUMBER"}),
    ("Dates of birth of members", set(), {"BIRTH_DATE"}),
    ("Redact next of kin", {"next of kin"}, {"EMAIL_ADDRESS", "PHONE_NUMBER"}),
    ("Merger talks with competitors", {"deals"}, {"AMOUNT", "MONEY"}),
    ("Patients' names and ward numbers", set(), None),
    # Concepts of written policies.
    ("Free school meals", {"school meals"}, set()),
    ("Overtime and hours worked", {"working time"}, set()),
    ("Restraint and seclusion of patients", {"mental health"}, set()),
    ("Quality defects and recalls", {"quality and recalls"}, {"CODE"}),
    ("Location of the shelter", {"places to hide"}, set()),
    ("Travel plans of executives", {"travel plans"}, set()),
]


@each_row("text, topics, everywhere", SUBJECTS)
def test_a_subject_is_what_the_longest_phrase_says(text, topics, everywhere) -> None:
    """Its types count beside its cues, but for those of a form of their own."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert {topic.name for topic in parsed.topics if topic.cues} == topics
    if everywhere is not None:
        assert parsed.everywhere == everywhere


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


BIRTH_DATES = [
    ("She was born on 9 March in Leeds.", True),
    ("DOB: 1/2/56", True),
    ("Miriam Castellane (09.03.1984) applied.", True),
    ("Her birthday is in June.", True),
    ("The applicant, 3 May 1951, lives in Hull.", True),
    ("Tom, born 14 June 2021, cried.", True),
    ("Year of birth: 1990", True),
    ("She wrote on 3 May 2024.", False),
    ("He joined in 2015.", False),
    ("The letter of 12 March was late.", False),
    ("Come on Tuesday.", False),
    ("The ward closed in May 2019.", False),
    ("Version of 2023-04-05", False),
]


@each_row("text, goes", BIRTH_DATES)
def test_a_birth_date_is_beside_a_word_of_birth_or_full(text, goes) -> None:
    """Other dates stay: a letter has a date, and so has a version."""
    (found,) = run(LocalDetector().detect([text]), PortRunner(Ports()))
    parsed = _parsed("Dates of birth of members")

    assert any(find_by_type(text, found.value, [parsed])) is goes


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


def test_without_cues_nothing_is_cued() -> None:
    """A constraint that types tell whole takes no sentence."""
    assert not list(find_by_cue(TEXT, [_parsed("Remove names of witnesses")]))
