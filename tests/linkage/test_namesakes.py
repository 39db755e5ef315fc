"""Two people of one name: born on two days, or in one sentence."""

from __future__ import annotations

import re

import pytest

from sdrag.detectors.local import LocalDetector
from sdrag.linkage import Fitted, assess, fit, mask_corpus
from sdrag.linkage.replacing import Masker
from sdrag.vocabulary import Entity, Passage

KEY = b"sixteen bytes or more"
STRICT = {
    "resolution": {"meaning": False, "terms": False},
    "max_document_risk": 0.05,
    "edge_threshold": 0.1,
    "replace": "pseudonym",
}
NAME = re.compile(r"\[NAME_[0-9a-f]{16}\]")

Rows = list[list[list[object]]]


def corpus(*texts: str) -> tuple[list[Passage], Rows]:
    """Return documents in which <names> and {birth dates} are marked."""
    documents = [
        Passage(f"d{n}", re.sub(r"[<>{}]", "", text)) for n, text in enumerate(texts)
    ]
    rows: Rows = [
        [
            *([form, "", "NAME", 0.9] for form in re.findall(r"<(.*?)>", text)),
            *([form, "", "BIRTHDATE", 0.5] for form in re.findall(r"\{(.*?)\}", text)),
        ]
        for text in texts
    ]
    return documents, rows


def people(*texts: str) -> int:
    """Return how many people there are."""
    documents, rows = corpus(*texts)
    entities = assess(documents, rows, STRICT).resolved.entities
    return sum(entity.type == "NAME" for entity in entities)


SMITH = "<John Smith>, born {3 May 1980}, has asthma."


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        ((SMITH, "<John Smith> (born {7 June 1975}) owes rent."), 2),
        ((SMITH, "<John Smith>, date of birth: {07/06/1975}."), 2),
        ((SMITH, "Name: <John Smith>\nDOB: {7 June 1975}\nNote: rent"), 2),
        ((SMITH, "<John Smith>, who was born on {7 June 1975}, left."), 2),
        ((SMITH, "<John Smith> (male, 48, DOB {7 June 1975})"), 2),
        ((SMITH, "<John Smith>'s date of birth is {7 June 1975}."), 2),
        ((SMITH, "<John Smith> was born in the year of {3 May 1979}."), 2),
        ((SMITH, "<Smith, John>, born {7 June 1975}"), 2),
        ((SMITH, "<J. Smith>, born {7 June 1975}"), 2),
        ((SMITH, "<Jon Smith>, born {7 June 1975}"), 2),
        ((SMITH, "<Mr. Smith>, born {7 June 1975}"), 2),
        ((SMITH, "<John Smith>, b. {7 June 1975}", "<John Smith> called."), 3),
        ((SMITH, "<John Smith>, b. {7 June 1975}", "<J. Smith> called."), 3),
        (
            (SMITH, "<John Smith>, b. {7 June 1975}", "<J. Smith>, b. {3 May 1980}"),
            2,
        ),
        ((SMITH, "<John Smith>, born {3 May 1980}, called."), 1),
        ((SMITH, "<John Smith> (DOB {03/05/1980})"), 1),
        ((SMITH, "<John Smith> (DOB {05/03/1980})"), 1),
        ((SMITH, "<John Smith> called.", "<Smith, J.> wrote."), 1),
        ((SMITH, "<John Smith>, born {May 1980}"), 1),
        ((SMITH, "<John Smith>'s son was born on {7 June 2005}."), 1),
        (
            (
                SMITH,
                "<John Smith> visited on the day his mother was born, {7 June 1950}.",
            ),
            1,
        ),
        ((SMITH, "<John Smith> signed. Born {7 June 1975}, he left."), 1),
        (
            (
                "<Ann Lee>, seen by <Dr. Meyer>. Born {3 May 1980}.",
                "<Bo Ray>, seen by <Dr. Meyer>. Born {7 June 1975}.",
            ),
            3,
        ),
        (
            (
                "Patient: <Ann Lee>\nDoctor: <Dr. Meyer>\nDOB: {3 May 1980}",
                "Patient: <Bo Ray>\nDoctor: <Dr. Meyer>\nDOB: {7 June 1975}",
            ),
            3,
        ),
        (
            (
                "<Christina> called.",
                "<Christina M.> baked.",
                "<Christina> met <Christina M.> there.",
            ),
            2,
        ),
        (
            (
                "<Christina> called.",
                "<Christina M> baked.",
                "<Christina M>. and <Christina> met.",
            ),
            2,
        ),
        (("<Christina Meyer> and <Christina> came.",), 2),
        (("<Dr. Smith> told <John Smith> so.",), 2),
        (("<J. Smith> and his brother <John Smith> left.",), 2),
        (("<Christina>'s sister <Christina M.> called.",), 2),
        (("<Christina> has never met <Christina M.>",), 2),
        (("<Christina> knows the other <Christina M.> well.",), 2),
        (("<Christina Meyer> called. Then <Christina> left.",), 1),
        (("<Christina>, now <Christina Meyer>, called.",), 1),
        (("<Christina> signed as <Christina Meyer>.",), 1),
        (("<Christina Meyer> (<Christina>) called.",), 1),
        (("<Dr. Smith>, that is <John Smith>, called.",), 1),
        (("<Christina Meyer> met Bo, and <Christina> left.",), 1),
        (("<Christina> called.", "<Christina M.> baked."), 1),
    ],
)
def test_how_many_people_there_are(texts: tuple[str, ...], count: int) -> None:
    """Two birth dates or a meeting make two; nothing else does."""
    assert people(*texts) == count
    assert people(*reversed(texts)) == count


