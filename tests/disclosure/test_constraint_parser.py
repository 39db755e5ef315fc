"""What a constraint is understood as, and whether it is."""

from __future__ import annotations

import unicodedata

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

BLANKET = [
    "Nothing may be disclosed",
    "Withhold the whole document",
    "Withhold this record in full",
    "Do not release any part of this",
    "Keep everything confidential",
    "No information may leave",
    "No information may leave the company",
    "Everything in here is strictly confidential",
    "Not a word of this may get out",
    "Redact the document in its entirety",
    "Do not share this with anyone",
    "The entire file is classified",
    "Refuse to disclose any content of these files",
    "All contents are secret",
    "Under no circumstances may any information be given to third parties",
    "Full redaction required",
    "Complete confidentiality applies to the whole file",
    "Don't let anyone see this file",
    "Withhold the lot",
    "The whole case is sealed",
    "Nothing in this case may be published",
]
EVENTS = [
    "Nobody in the press may learn of the strike",
    "No one outside may hear of the cuts",
    "Do not mention the leak to anyone",
    "Nothing about the exit may be said",
    "Say nothing of the escape",
    "Nobody may know of the blackout",
    "Keep the strike secret",
    "Do not disclose the seal",
    "Not a word about the refusal may get out",
    "Do not speak of her leave",
]
ALLOWING = [
    "Only the verdict may be disclosed",
    "Disclose nothing but the outcome",
    "Everything except the outcome is confidential",
    "All but the date must be removed",
    "Nothing other than the verdict may be released",
    "Do not withhold names",
    "Never redact the judge's name",
    "Names need not be masked",
    "Nobody needs to redact the dates",
    "There is no need to hide the price",
    "There is nothing to hide here",
    "Withhold nothing",
    "Names may be shared",
    "Keep the dates, remove the rest",
    "Dates can stay; everything else goes",
    "Release only the summary",
    "Show the dates of birth only",
    "You may disclose the diagnosis",
    "Feel free to mention the witnesses",
    "The price is not confidential",
    "Addresses are public and should be shown",
    "Limit disclosure to the abstract",
    "Leave the addresses in",
]
FOREIGN = [
    ("Supprimer les noms des témoins", "fr"),
    ("Ne pas divulguer le prix", "fr"),
    ("Entferne alle Namen von Zeugen", "de"),
    ("Diagnose nicht nennen", "de"),
    ("Ocultar los nombres de los testigos", "es"),
    ("Rimuovere i nomi dei testimoni", "it"),
    ("Verwijder de namen van getuigen", "nl"),
    ("Remover os nomes das testemunhas", "pt"),
    ("Usuń nazwiska świadków", "pl"),
    ("Скрыть имена свидетелей", "ru"),
    ("隐藏证人的姓名", "zh"),
    ("証人の名前を隠す", "ja"),
    ("목격자의 이름을 숨기세요", "ko"),
    ("أخف أسماء الشهود", "ar"),
    ("Απόκρυψε τα ονόματα", "el"),
]
SLIPS = [
    ("Remove the nmaes of witneses", 3),
    ("Hide adresses", 2),
    ("Remove Adresses", 2),
    ("Redact the diagnossis", 3),
    ("Hide phnoe numbers", 2),
    ("Conceal slaary details", 2),
    ("Remove DOBz", 2),
]
EMPTY = [
    "...",
    "\u200b-",
    "12345",
    "asdf qwer zxcv",
    "banana",
    "Purple monkey dishwasher",
    "Colourless green ideas sleep furiously",
    "Handle with care",
    "Nothing",
    "None",
    "Please",
    "Be nice",
    "Withhold the frobnication",
]
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
    ("Conceal e\u2011mail addresses", "types", {"EMAIL_ADDRESS"}),
    ("Mask card numbers", "types", {"CREDIT_CARD"}),
    ("Remove MRNs", "types", {"CODE"}),
    ("Mask NHS numbers", "types", {"CODE"}),
    ("Remove sort codes and account numbers", "types", {"CODE", "IBAN_CODE"}),
    ("Do not disclose the quantum of damages", "types", {"MONEY"}),
    ("Redact the consideration paid", "types", {"MONEY"}),
    ("Do not disclose the date of knowledge", "types", {"DATE"}),
    ("Remove DOBs", "types", {"DATE"}),
    ("Hide passport numbers", "types", {"CODE"}),
    ("Remove employee ID numbers", "types", {"CODE"}),
    ("Complainant's identity must be protected", "people", {"PERSON"}),
    ("Strip all HIPAA identifiers", "people", {"PERSON", "DATE", "CODE"}),
    ("Mask personal data", "people", {"PERSON", "EMAIL_ADDRESS"}),
    ("Data subjects must not be identifiable", "people", {"PERSON"}),
    ("Hide bank details", "types", {"IBAN_CODE"}),
    ("Remove home addresses of staff", "types", {"ADDRESS"}),
    ("Remove usernames and social media handles", "people", {"USERNAME"}),
]
TRADES = [
    "Withhold matters under seal",
    "Redact privileged advice",
    "Do not reveal settlement terms",
    "Keep without prejudice offers confidential",
    "Protect informants and sources",
    "Remove criminal convictions",
    "Litigation strategy must not be disclosed",
    "Withhold plea negotiations",
    "Witness statements are confidential",
    "Redact next of kin",
    "Do not disclose HIV status",
    "Termination of pregnancy must never be mentioned",
    "Hide genetic test results",
    "Do not reveal the prognosis",
    "Withhold mental health information",
    "Safeguarding concerns are not for release",
    "Do not disclose substance use treatment",
    "Patient's location must not be revealed",
    "Do not mention cause of death",
    "Do not disclose disciplinary records",
    "Redundancy list is confidential",
    "Withhold sickness absence",
    "Trade union membership must not be revealed",
    "Redact immigration status",
    "Layoffs must stay secret",
    "Do not mention grievances",
    "Remove performance ratings",
    "Do not disclose political opinions",
    "Protect religious beliefs",
    "Sexual orientation must not be disclosed",
    "Racial or ethnic origin must not be disclosed",
    "Do not reveal vulnerabilities",
    "Withhold indicators of compromise",
    "Network topology must not be disclosed",
    "Redact encryption keys",
    "Patrol schedules must not be released",
    "Do not reveal intelligence sources and methods",
    "Hide the earn-out",
    "Hide the earnout",
    "Bid strategy is confidential",
    "Withhold board discussions",
    "Inside information must not be disclosed",
    "Redact trade secrets",
    "Do not reveal the formula",
    "Merger plans must not leak",
    "Suspicious activity reports must not be mentioned",
    "Remove special category data",
    "Hide browsing history",
    "Redact family relationships",
    "Redact biometric identifiers",
]
PROSE = [
    "It must remain private why the chief judge gave up his office",
    "It is confidential how the bridge fell",
    "Keep back how the safe was opened",
    "Why the co-founder is leaving shall not be told",
    "Never let slip why the bride's mother stays away",
    "The location of the workshop is sub judice",
    "Ratings are to be taken out",
    "Let nothing slip about the affair",
    "Nobody may learn that Meyers has diabetes",
    "Do not reveal that he is married",
]
NAMED = [
    "Remove Jonathan Meyers",
    "Do not mention ACME Corp",
    "Any reference to Meyers or ACME",
    "Jonathan Meyers",
    "Meyers must stay out of it",
    "Redact everything about Jonathan Meyers",
]
FOREIGN_NOUNS = [
    "Hide Anschriften",
    "Keep the Lohn secret",
    "Hide Krankheiten",
    "Do not mention Gehalt",
    "Remove Namen",
    "Hide Adressen of tenants",
    "Redact Geburtsdatum and Telefonnummern",
    "Withhold Noms",
    "Hide Salaires",
    "Hide the Adresse of every patient",
    "Do not reveal Dettes",
    "Hide Enfermedades",
    "Keep the Sueldo of the manager secret",
    "Hide Domicilio",
    "Do not disclose Sentencias",
    "Hide Indirizzi",
    "Remove Stipendi and Malattie",
    "Hide Ziektes",
    "Hide Adresgegevens",
    "Hide Moradas",
    "Remove Nazwiska",
    "Hide Wynagrodzenie",
    "Hide Personnummer",
    "Mask Kontonummer",
    "Redact the Gehälter",
    "Hide LOHN",
    "Hide Vorstrafen of witnesses",
    "Do not reveal the Kündigung",
    "Hide Antecedentes",
    "Hide Diagnosen",
    "Do not share the Miete",
]
NO_NAMES = [
    "Hide Wohngeldstelle",
    "Hide Frobnications",
    "Hide Mahnwesens",
    "Hide Maladies",
    "Remove Breakages",
    "Hide Xanthoquils of staff",
    "Keep the Zorbla secret",
    "Do not mention the Karlssons",
    "Hide Soziale Leistungen",
    "Remove Verurteilungen",
    "Hide Leistungsdaten",
    "Hide Medicaton",
    "Do not mention Annex B",
    "Do not mention Alkoholsucht",
    "Hide Strafregister",
    "Remove Mitarbeitergehalt",
    "Hide Rémunérations",
    "Hide Nóminas",
    "Hide Hasła",
    "Karlsson must not be mentioned",
    "Hide Overpayments",
]
TAKEN_FOR_NAMES = [
    "Do not mention Karlsson",
    "Remove Quintrell",
    "Do not mention Zorblax",
    "Remove Zyltrix Quomb",
    "Redact Vlorp and Snarfle",
    "Any reference to Zorblax",
    "Everything about Quomb",
    "Do not mention Ayşe Yıldız",
    "Never mention Çelik in any answer",
    "Do not say anything about Lindqvist",
    "Keep Karlsson out of it",
    "Do not refer to B. Szczepański",
    "Do not disclose anything about Hrvoje Kovačić",
    "Do not mention Nwachukwu or Karlsson",
    "Do not reveal who Karlsson is",
    "Do not mention Karlsson's name",
]
NAMES = [
    'Remove "Quintrell"',
    "Remove 'Quintrell' and \"Vlorp\"",
    "Do not mention the name Quintrell",
    "Never use the surname Quintrell",
    "Remove Ms Quintrell",
    "Do not mention Dr. Quintrell",
    "Keep Mrs Quintrell out of it",
    "Do not mention Jonathan Quintrell",
    "Remove Meyers",
    "Do not mention Zorblax Ltd",
    "Do not mention ACME Corp",
    "Any reference to Meyers or ACME",
    "Do not mention Aurelio Stamm",
    "Do not mention Wei Li",
    "Remove Ann",
    "Do not mention the Zorblax Company",
    "Hide a person called Quintrell",
    "Do not mention project Zorblax",
    "Do not mention the codename Zorblax",
    "Remove O'Quintrell",
    "Redact everything about Jonathan Meyers",
    "Do not mention Kim",
    'Remove "Quintrell" from everything',
    "Remove Ms Quintrell from all answers",
    "Professor Quintrell is not to be named",
    "The Quintrell Trust wishes not to be mentioned",
    "The Duchess of Quintrell must never be mentioned",
    "Castlegate Quintrell Ltd is not to be mentioned by name",
    '"Quintrell" must stay out of it',
]
EXCEPTING = [
    "Remove names of tenants, but keep those of agents",
    "Remove all names except the judge's",
    "Hide dates unless the witness consents",
    "Mask addresses, other than those of the court",
    "Remove names but keep the judge's",
    "Remove all names apart from those of councillors",
    "Hide salaries, save those of directors",
    "Redact diagnoses, excluding allergies",
    "Hide prices but not of the paintings",
    "Remove names with the exception of officials",
    "Withhold addresses if they are not public",
    "Remove names of staff, managers excepted",
    "Hide all e-mail addresses; those of the press office may stay",
    "Remove names, not those of agents",
    "Hide names of pupils but leave teachers' names in",
    "Mask names of everyone who is not a judge",
    "Remove all names except Jonathan Meyers",
    "Hide phone numbers (not the switchboard)",
]
WHO_IS_WHO = [
    "No one may guess who Source B is",
    "Nobody may work out who wrote the complaint",
    "It must not be possible to recognise the informant",
    "The donor must stay unrecognisable",
    "Readers must not be able to tell which nurse complained",
    "Do not let anyone deduce which pupil is meant",
    "No one should be able to infer whose sample it was",
    "Leave nothing by which the whistleblower could be recognised",
    "The source must not be traceable",
    "Nothing may point to the author of the report",
    "Do not give hints at who leaked the memo",
    "Make sure that the victim cannot be singled out",
    "Nobody may put two and two together about who Source B is",
    "It must stay unclear which employee reported it",
    "Readers should not be able to narrow down who it was",
]
NOT_WHO_IS_WHO = [
    "The parties to the dispute must be unrecognisable by name",
    "Neither of the two opponents may be recognised by name",
    "The deceased should not be recognisable by their surnames",
    "Do not reveal who reported the fire",
    "The identity of the informant",
    "Data subjects must not be identifiable",
    "Complainant's identity must be protected",
    "Remove everything that identifies patients",
    "Do not identify the customers",
    "Pupils are not to be identified",
    "Do not say who is buying the bakery",
    "Withhold what the witness guessed",
    "Hide how the insider was identified",
    "Hide details by which patients could be identified",
    "Remove names of those who traced the leak",
]
REFERRING = [
    "See annex B of the contract",
    "See the attached list",
    "As set out in schedule 2",
    "As in section 4 of the handbook",
    "Everything listed in appendix C",
    "Redact the items in schedule 3",
    "Remove what the data protection officer listed",
    "As above",
    "Same as last year",
    "The usual",
    "Follow the guidelines of the ministry",
    "Apply the retention policy",
    "Anything marked yellow",
    "Comply with GDPR article 17",
    "Refer to paragraph 12",
    "As discussed",
    "Terms according to the attachment",
    "According to our policy",
    "Per instructions of counsel",
]
NOT_REFERRING = [
    "Withhold the annex to the contract on prices",
    "Do not disclose what the memo says about layoffs",
    "Remove the names listed in annex B",
    "Remove names as in the register",
    "Do not reveal the terms agreed with the union",
    "Hide what the lawyer listed as risks",
    "Hide phone numbers as set out in the policy",
    "Do not mention the annex to the clinic where patients are isolated",
]
EXCEPTED_TYPES = [
    ("Hide contact details except e-mail addresses", "PHONE_NUMBER", "EMAIL_ADDRESS"),
    ("Remove all personal data except names", "DATE", "PERSON"),
    ("Mask personal data, but not dates", "PERSON", "DATE"),
    ("Hide all identifiers except phone numbers", "CODE", "PHONE_NUMBER"),
    ("Remove personal information apart from ages", "PERSON", "AGE"),
]


