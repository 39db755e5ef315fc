"""The local locator: from a constraint's words to spans, with no language model."""

from __future__ import annotations

import re

from sdrag.disclosure.local import LocalLocator
from sdrag.effects.steps import Reply, run
from sdrag.vocabulary import Constraint, Passage, Sensitivity

from ...support.scripted import Scripted, toy_vectors
from ...support.tables import each_row

EMBED = Scripted(embed=toy_vectors)


def _left(
    texts: list[str], *constraints: str, sensitivity: Sensitivity = "high"
) -> list[str]:
    """Return what of each text of one document no finding covers."""
    rules = [Constraint(f"c{n}", text) for n, text in enumerate(constraints)]
    passages = [Passage(str(n), text, document_id="d") for n, text in enumerate(texts)]
    locator = LocalLocator(sensitivity=sensitivity)
    outcomes = run(locator.locate(passages, rules), Scripted(embed=toy_vectors))
    left = []
    for passage, outcome in zip(passages, outcomes, strict=True):
        assert isinstance(outcome, Reply)
        text = passage.text
        for finding in sorted(outcome.value, key=lambda f: f.span, reverse=True):
            span = finding.span
            text = text[: span.start] + "_" * len(span) + text[span.end :]
        left.append(text)
    return left


@each_row(
"constraint, text, gone, kept", [
        ("Remove names of witnesses", "The witness, Jonathan Meyers, left.", "Meyers",
         "witness"),
        ("Tenants in debt stay nameless", "The chair wrote to Asante.", "Asante",
         "chair"),
        ("Hide the exact doses of medicine", "She took 80 mg of it.", "80 mg", "took"),
        ("Suppress private telephone numbers", "Ring 0770 555 0143.", "0143", "Ring"),
        ("Mask the registration plates", "a car, BX 9063, waited", "9063", "waited"),
        ("Hide dates of birth", "born on 4 February 2010", "February", "born"),
        ("The sums paid are secret", "They paid 4,900 euros.", "4,900", "They"),
        ("Never give out the codes of locks", "The lock code is 5519.", "5519", "lock"),
        ("Do not say how old the boys are", "He is sixteen.", "sixteen", "He"),
        ("Where they live is not to be told", "at 12 Canal Street", "Canal", "at"),
        ("Conceal e-mail addresses", "write to a@b.org", "a@b.org", "write"),
        ("How many hives there are is private", "He had thirty-nine, said one.",
         "thirty-nine", "one"),
        ("Suppress what was charged", "It went for ninety, to one buyer.", "ninety",
         "one"),
        ("The sums paid are secret", "He was handed 88500 then.", "88500", "then"),
        ("Prices stay secret", "I would take two hundred, he said.", "hundred", "said"),
        ("Redact contact information", "Write to ann@b.org soon.", "ann@b.org", "soon"),
        ("Hide bank details", "to DE89370400440532013000 today", "DE89", "today"),
        ("Mask card data", "paid by 4111 1111 1111 1111 then", "4111", "paid"),
        ("Remove SSNs", "it was 123-45-6789 then", "6789", "was"),
        ("Remove DOBs", "born on 4 May 1980 there", "1980", "there"),
        ("Hide GPS data", "at 59.91N 10.75E it sank", "59.91", "sank"),
        ("Remove postcodes", "Send it to OX1 2JD now.", "2JD", "now"),
        ("No handles", "ask @jonmeyers about it", "jonmeyers", "about"),
        ("Hide medical information", "He has diabetes. The quay was empty.",
         "diabetes", "quay"),
    ])  # fmt: skip
def test_types_named_in_a_constraint_go(constraint, text, gone, kept) -> None:
    """What the constraint names is found in any wording; the rest stays."""
    (left,) = _left([text], constraint)

    assert gone not in left
    assert kept in left


