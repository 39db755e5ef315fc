"""Patterns of the policy: a type of values of one's own, hidden by its name."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from sdrag import Policy, PolicyError
from sdrag.detectors import detector_identity
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import not_understood
from sdrag.disclosure.unsupported import find_unsupported
from sdrag.effects.steps import run
from sdrag.errors import ConstraintNotUnderstoodError
from sdrag.linkage import fit
from sdrag.pipeline import Engine, Request, disclose
from sdrag.placeholders import DEFAULT
from sdrag.studio.authoring.understood_as import effects_of
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted

BAY = {"name": "zephyr bay", "pattern": r"ZX-?[A-Z]{4}"}
STAFF = {"name": "employee number", "pattern": r"EMP-(\d{5})"}
ROOM = {"name": "site key", "pattern": r"site ([a-z]+) \d", "group": 1}
CUED = {**BAY, "cues": ["bay", "store"]}
JSON = '{"emp": "EMP-12345", "note": "in ZXABCD", "n": 5}'
CSV = "emp,where,pay\nEMP-12345,ZXABCD,30\nEMP-23456,ZXQQQQ,40\n"


def policy(*patterns: dict[str, Any], constraint: str, **others: Any) -> dict[str, Any]:
    return {"constraints": [constraint], "patterns": list(patterns), **others}


def release(source: Any, text: str, state: Any = None) -> str:
    engine = Engine(source, state=state)
    passage = Passage("p", text, document_id="d")
    released, _ = engine.run(disclose([passage], Request("q"), engine))
    return "\n".join(each.text for each in released.passages)


@pytest.mark.parametrize(
    ("patterns", "constraint", "text", "shown"),
    [
        ([STAFF], "Hide employee numbers", "Ask EMP-12345.", "Ask [employee-number]."),
        ([STAFF], "No employee number", "Ask emp-12345.", "Ask [employee-number]."),
        (
            [BAY],
            "Hide Zephyr bays and dates",
            "On 3 May 2024 to ZXABCD.",
            "On [date] to [zephyr-bay].",
        ),
        (
            [BAY, STAFF],
            "Never disclose zephyr-bays or employee numbers",
            "EMP-12345 is at ZXABCD.",
            "[employee-number] is at [zephyr-bay].",
        ),
        ([ROOM], "Hide site keys", "At site kestrel 4.", "At site [site-key] 4."),
        (
            [CUED],
            "Hide zephyr bays",
            f"In the store ZXABCD.{' Nothing more.' * 5} There was ZXEFGH.",
            f"In the store [zephyr-bay].{' Nothing more.' * 5} There was ZXEFGH.",
        ),
        # A dash and digits of other scripts are the same value.
        (
            [STAFF],
            "Hide employee numbers",
            "\uff25\uff2d\uff30\u201312345",
            "[employee-number]",
        ),
        # No key and no border of a cell goes with a value.
        (
            [STAFF, BAY],
            "Hide employee numbers and zephyr bays",
            JSON,
            '{"emp": "[employee-number]", "note": "in [zephyr-bay]", "n": 5}',
        ),
        (
            [{"name": "row", "pattern": r"(?s)EMP-\d+\W+ZX\w+|where: ZX\w+"}],
            "Hide rows",
            CSV,
            CSV.replace("ZXABCD", "[row]").replace("ZXQQQQ", "[row]"),
        ),
    ],
)
def test_what_a_named_pattern_matches_goes_and_nothing_else(
    patterns, constraint, text, shown
):
    """Under its name; with other types in one sentence; in texts and structures."""
    assert release(policy(*patterns, constraint=constraint), text) == shown


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ({"pattern": "(secret"}, "no pattern in the syntax of RE2"),
        ({"pattern": "(secret){999}{99}"}, "no pattern in the syntax of RE2"),
        ({"pattern": r"secret|(?=\d)"}, "no pattern in the syntax of RE2"),
        ({"pattern": "(secret)?"}, "the empty string"),
        ({"pattern": r"\b"}, "the empty string"),
        ({"pattern": r"\w+"}, "most of a page"),
        ({"pattern": "[A-Z][a-z]*"}, "most of a page"),
        ({"pattern": "(?s).{1,50}"}, "most of a page"),
        ({"pattern": r"secret (\d+)", "group": 2}, "no group 2"),
        ({"pattern": "secret", "name": "other"}, "no constraint names pattern 1"),
    ],
)
def test_what_would_hide_nothing_or_everything_is_refused(pattern, problem):
    """When the policy is read, without a word of the pattern."""
    given = {"name": "berth", **pattern}

    with pytest.raises(PolicyError, match=problem) as raised:
        Policy.read(policy(given, constraint="Hide berths"))

    assert "secret" not in f"{raised.value} {raised.value.hint}"


def test_a_name_of_no_pattern_is_not_taken_for_one():
    """Nothing would be found under it."""
    assert parse(Constraint("c", "Hide own patterns")).status == "needs_model"
    with pytest.raises(ConstraintNotUnderstoodError):
        Engine(["Hide own patterns"])


@pytest.mark.parametrize(
    ("name", "constraint", "hidden"),
    [
        ("name", "Remove names of people", "Jonathan Meyers"),
        ("name", "Remove names of people and how the safe was opened", "Meyers"),
        ("number", "Hide phone numbers", "7946"),
        ("date", "Hide dates of birth", "1984"),
        ("order", "Hide court orders", "court order"),
    ],
)
def test_a_name_only_adds_to_what_a_constraint_hides(name, constraint, hidden):
    """Whatever word a pattern is called by."""
    text = (
        "Jonathan Meyers, born 3 May 1984, has QX-7. Call 020 7946 0018. The judge made"
    )
    text += " a court order against him."
    source = policy({"name": name, "pattern": r"QX-\d"}, constraint=constraint)

    shown = release(source, text)

    assert hidden not in shown
    assert "QX-7" not in shown


def test_what_a_constraint_excepts_its_pattern_does_not_hide():
    """The name is in the exception alone."""
    source = policy(BAY, constraint="Hide dates and codes but not zephyr bays")
    parsed = parse(Policy.read(source).rules[0])

    assert parsed.status == "needs_model" or "PATTERN" not in parsed.types


def test_a_changed_pattern_is_looked_for_anew(tmp_path):
    """What was located under the one before is no answer; and no repr has it."""
    state, text = tmp_path / "state.sqlite", "It is in ZXABCD or in PRQUAY."
    before = policy(BAY, constraint="Hide zephyr bays")
    after = policy({**BAY, "pattern": "PR[A-Z]{4}"}, constraint="Hide zephyr bays")
    read = [Policy.read(each) for each in (before, after)]

    assert release(before, text, state) == "It is in [zephyr-bay] or in PRQUAY."
    assert "PRQUAY" not in release(after, text, state)
    assert read[0].hash != read[1].hash
    assert "ZX" not in repr([each.rules[0].patterns for each in read])


@pytest.mark.parametrize(
    ("text", "pattern", "stays"),
    [
        ("Ticket INC-4412-A is open.", r"INC-\d+-[A-Z]", True),
        ("Ticket INC-4412-A is open.", r"INC-\d", False),  # half a code
        ("Card 4111 1111 1111 1111.", r"[\d ]+\d", False),
        ("Pay to GB29 NWBK 6016 1331 9268 19.", r"GB[\w ]+\d", False),
        ("NHS number 943 476 5919.", r"\d{3} \d{3} \d{4}", False),
        ("Mail ann.lee@corp.example.", r"[\w.]+@[\w.]+\w", False),
        ("The password is kQ7-rr2.", r"\w{3}-\w{3}", False),
        ("She is EMP-12345.", r"EMP-\d+", True),  # of the policy's own pattern
    ],
)
def test_a_pattern_of_keep_frees_codes_and_no_identifier_with_a_check_digit(
    text, pattern, stays
):
    """Its author spelled them; what else shows its type by its form stays hidden."""
    constraint = {
        "text": "Remove all codes, employee numbers, credentials, account numbers and"
        " e-mail addresses",
        "keep": {"pattern": pattern},
    }

    shown = release({"constraints": [constraint], "patterns": [STAFF]}, text)

    assert (shown == text) == stays


def test_what_a_constraint_names_itself_stays_hidden():
    """No pattern of `keep` frees it."""
    constraint = {"text": 'Hide "INC-4412"', "keep": {"pattern": r"INC-\d+"}}

    assert "4412" not in release({"constraints": [constraint]}, "See INC-4412 today.")


def test_an_answer_may_not_guess_a_value():
    """What a pattern matches in it and its context does not hold is cut."""
    source = Policy.read(policy(BAY, constraint="Hide zephyr bays"))
    context = [Passage("p", "It was moved to [zephyr-bay].")]

    steps = find_unsupported("It is in ZXABCD now.", context, source, None, DEFAULT)

    assert [span.of("It is in ZXABCD now.") for span in run(steps, Scripted())] == [
        "ZXABCD"
    ]


def test_its_values_link_documents_too(tmp_path):
    """As codes: masked where they tell too much, in any process, and in no repr."""
    by_form = {"meaning": False, "terms": False}
    section = {"max_document_risk": 0.0, "resolution": by_form}
    source = {"patterns": [BAY], "linkage": section}
    detector = Engine(source, stage="mask").detector
    documents = [Passage(name, f"It is in ZXABCD, {name}.") for name in ("one", "two")]

    sent = pickle.loads(pickle.dumps(detector))  # noqa: S301 -- our own
    fitted = fit(documents, source, sent)

    assert all("ZXABCD" not in each.text for each in fitted.masked.documents)
    assert "ZX" not in repr(detector)
    assert "ZX" in detector_identity(detector)


def test_its_author_reads_what_it_does():
    """Without a model, in any language; `sdrag check` says that a pattern is meant."""
    source = Policy.read(policy(BAY, constraint="Hide zephyr bays", languages=["de"]))
    german = "Das Fahrrad steht seit gestern wieder in ZXABCD bei den anderen."

    assert not not_understood(source)
    assert effects_of(parse(source.rules[0])) == [
        "hides what the pattern “zephyr bay” matches"
    ]
    assert release(source, german) == german.replace("ZXABCD", "[zephyr-bay]")
    english = source.model_copy(update={"languages": ("en",)})
    assert release(english, german) == german.replace("ZXABCD", "[zephyr-bay]")