EVERYWHERE = [
    ("Dates of birth of patients must not be disclosed", "BIRTH_DATE", "DATE PERSON"),
    ("Do not give the phone numbers of firms", "PHONE_NUMBER", "ORGANIZATION CODE"),
    ("Hide monthly salaries", "MONEY", "DATE DURATION"),
    ("Do not disclose the months in which contracts end", "DATE", "MONEY"),
    ("Hide admission and discharge dates", "DATE", "PERSON TIME"),
    ("Remove job titles of complainants", "JOB_TITLE", "PERSON USERNAME"),
    ("Hide the statements of jurors", "", "USERNAME MONEY"),
    ("Names of jurors and complainants must go", "PERSON", "JOB_TITLE"),
    ("Protect complainants", "PERSON", "MONEY DATE"),
    ("Hide which pupils get free school meals", "PERSON", "MONEY AMOUNT"),
    ("Hide the nationality and residence status of clients", "NATIONALITY", "ADDRESS"),
    ("Do not disclose residences of judges", "ADDRESS", "MONEY PERSON"),
    ("Do not disclose customers' credit card numbers", "CREDIT_CARD", "IBAN_CODE"),
    ("Hide bank details", "IBAN_CODE CREDIT_CARD", "PERSON MONEY"),
    ("Hide identification numbers", "CODE US_SSN", "PERSON DATE"),
    ("Hide national identification numbers", "CODE US_SSN", "PERSON"),
    ("Hide identity card numbers and identity documents", "CODE", "PERSON"),
    ("Tax identification numbers", "CODE", "PERSON"),
    ("Device identifiers and serial numbers", "CODE", "PERSON"),
    ("Remove vehicle identification codes", "CODE", "PERSON"),
    ("Hide organisations and places", "ORGANIZATION LOCATION", "PERSON DATE"),
    ("Withhold the identity of the caller", "PERSON", "CODE"),
    ("Hide identities of donors", "PERSON", "CODE DATE"),
    ("Remove patient identifiers", "PERSON CODE", "MONEY"),
    ("Hide account numbers of customers", "IBAN_CODE CODE", "PERSON MONEY"),
    ("Do not give the room numbers of patients", "CODE", "PERSON"),
    ("Do not reveal the reasons for dismissals", "DATE", "MONEY"),
    ("Do not disclose severance terms", "MONEY", "PERSON"),
    ("Do not disclose which server holds the backups", "LOCATION", "PHONE_NUMBER"),
    ("Hide escalation contacts", "PHONE_NUMBER EMAIL_ADDRESS", "MONEY"),
    ("Hide custody arrangements", "RELATION", "MONEY"),
    ("Do not disclose maintenance payments", "MONEY", "PERSON"),
    ("Do not disclose delivery times of cash", "TIME", "MONEY"),
    ("Hide GPS data", "COORDINATES", "ADDRESS LOCATION CODE"),
    ("Hide home addresses of staff", "ADDRESS", "PERSON MONEY"),
    ("Hide the names of bidders", "PERSON ORGANIZATION", "MONEY"),
    ("Remove patients' initials", "PERSON", "CONDITION DATE"),
    ("Do not say how much rent a tenant owes", "MONEY", "PERSON DATE"),
    ("Hide IP addresses and host names", "IP_ADDRESS DOMAIN_NAME", "PERSON ADDRESS"),
    ("Do not disclose ages of pupils", "AGE", "DATE PERSON"),
    ("Never reveal a patient's HIV status", "CONDITION", "PERSON DATE"),
]


