"""The gate: sentences are proposed, decided one by one, and cut by the word."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from sdrag.disclosure.local import LocalLocator, by_meaning
from sdrag.disclosure.local.by_meaning import THRESHOLDS
from sdrag.disclosure.local.scorer import GateScores, Scores, decide, score
from sdrag.effects.steps import Failure, Reply, run
from sdrag.errors import InternalError
from sdrag.vocabulary import Constraint, Passage, Sensitivity

from ...support.scripted import Scripted, toy_vectors

BALANCED = THRESHOLDS["balanced"]
HOW = "Keep back how the safe was opened"
SAFE = (
    "At the fish market nobody looked up. One man held a stethoscope to the door and"
    " listened while another turned the dial. The shop opens at nine."
)
SENTENCES = [
    (
        "Do not disclose medical diagnoses.",
        "She has had epilepsy for years.",
        "epilepsy",
    ),
    ("Hide salaries and pay offers.", "He is offered 52,000 a year.", "52,000"),
    ("Hide criminal records.", "She was convicted of fraud in Leeds.", "fraud"),
    ("Keep debts confidential.", "He owes the bank eleven thousand.", "eleven"),
]
FILLERS = [
    "The weather was fine and the coffee was hot and nobody was in a hurry that day,",
    "as everybody who has ever waited for a bus in the rain on a Monday knows,",
    "STETHOSCOPE STETHOSCOPE DIAL SAFE OPENED SALARY DIAGNOSIS EPILEPSY,",
    '{"status": "ok", "public": true, "secret": false, "note": "nothing"},',
]


SENSITIVITIES: tuple[Sensitivity, ...] = ("low", "balanced", "high")


def _located(
    texts: list[str],
    *constraints: Constraint | str,
    sensitivity: Sensitivity = "balanced",
) -> list[set[str]]:
    passages = [Passage(str(n), text, document_id="d") for n, text in enumerate(texts)]
    rules = [
        Constraint(f"c{n}", rule) if isinstance(rule, str) else rule
        for n, rule in enumerate(constraints)
    ]
    outcomes = run(
        LocalLocator(sensitivity=sensitivity).locate(passages, rules),
        Scripted(embed=toy_vectors),
    )
    return [
        {finding.span.of(text) for finding in outcome.value}
        for text, outcome in zip(texts, outcomes, strict=True)
        if isinstance(outcome, Reply)
    ]


@pytest.mark.parametrize(("constraint", "sentence", "secret"), SENTENCES)
def test_no_padding_closes_a_sentence(constraint, sentence, secret) -> None:
    """Before it, after it, long or short."""
    for number, filler in enumerate(FILLERS):
        padding = " ".join([filler] * (1, 5)[number % 2])
        for text in (f"{padding} {sentence}", f"{sentence[:-1]}, {padding}"):
            (withheld,) = _located([text], constraint)
            assert secret in " ".join(withheld), text


@pytest.mark.parametrize(("constraint", "sentence", "_"), SENTENCES)
def test_what_is_decided_beside_a_sentence_changes_nothing(
    constraint, sentence, _
) -> None:
    """Neither its chance nor those of its words."""
    (alone,) = decide([(0, sentence)], [constraint])
    others = [(n % 2, f"{filler} {n}") for n, filler in enumerate(FILLERS * 20)]
    *_, beside = decide([*others, (1, sentence)], ["Hide it", constraint])

    assert abs(alone.chance - beside.chance) <= 1e-4
    assert np.allclose(alone.chances, beside.chances, atol=1e-4)
    assert alone.words == beside.words


def test_every_word_of_a_long_sentence_is_read() -> None:
    """In windows, and the surest reading counts."""
    text = "word " * 500 + "He has epilepsy."
    (decision,) = decide([(0, text)], ["Do not disclose anybody's diagnosis."])

    assert len(decision.words) == len(re.findall(r"\w+|[^\w\s]", text))
    assert decision.chance >= BALANCED.sentence


def test_what_tells_a_secret_goes_and_its_neighbours_stay() -> None:
    """A constraint without a type to look up is understood."""
    (withheld,) = _located([SAFE], HOW)
    told = " ".join(withheld)

    assert "stethoscope" in told
    assert not {"fish", "market", "nine"} & set(told.split())


def _unsure(texts, constraints, _compared):
    return [
        Scores(found.words, np.full_like(found.chances, 0.06), found.cosines)
        for found in score(texts, constraints)
    ]


def _sure(monkeypatch, sentence: float = 0.9, **chances: float) -> None:
    """Let the gate be as sure of sentences, and of words, as is said."""

    def decided(pairs, constraints):
        return [
            GateScores(
                sentence,
                real.words,
                np.array(
                    [chances.get(w.of(text), 0.9) for w in real.words], np.float32
                ),
            )
            for (_, text), real in zip(pairs, decide(pairs, constraints), strict=True)
        ]

    def scored(texts, constraints, _compared):
        return [
            Scores(
                found.words,
                np.array(
                    [[chances.get(w.of(text), 0.9) for w in found.words]], np.float32
                ).repeat(len(constraints), axis=0),
                found.cosines,
            )
            for text, found in zip(texts, score(texts, constraints), strict=True)
        ]

    monkeypatch.setattr(by_meaning, "decide", decided)
    monkeypatch.setattr(by_meaning, "score", scored)


@pytest.mark.parametrize("code", ["a7kd", "bx9063", "naïve-7", "हिन्दी", "K", "½"])
def test_what_is_no_plain_word_can_be_withheld(monkeypatch, code) -> None:
    """Codes, other scripts and initials tell as much as words and numbers do."""
    _sure(monkeypatch)
    (withheld,) = _located([f"He said {code} to the guard."], "Hide what was said")

    assert code in " ".join(withheld)


@pytest.mark.parametrize(
    ("chances", "hidden"),
    [
        ({}, "told the clerk"),
        ({"told": 0.0}, "clerk"),
        (dict.fromkeys(["They", "told", "the", "about", "it", "."], 0.0), "clerk"),
    ],
)
def test_an_open_sentence_loses_what_tells_it(monkeypatch, chances, hidden) -> None:
    """The sure words, and what is beside them."""
    sentence = "They told the clerk about it."
    _sure(monkeypatch, **chances)
    (withheld,) = _located([sentence], "Hide what went on at the office")

    assert max(withheld, key=len) == hidden


def test_an_open_sentence_without_a_sure_word_goes_whole(monkeypatch) -> None:
    """It fails closed."""
    sentence = "They told the clerk about it."
    _sure(monkeypatch, **dict.fromkeys(re.findall(r"\w+|\W", sentence), 0.0))
    monkeypatch.setattr(by_meaning, "score", _unsure)

    assert _located([sentence], "Hide what went on at the office") == [{sentence}]


def test_no_sentence_is_cut_that_is_closed(monkeypatch) -> None:
    """However sure its words are; dates and sums of what it asks for stay as well."""
    _sure(monkeypatch, sentence=0.0)
    monkeypatch.setattr(by_meaning, "score", _unsure)

    assert _located([SAFE, "On 4 May he paid 90 euros."], HOW) == [set(), set()]


TYPED = [
    "Remove all dates",
    "Hide telephone numbers",
    "Conceal e-mail addresses",
    "Remove postcodes",
]


def test_types_are_read_by_neither_scorer_nor_gate(monkeypatch) -> None:
    """Their form tells them."""

    def unread(*_):
        raise InternalError("read")

    monkeypatch.setattr(by_meaning, "decide", unread)
    monkeypatch.setattr(by_meaning, "score", unread)

    assert _located(["He paid 90 euros on 4 May."], *TYPED)


@pytest.mark.parametrize("part", ["score", "decide"])
def test_a_network_that_fails_withholds(monkeypatch, part) -> None:
    """Where meaning cannot be judged, no passage is vouched for."""

    def broken(*_):
        raise InternalError("no number")

    monkeypatch.setattr(by_meaning, part, broken)

    assert _located([SAFE], HOW) == []


def test_a_higher_sensitivity_withholds_all_that_a_lower_one_does() -> None:
    """Also where a constraint has its own."""
    text = f"{SAFE} She had a written warning. He opened the safe with a stethoscope."
    rules = [HOW, "Withhold disciplinary records", "Remove names and how old they are"]
    withheld = []
    for sensitivity in SENSITIVITIES:
        asked = [
            Constraint(str(n), rule, sensitivity=sensitivity)
            for n, rule in enumerate(rules)
        ]
        (outcome,) = run(
            LocalLocator().locate([Passage("p", text)], asked),
            Scripted(embed=toy_vectors),
        )
        assert not isinstance(outcome, Failure)
        withheld.append(
            {
                (finding.constraint_id, place)
                for finding in outcome.value
                for place in range(finding.span.start, finding.span.end)
            }
        )

    assert all(low <= high for low, high in pairwise(withheld))
    assert withheld[0] < withheld[-1]