def masked(texts: list[str]) -> list[str]:
    documents = [Passage(f"d{n}", text) for n, text in enumerate(texts)]
    found = mask_corpus(documents, STRICT, LocalDetector(), key=KEY)
    return [document.text for document in found.documents]


def test_two_of_one_name_have_two_pseudonyms() -> None:
    """Each in its own documents; where nobody says who it is, the type stands."""
    documents, rows = corpus(
        SMITH,
        "<John Smith> (born {7 June 1975}) owes rent.",
        "<Smith, John>, born {03/05/1980}, moved.",
        "<John Smith> called.",
    )
    plan = fit(documents, STRICT, mentions=rows, key=KEY)
    texts = [document.text for document in plan.masked.documents]
    names = [NAME.findall(text) for text in texts]
    assert names[0] == names[2] != names[1]
    assert [len(row) for row in names] == [1, 1, 1, 0]
    assert texts[3] == "[NAME] called."
    for number in (0, 1):
        (name,) = names[number]
        assert "John Smith" in plan.masked.masker.forms_of(name)
        chunk = Passage(
            "c", "John Smith paid.", {"by": "John Smith"}, None, f"d{number}"
        )
        (clean,) = plan.apply([chunk])
        assert (clean.text, clean.metadata["by"]) == (f"{name} paid.", name)
    assert plan.apply([Passage("x", "John Smith paid.")])[0].text == "[NAME] paid."


def test_two_of_one_name_last(tmp_path) -> None:
    """From a file too; who was one alone keeps the pseudonym for what nobody says."""
    first, rows = corpus(SMITH, "<John Smith> called.")
    plan = fit(first, STRICT, mentions=rows, key=KEY)
    (before,) = {
        name for one in plan.masked.documents for name in NAME.findall(one.text)
    }
    _, new = corpus("<John Smith>, born {7 June 1975}")
    later = [Passage("e0", "John Smith, born 7 June 1975")]
    plan = plan.updated(later, mentions=new).fitted
    texts = [document.text for document in plan.masked.documents]
    assert texts[1] == f"{before} called."
    assert len({*NAME.findall(" ".join(texts))}) == 3
    plan.save(tmp_path / "plan")
    again = Fitted.open(tmp_path / "plan", KEY)
    assert [document.text for document in again.masked.documents] == texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Christina M. called.", "[R] called."),
        ("Christina M called.", "[R] called."),
        ("She met Christina M.", "She met [R]"),
        ("Christina M., a baker", "[R], a baker"),
        ("christina m.'s shop", "[R]'s shop"),
        ("Christina Maier.", "Christina Maier."),
        ("Jürgen Müller", "[R]"),
        ("Mueller, Juergen", "[R]"),
        ("Juergen Mueller.", "[R]."),
        ("Jurgen Muller", "[R]"),
        ("Soren Kjaer and Kjær, Søren", "Soren Kjaer and [R]"),
        ("Smith, J. R. left.", "[R] left."),
        ("J. R. Smith.", "[R]."),
        ("Joe Lane, Jo Lane", "[R], Jo Lane"),
    ],
)
def test_a_name_goes_in_every_spelling(text: str, expected: str) -> None:
    """With the full stop of its last initial, its umlauts spelled out, and turned."""
    forms = ("Christina M", "Juergen Mueller", "Søren Kjær", "J. R. Smith", "Joe Lane")
    masker = Masker((Entity("1", "NAME", forms),), "redact")
    assert masker.replace(text).text == expected.replace("[R]", "[REDACTED]")


def test_the_local_detector_and_all_of_it() -> None:
    """As people write notes."""
    texts = masked(
        [
            "Patient Müller, Jürgen has diabetes.",
            "Juergen Mueller failed to pay his rent.",
            "Christina, a nurse, came.",
            "Christina M., a baker, called.",
            "Christina met Christina M. at the fair.",
        ]
    )
    jurgen, again = (NAME.findall(text) for text in texts[:2])
    assert jurgen == again
    assert texts[0].startswith(f"Patient {jurgen[0]} has ")
    nurse, baker = (NAME.findall(text) for text in texts[2:4])
    assert nurse != baker
    assert NAME.findall(texts[4]) == [*nurse, *baker]
    assert texts[3].startswith(f"{baker[0]}, a ")