def _parsed(text: str) -> ParsedConstraint:
    return parse(Constraint("c", text))


@pytest.mark.parametrize("text", BLANKET)
def test_a_blanket_constraint_asks_for_everything(text) -> None:
    """It has no topic, so there is nothing to look for: all of it goes."""
    parsed = _parsed(text)

    assert (parsed.kind, parsed.status) == ("everything", "understood")


@pytest.mark.parametrize("text", EVENTS)
def test_an_event_is_not_everything(text) -> None:
    """A word of an order with an article is a thing that something is said of."""
    assert _parsed(text).kind != "everything"


@pytest.mark.parametrize("text", ALLOWING)
def test_what_may_be_disclosed_is_not_understood(text) -> None:
    """An allow-list, a permission and a forbidden redaction need a model."""
    parsed = _parsed(text)

    assert (parsed.kind, parsed.status) == ("only", "needs_model")
    assert parsed.reason == "It says what may be disclosed, not what must not."


@pytest.mark.parametrize(("text", "language"), FOREIGN)
def test_another_language_is_not_understood(text, language) -> None:
    """It is told by its little words or by its script."""
    parsed = _parsed(text)

    assert (parsed.language, parsed.status) == (language, "needs_model")
    assert parsed.reason == "It is not in English."


@pytest.mark.parametrize(("text", "place"), SLIPS)
def test_a_slip_of_the_pen_is_not_understood(text, place) -> None:
    """The reason says which word, and does not quote it."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert parsed.reason == f"Word {place} is in no dictionary."


@pytest.mark.parametrize("text", EMPTY)
def test_what_asks_for_nothing_is_not_understood(text) -> None:
    """Gibberish, place-holders and terms that no table knows are refused."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert parsed.reason


