"""Values said coarser in place of being hidden: never more exactly than was asked."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag import PolicyError
from sdrag.detectors.generalise import coarsest, generalise
from sdrag.guardrails.answer_work import Draft
from sdrag.linkage.replacing import Masker
from sdrag.pipeline import Engine, Request, check_answer, disclose
from sdrag.state import open_state
from sdrag.studio.authoring.understood_as import limits_of
from sdrag.vocabulary import Entity, Passage

SAID: dict[str, list[tuple[str, str]]] = {
    "month": [
        ("3 May 1984", "May 1984"),
        ("May 1984", "May 1984"),
        ("1984", "1984"),
        ("3 May", "May"),
        ("03/04/2019", "2019"),  # March or April
        ("13/04/2019", "April 2019"),
        ("May to June 1984", "1984"),
        ("2024-05-03T10:22:01Z", "May 2024"),
        ("yesterday", ""),
    ],
    "year": [
        ("3 May 1984", "1984"),
        ("the third of May 1984", "1984"),
        ("12/04/19", ""),  # of which century is not said
        ("3 May", ""),
        ("the 1980s", "1980s"),
        ("KX-1984", ""),
        ("1984-05-03-77", ""),
        ("3 May 1984 and 5 June 1985", ""),
    ],
    "decade": [("3 May 1984", "1980s"), ("12/04/49", ""), ("2001", "2000s")],
    "ten-years": [
        ("45", "40 to 49"),
        ("aged 45", "aged 40 to 49"),
        ("45-year-old", "40-to-49-year-old"),
        ("forty-five years old", "40 to 49 years old"),
        ("97", "90 or more"),
        ("18 months", ""),
        ("1984", ""),
        ("45, of Leeds", ""),
        ("89.5", ""),
        ("89 1/2", ""),
        ("'84", ""),
    ],
    "five-years": [("47", "45 to 49")],
    "band": [
        ("£12,400", "£10,000 to £20,000"),
        ("12.400,50 euros", "10,000 to 20,000 euros"),
        ("$1.2 million", "$1000000 to $2000000"),
        ("£7", "under £10"),
        ("£999,999,999", "£900,000,000 to £1,000,000,000"),
        ("$2.3 million", "$2000000 to $3000000"),
        ("$12,400.555", ""),
        ("$12.400", ""),  # a point or a mark of thousands
        ("$1.234 million", ""),
        ("£1,234,50", ""),
        ("Rs 12,34,567", ""),
        ("4111111111111111", ""),
    ],
    "magnitude": [("£12,400", "£10,000 to £100,000")],
    "town": [
        ("221B Baker Street, London NW1 6XE", "London"),
        ("12 High Road, Oxford, Kent", "Oxford, Kent"),
        ("Kerkweg 112, 1017 GN Delft", "Delft"),
        ("12 High Road, The Old Vicarage", ""),
        ("Baker Street", ""),
        ("Meyers, London", ""),  # no number: a name could be written so
    ],
    "region": [
        ("12 High Road, Oxford, Kent", "Kent"),
        ("12 High Road, France", "France"),
        ("12 High Road, Oxford", ""),  # it says no region
    ],
    "outward": [
        ("NW1 6XE", "NW1"),
        ("K1A 0B1", "K1A"),
        ("90210", ""),  # digits may be any number
        ("4711 KX", ""),
        ("AB12 3CD", ""),  # no such letters end a postcode
    ],
    "last-four": [
        ("GB29 NWBK 6016 1331 9268 19", "…6819"),
        ("020 7946 0018", "…0018"),
        ("hunter20241234", ""),
        ("12345", ""),
        ("00001234", ""),  # of a number of four digits
        ("12/04/2019", ""),
    ],
    "initials": [
        ("Jonathan Meyers", "J. M."),
        ("Dr Anna Ellery", "A. E."),
        ("J. Smith", "J. S."),
        ("Malcolm X", ""),  # a single letter is its own initial
        ("Malcolm X.", ""),
        ("O Henry", ""),
        ("the pilot", ""),
        ("ann.lee@corp.example", ""),
        ("EMP-12345", ""),
    ],
}
TEXT = "Born on 3 May 1984, Ann Lee, aged 45, earns £12,400. In 1984 she left."


def rule(text: str, *instead: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "instead": list(instead), **more}


def release(*constraints: Any, text: str = TEXT, **policy: Any) -> str:
    engine = Engine({"constraints": list(constraints), **policy})
    passage = Passage("p", text, document_id="d")
    released, _ = engine.run(disclose([passage], Request("q"), engine))
    return released.passages[0].text


@pytest.mark.parametrize(
    ("level", "value", "said"),
    [(level, *case) for level, cases in SAID.items() for case in cases],
)
def test_a_value_is_said_at_its_level_or_not_at_all(level, value, said):
    """As a whole: what is not of the kind, or does not say it, is hidden."""
    assert generalise(value, [level]) == said


@given(st.dates(date(1900, 1, 1), date(2080, 1, 1)), st.integers(-400, 400))
def test_days_of_one_year_are_said_alike(day, apart):
    """Whichever of them it was, and however it is written."""
    other = day + timedelta(days=apart)
    forms = ["%d %B %Y", "%Y-%m-%d", "%B %d, %Y", "%d/%m/%Y"]
    for level, years in (("year", 1), ("decade", 10)):
        said = {generalise(day.strftime(form), [level]) for form in forms}
        assert len(said) == 1
        if day.year // years == other.year // years:
            assert said == {generalise(other.isoformat(), [level])}


@pytest.mark.parametrize(
    ("constraints", "shown"),
    [
        (
            [rule("Hide dates", "year"), rule("Hide ages", "ten-years")],
            "Born on 1984, Ann Lee, aged 40 to 49, earns £12,400. In 1984 she left.",
        ),
        (
            [rule("Hide dates", "year"), rule("Hide dates of birth", "decade")],
            "Born on 1980s, Ann Lee, aged 45, earns £12,400. In 1984 she left.",
        ),
        (
            [rule("Hide dates", "year"), "Hide dates of birth"],
            "Born on [date], Ann Lee, aged 45, earns £12,400. In 1984 she left.",
        ),
        (
            [rule("Hide dates and ages", "initials", "month", "decade")],
            "Born on 1980s, Ann Lee, aged [age], earns £12,400. In 1980s she left.",
        ),
    ],
)
def test_of_several_constraints_the_coarsest_counts(constraints, shown):
    """One that has no level for the value hides it."""
    assert release(*constraints) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Born in May '84 here.", "'8"),
        ("He is 89 1/2 years old.", "80 to"),
        ("She is 89.5 years old.", "80 to"),
        ("Pay is £1,23,456 now.", "£1"),
        ("Pay is Rs 12,34,567 now.", "567"),
        ("It cost $12,400.555 then.", "$1"),
    ],
)
def test_of_a_part_of_a_value_nothing_is_said(text, kept):
    """It is hidden: the rest would tell more, and the band would be false."""
    hide = rule("Hide dates, ages and sums of money", "year", "ten-years", "band")

    assert kept not in release(hide, text=text)


def test_structures_stay_what_they_are():
    """A number becomes a string, no key and no border goes."""
    dates, ages = rule("Hide dates", "year"), rule("Hide ages", "ten-years")

    assert release(dates, text='{"born": 19840503, "on": "3 May 1984"}') == (
        '{"born": "1984", "on": "1984"}'
    )
    assert release(ages, text="name,age\nann,45\nben,97\n") == (
        "name,age\nann,40 to 49\nben,90 or more\n"
    )
    pay = rule("Hide salaries", "band")
    for row in ("ann,12400", 'ann,"12,400"', "ann;12,400"):
        head = "name;salary" if ";" in row else "name,salary"
        shown = release(pay, text=f"{head}\n{row}\nben{row[3]}9100\n")
        rows = csv.reader(shown.splitlines(), delimiter=row[3])
        names, pays = zip(*rows, strict=True)
        assert names == ("name", "ann", "ben")
        assert pays[1].replace(",", "") == "10000 to 20000"


def test_an_answer_may_say_what_was_released_and_no_more():
    """The year stands in the context; the day was hidden from it."""
    state, source = open_state(), {"constraints": [rule("Hide dates", "year")]}
    engine = Engine(source, state=state)
    passage = Passage("p", TEXT, document_id="d")
    released, _ = engine.run(disclose([passage], Request("q"), engine))
    guard = Engine(source, state=state, stage="answer")

    def say(answer: str) -> str:
        steps = check_answer(Draft("When?", answer, released.passages), guard, None)
        return guard.run(steps)[0].text

    assert say("She was born in 1984.") == "She was born in 1984."
    assert "3 May" not in say("She was born on 3 May 1984.")
    for said in ("in May 1984", "in May, 1984", "in June 1984", "in 05/1984"):
        assert "1984" not in say(f"Born {said}.")
    assert "1991" not in say("She was born in 1991.")


def test_masking_says_values_as_redaction_does():
    """By the same functions; but not what breaks a chain, and no masked form."""
    entities = tuple(
        Entity(form, type_, (form,))
        for form, type_ in (
            ("3 May 1984", "DATE"),
            ("5 June 1999", "DATE"),
            ("7 July 1971", "DATE"),
            ("1971", "CODE"),
            ("Ann Lee", "PERSON"),
        )
    )
    masker = Masker(
        entities, linking=frozenset({"5 june 1999"}), instead=("year", "initials")
    )

    text = "Ann Lee: 3 May 1984, 5 June 1999, 7 July 1971."
    assert masker.replace(text).text == "A. L.: 1984, [DATE], [DATE]."


def test_its_author_is_told_that_it_still_tells_something():
    """`sdrag check` says so; and what could not be enforced is refused."""
    engine = Engine({"constraints": [rule("Hide dates", "year")]})

    (said,) = limits_of(engine.policy.rules[0])
    assert "year" in said
    assert "may still tell" in said
    assert coarsest([["year"], ["decade", "initials"]]) == ("decade",)
    for wrong in ({"method": "withhold"}, {"instead": ["day"]}):
        with pytest.raises(PolicyError, match="instead"):
            Engine({"constraints": [{**rule("Hide dates", "year"), **wrong}]})