MARKED = [
    ("Do not say how old the boys are", "He is [sixteen]."),
    ("Do not say how old the boys are", "She turned [fourteen], he was [nine]."),
    ("Do not say how old the boys are", "Platform nine is closed; the score was two."),
    ("Hide ages", "Anna is [twenty-two], and I was [eleven] when it rained."),
    ("Hide ages", "He's [thirty], she's [12], and it's twenty past. Its nine lives."),
    ("Hide ages", "My son was [seven]. The boys are [9] and [11]."),
    ("Hide ages", "The total is sixteen. It was twelve; he is four minutes late."),
    ("Hide ages", "She is one of them. He was two miles away, ten minutes early."),
    ("Hide ages", "He was sixteen miles out. They were two of a kind."),
    ("Remove ages of pupils", "Ottilie was [twelve] and in year 6."),
    ("Do not reveal the age of the witness", "She, who is [forty-one], came at nine."),
    ("Hide GPS data", "at [59.91N 10.75E] it sank"),
    ("Hide GPS data", "seen at [51.5072 N, 0.1276 W] at dawn"),
    ("Hide GPS data", "a buoy ([N59.91 E10.75]) drifts"),
    ("Hide GPS data", "Order A12-7781, platform 9E, 60 W bulbs at Canal Street."),
    ("Hide GPS data", "ward 6B had 59.9 N of force and 10.7 E of it"),
    ("Hide GPS coordinates", "at [59.9139\u00b0 N, 10.7522\u00b0 E] it sank"),
    ("Remove GPS positions", "position [59.9139, 10.7522] was sent"),
    ("Hide coordinates", "the wreck: lat [59.91] lon [10.75] today"),
    ("Hide coordinates", "Version 3.14, 2.71; he paid 59.91, 10.75 for it in Hull."),
    ("Hide coordinates", "rooms 12N and 14E are on the north side"),
]


@each_row("constraint, marked", MARKED)
def test_ages_and_coordinates_go_and_other_numbers_stay(constraint, marked) -> None:
    """The mark shows what goes: an age of somebody, degrees with their directions."""
    text = marked.replace("[", "").replace("]", "")
    (left,) = _left([text], constraint)

    assert left == re.sub(r"\[(.*?)\]", lambda m: "_" * len(m[1]), marked)


FILE = (
    "The applicant, Ines Tavares, born on 4 February 1962, ran a mushroom farm. Write"
    " to ines@example.org or ring 0770 555 0143. It rained for most of the day."
)


@each_row(
    "constraint",
    [
        "Remove all identifying details",
        "Mask personal data",
        "Leave out anything that could identify the applicant",
        "Whatever identifies a person must go",
        "Anonymise the document",
        "No PII in answers",
        "Personal information of applicants is confidential",
    ],
)
def test_whatever_identifies_goes_where_that_is_asked_for(constraint) -> None:
    """Names, dates, addresses and what no form gives away; the weather stays."""
    (left,) = _left([FILE], constraint)

    for told in ("Tavares", "1962", "mushroom", "ines@", "0143"):
        assert told not in left
    assert "It rained for most of the day." in left


NAMED = (
    "Jonathan Meyers works for ACME Corp in Oslo. Meyers is ill. ACME sells rope."
    " The harbour was quiet."
)
SAFE = "The Whitfield safe stood open. He opened the safe with a stethoscope."


@each_row(
    "constraint, text, gone, kept",
    [
        ("Remove Jonathan Meyers", NAMED, "Jonathan Meyers", "ACME ill Oslo"),
        ("Do not mention ACME Corp", NAMED, "ACME", "Meyers rope Oslo"),
        ("Any reference to Meyers or ACME", NAMED, "Meyers ACME", "ill rope"),
        ("Hide 'Jonathan Meyers' and Oslo.", NAMED, "Meyers Oslo", "ACME ill"),
        ("Leave out Meyers", NAMED, "Meyers", "ACME Oslo"),
        ("Meyers must stay out of it", NAMED, "Meyers", "ACME"),
        # What a sentence says in which the name stands is about whom it names.
        ("Redact everything about Jonathan Meyers", NAMED, "Oslo ill.", "sells rope."),
        # A name or capitals in a constraint on something else are no secret.
        ("Keep back how the Whitfield safe was opened", SAFE, "scope", "Whitfield"),
        ("Hide How The Safe Was Opened", SAFE, "stethoscope", ""),
        ("KEEP BACK HOW THE SAFE WAS OPENED", SAFE, "stethoscope", ""),
        ("Remove Ann", "The annual report is here.", "Ann", "annual"),
        # A secret that is stated goes with its words.
        (
            "Nobody may learn that Meyers has diabetes",
            "Meyers has diabetes and a dog.",
            "diabetes",
            "",
        ),
    ],
)
def test_a_name_goes_wherever_it_stands(constraint, text, gone, kept) -> None:
    """In full, as a surname, as an acronym; what is said beside it stays."""
    (left,) = _left([text], constraint)

    assert not [word for word in gone.split() if word in left]
    assert [word for word in kept.split() if word in left] == kept.split()