@pytest.mark.parametrize(("text", "kind", "types"), TYPED)
def test_types_are_understood(text, kind, types) -> None:
    """What a detector knows by its form is looked up."""
    parsed = _parsed(text)

    assert (parsed.kind, parsed.status) == (kind, "understood")
    assert types <= parsed.types
    assert not parsed.reason


@pytest.mark.parametrize(
    ("text", "places"),
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


@pytest.mark.parametrize("text", TRADES)
def test_terms_of_a_trade_have_cues_or_types(text) -> None:
    """What an office writes every day says what to look for in a text."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert parsed.cues


@pytest.mark.parametrize("text", PROSE)
def test_plain_english_is_understood(text) -> None:
    """What happened can be compared with what a text tells."""
    assert _parsed(text).status == "understood"


@pytest.mark.parametrize("text", NAMED)
def test_a_name_is_understood(text) -> None:
    """With an order, or if the lists know it."""
    parsed = _parsed(text)

    assert (parsed.kind, parsed.status) == ("named", "understood")


@pytest.mark.parametrize("text", ["Zyltrix Quomb", "Entferne Zeugen"])
def test_unknown_words_without_an_order_are_no_name(text) -> None:
    """They may be of any language."""
    assert _parsed(text).status == "needs_model"


@pytest.mark.parametrize("text", FOREIGN_NOUNS)
def test_a_noun_of_another_language_is_no_name(text) -> None:
    """It has a capital, and what it means stands in the text under other words."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert "is not English" in parsed.reason or "in no dictionary" in parsed.reason


@pytest.mark.parametrize("text", TAKEN_FOR_NAMES)
def test_a_word_in_no_list_is_taken_for_a_name(text) -> None:
    """A warning says so, for a noun hides nothing else."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert parsed.names
    assert "is taken for a name" in parsed.reason


@pytest.mark.parametrize(("text", "asked", "spared"), EVERYWHERE)
def test_types_that_a_constraint_does_not_ask_for_stay(text, asked, spared) -> None:
    """What officers write asks for its types; no other counts wherever it is."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert parsed.types.union(parsed.everywhere) >= {*asked.split()}
    assert not parsed.everywhere & {*spared.split()}


@pytest.mark.parametrize("text", NO_NAMES)
def test_a_noun_or_a_slip_is_no_name(text) -> None:
    """What may be a noun needs something that says it is a name."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert "quotation marks" in parsed.reason


@pytest.mark.parametrize("text", NAMES)
def test_what_says_that_it_is_a_name_is_enough(text) -> None:
    """Quotation marks, a title, a company's suffix, "the name", or the lists."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert parsed.names


@pytest.mark.parametrize("text", EXCEPTING)
def test_an_exception_is_refused(text) -> None:
    """The reason says what to write instead."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert "Write two constraints" in parsed.reason


@pytest.mark.parametrize(("text", "hidden", "kept"), EXCEPTED_TYPES)
def test_an_exception_of_types_is_enforced(text, hidden, kept) -> None:
    """A type that is excepted without further words is not asked for."""
    parsed = _parsed(text)

    assert parsed.status == "understood"
    assert hidden in parsed.everywhere
    assert kept not in parsed.types | parsed.everywhere


@pytest.mark.parametrize(
    "text",
    [
        "Hide names including those of agents",
        "Names of agents, not only those of tenants, must go",
        "Do not mention exceptional payments",
        "Remove names and keep out dates as well",
        "Vulnerabilities not yet patched",
        "Names of applicants who were turned down",
    ],
)
def test_what_only_reads_like_an_exception_is_none(text) -> None:
    """Nothing is excepted."""
    assert _parsed(text).status == "understood"


@pytest.mark.parametrize("text", WHO_IS_WHO)
def test_that_nobody_be_recognised_needs_a_model(text) -> None:
    """Any word may tell who somebody is."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert "who somebody is" in parsed.reason


@pytest.mark.parametrize("text", NOT_WHO_IS_WHO)
def test_names_and_identifiers_need_none(text) -> None:
    """What identifies by its type is looked for."""
    assert _parsed(text).status == "understood"


@pytest.mark.parametrize("text", REFERRING)
def test_a_reference_to_another_text_is_refused(text) -> None:
    """What stands there nobody can look up."""
    parsed = _parsed(text)

    assert parsed.status == "needs_model"
    assert "refers to another text" in parsed.reason


@pytest.mark.parametrize("text", NOT_REFERRING)
def test_a_text_that_is_only_mentioned_is_no_reference(text) -> None:
    """The constraint says itself what is hidden."""
    assert _parsed(text).status == "understood"


def test_a_word_that_is_not_looked_for_is_warned_of() -> None:
    """In a clause it may be a name; the reason says how to have it looked for."""
    parsed = _parsed("Do not explain how the Zorblax works")

    assert parsed.status == "understood"
    assert parsed.reason.startswith("Word 6 is not looked for by itself.")


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
    text for text in (*BLANKET, *ALLOWING, *TRADES, *PROSE[:6]) if "-" not in text
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
@pytest.mark.parametrize("text", ["Hide e-mails", "Hide the earn-out", "Mask MAC-IDs"])
def test_every_hyphen_is_one(text, hyphen) -> None:
    """Word processors write what looks like a hyphen."""
    plain, other = _parsed(text), _parsed(text.replace("-", hyphen))

    assert (other.kind, other.types, other.cues) == (
        plain.kind,
        plain.types,
        plain.cues,
    )


@pytest.mark.parametrize("text", COMMON)
def test_case_and_compatibility_forms_change_no_status(text) -> None:
    """Written wide, or folded already, it is the same constraint."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)

    assert unicodedata.normalize("NFKC", wide) == text
    assert _parsed(wide).status == _parsed(text).status
    assert _parsed(fold_text(text)).kind == _parsed(text).kind


SUBJECTS = [
    # The longest phrase wins.
    ("Accounts of the accident", {"evidence"}, set()),
    ("Hide family secrets", {"family life"}, set()),
    ("Mail addresses", set(), {"EMAIL_ADDRESS"}),
    ("Do not reveal heart disease", {"heart"}, set()),
    ("Hide fertility treatment", {"pregnancy"}, set()),
    ("HIV test results", {"sexual health"}, set()),
    ("Medication errors", {"medical errors"}, set()),
    ("Drinking habits of employees", {"addiction"}, set()),
    ("Source code", {"intellectual property", "trade secrets"}, set()),
    ("Alarm system weaknesses", {"vulnerabilities"}, {"CODE"}),
    ("Results of pregnancy tests", {"results"}, set()),
    ("Medical equipment failures", {"quality and recalls"}, {"CODE"}),
    ("Personality test results", {"appraisals"}, set()),
    ("Hide hardware addresses", set(), None),
    # The audience, the occasion and the grounds are no topic.
    ("Nobody in the press may learn of the strike", {"union"}, set()),
    ("Do not tell the insurer about the diagnosis", {"diagnosis"}, {"CONDITION"}),
    ("Parents must not learn of detentions", {"pupil behaviour"}, set()),
    ("Do not let the bank know about layoffs", {"job cuts"}, set()),
    ("Keep salaries from the union", set(), {"AMOUNT", "MONEY"}),
    ("Diagnoses are removed before release to the court", {"diagnosis"}, {"CONDITION"}),
    ("Rotas must not be given to patients or their families", {"rosters"}, set()),
    ("Vaccinations are withheld from the school", {"treatment"}, set()),
    ("Complaints must not reach anyone outside the hospital", {"grievances"}, set()),
    ("Under section 40 of the Tax Act, hide allergies", {"allergies"}, {"CONDITION"}),
    ("Do not inform the police of asylum claims", {"immigration"}, {"CODE"}),
    ("Hide bids before they are announced by the board", {"bid strategy"}, None),
    # What has a form of its own counts everywhere, the rest beside a cue.
    ("Hide passwords", {"secrets"}, {"CREDENTIAL", "CODE"}),
    ("Withhold complaints", {"grievances"}, set()),
    ("Hide phone numbers", set(), {"PHONE_NUMBER"}),
    ("Private telephone numbers of staff", set(), {"PHONE_NUMBER"}),
    ("Dates of birth of members", set(), {"BIRTH_DATE"}),
    ("Birthdays of staff", set(), {"BIRTH_DATE"}),
    ("Redact next of kin", {"next of kin"}, {"EMAIL_ADDRESS", "PHONE_NUMBER"}),
    ("Terms of settlement", {"settlement"}, {"AMOUNT", "MONEY"}),
    ("Merger talks with competitors", {"deals"}, {"AMOUNT", "MONEY"}),
    ("Server names", set(), {"CODE", "DOMAIN_NAME", "IP_ADDRESS", "URL"}),
    ("Patients' names and ward numbers", set(), None),
    # Concepts of written policies.
    ("Bullying incidents", {"pupil behaviour"}, set()),
    ("Free school meals", {"school meals"}, set()),
    ("Exam questions before the exam", {"exam papers"}, set()),
    ("Overtime and hours worked", {"working time"}, set()),
    ("Maternity and paternity leave", {"family leave"}, set()),
    ("Restraint and seclusion of patients", {"mental health"}, set()),
    ("Side jobs of employees", {"side jobs"}, {"MONEY"}),
    ("Quality defects and recalls", {"quality and recalls"}, {"CODE"}),
    ("Gifts and hospitality", {"suspicion"}, {"AMOUNT", "MONEY"}),
    ("Location of the shelter", {"places to hide"}, set()),
    ("Opinions of peer reviewers", {"deliberations"}, set()),
    ("Travel plans of executives", {"travel plans"}, set()),
]


@pytest.mark.parametrize(("text", "topics", "everywhere"), SUBJECTS)
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


@pytest.mark.parametrize(("text", "goes"), BIRTH_DATES)
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


@pytest.mark.parametrize(
    ("text", "goes"),
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
