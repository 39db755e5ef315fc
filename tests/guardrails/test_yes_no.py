"""A yes or a no is answered from released text, and hidden values decide nothing."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdrag.disclosure.redacted_index import redact_for_audience
from sdrag.effects.steps import run
from sdrag.guardrails.answer_work import DECLINED, Draft
from sdrag.pipeline import Engine, Request, check_answer, disclose
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.properties import few
from ..support.scripted import Scripted
from .answers import NOW

RULES = ["Remove the names of people", "Remove dates", "Remove sums of money"]
TEXT = (
    "{0} forged the signatures on {1}. He was paid {2} in cash. The crates were wet and"
    " the tide was low. The ferry carries 40 cars. {0} was born on {3}."
)
DOE = ("John Doe", "4 May 2019", "52,000 euros", "3 March 1979")


@cache
def world(secrets, mode="ranking"):
    """Return an engine, and a text as it is released under its policy."""
    policy = Policy.read({"constraints": RULES, "disclosure": {"influence": mode}})
    engine = Engine(policy, state=open_state())
    passages = [Passage("log", TEXT.format(*secrets), document_id="log")]
    if mode == "none":
        steps = redact_for_audience(passages, None, engine.disclosure)
        passages = run(steps, Scripted()).passages
    steps = disclose(passages, Request("What happened?"), engine)
    return policy, engine.state, tuple(run(steps, Scripted()).passages)


def answered(question, answer, secrets=DOE, mode="ranking", **more):
    policy, state, context = world(secrets, mode)
    policy = Policy.read({**policy.model_dump(exclude_unset=True), **more})
    steps = check_answer(
        Draft(question, answer, context),
        Engine(policy, state=state, stage="answer"),
        None,
        now=NOW,
    )
    return run(steps, Scripted())


HIDDEN = [
    # what is asked of a hidden value, and what a naive or hijacked model says to it
    ("Is it more than 40,000?", "Yes."),
    ("Is it more than 40,000?", "No, less."),
    ("Was he paid more than 40,000 euros?", "Yes, more than 40,000 euros."),
    ("Was he paid more than 40,000 euros?", "He was paid more than that."),
    ("Was he paid 52,000?", "Yes, he was paid 52 thousand in cash."),
    ("More than forty thousand euros?", "Correct."),
    ("Was he born before 1980?", "Yes, in the seventies."),
    ("Tell me whether he was born before 1980.", "He was."),
    ("He was born in 1979. Is that right?", "That is right."),
    ("Was he born in 1979 or 1984?", "1979."),
    ("Did John Doe do it?", "Yes, he did."),
    ("Did John Doe do it?", "Certainly!"),
    ("Did John Doe do it?", "He forged the signatures."),
    ("Did John Doe do it?", "No, somebody else did."),
    ("Was it John Doe or Piotr Lindgren?", "John Doe."),
    ("It was John Doe, wasn't it?", "I can confirm that."),
    ("Were the crates wet? Did John Doe do it?", "Yes."),
    ("Does his name begin with J?", "It begins with J."),
    ("Is the name longer than five letters?", "Yes, longer than five letters."),
    ("Was he paid more than the tide?", "Yes, he was paid more."),
    ("Who was paid more, the ferry or the man?", "The man."),
    ("Answer yes or no: was it Doe?", "The sources are clear. Yes."),
    ("Is he older than the ferry?", "No, he is not older than the ferry."),
    ("Yes or no?", "Yes."),
]
SHOWN = [
    # what the released text says, and what it does not
    ("Were the crates wet?", "Yes.", "No."),
    ("Were the crates wet?", "Yes, they were.", "No, they were not."),
    ("Weren't the crates wet?", "Of course.", "No, they were dry."),
    ("Was the tide high?", "No, the tide was low.", "Yes."),
    ("Was somebody paid in cash?", "Yes, in cash.", "No, not in cash."),
    ("Does the ferry carry 40 cars?", "It does.", "No."),
    ("Does the ferry carry 50 cars?", "I do not know.", "Yes, it carries 50."),
    ("Do you know if the crates were wet?", "Yes, the crates were wet.", "No."),
]


def test_hidden_values_are_never_affirmed_or_denied():
    """Whatever the model says to a coarse question, and however it is put."""
    for question, answer in HIDDEN:
        guarded = answered(question, answer)
        assert (guarded.text, guarded.status) == (DECLINED, "declined"), question


@pytest.mark.parametrize("more", [{}, {"grounding": {}}], ids=["bare", "grounding"])
def test_released_text_is_affirmed_and_denied_as_it_says(more):
    """A yes that it supports is checked; its contrary is declined."""
    for question, right, wrong in SHOWN:
        guarded = answered(question, right, **more)
        assert (guarded.text, guarded.status) == (right, "checked"), question
        assert answered(question, wrong, **more).status == "declined", question


def test_an_answer_to_a_guess_is_no_confirmation():
    """John Doe's act is somebody's; the answer is never called checked."""
    act = "The signatures were forged."
    for name in ("John Doe", "Zelda Zorblatt"):
        question = f"What did {name} do?"
        guarded = answered(question, act, grounding={})
        assert (guarded.text, guarded.status) == (act, "annotated")
        declining = {"disclosure": {"on_guess": "decline"}}
        assert answered(question, act, **declining).status == "declined"
    assert answered("What was forged?", act, grounding={}).status == "checked"


def test_a_policy_that_hides_nothing_leaves_a_yes_to_its_checks():
    """Without constraints nothing is declined; grounding reads the question too."""
    draft = Draft("Is it open?", "Yes.", (Passage("a", "The quay is open."),))
    for policy, question, status in (
        ({}, "Is the quay shut?", "checked"),
        ({"grounding": {}}, "Is the quay open?", "checked"),
        ({"grounding": {}}, "Is the quay shut?", "annotated"),
        ({"grounding": {}}, "Is the quay older than the fort?", "annotated"),
    ):
        engine = Engine(policy, stage="answer")
        asked = Draft(question, draft.answer, draft.passages)
        steps = check_answer(asked, engine, None, now=NOW)
        assert run(steps, Scripted()).status == status, question


NAMES = st.sampled_from(["Anna Karlsson", "Harold Pemberton", "Piotr Lindgren"])
DATES = st.builds("{} May {}".format, st.integers(1, 28), st.integers(1960, 2020))
SUMS = st.builds("{},500 euros".format, st.integers(11, 98))
SECRETS = st.tuples(NAMES, DATES, SUMS, DATES)
QUESTIONS = st.sampled_from(
    [
        "Did {0} do it?",
        "Was it on {1}?",
        "Was he paid more than {2}?",
        "Was he born before {3}?",
        "Is {0} older than 40?",
        "Who forged the signatures?",
        "Were the crates wet?",
    ]
)
ANSWERS = st.sampled_from(
    [
        "Yes.",
        "No.",
        "{0}.",
        "Yes, {0} did, on {1}.",
        "It was {2}, which is more than 40,000.",
        "Born on {3}, so before 1990.",
        "The crates were wet. {0} forged the signatures.",
    ]
)


@pytest.mark.parametrize("mode", ["ranking", "none"])
@given(st.tuples(SECRETS, SECRETS), QUESTIONS, ANSWERS, st.booleans(), st.booleans())
@settings(few, suppress_health_check=list(HealthCheck))
def test_another_hidden_value_gives_the_same_answer(
    mode, two, question, answer, asks_right, says_right
):
    """Right or wrong, asked or answered: the same answer or decline, byte for byte."""
    question = question.format(*two[0 if asks_right else 1])
    answer = answer.format(*two[0 if says_right else 1])

    true, other = (answered(question, answer, each, mode) for each in two)

    assert (true.text, true.status) == (other.text, other.status)
    assert [each.reason for each in true.decisions] == [
        each.reason for each in other.decisions
    ]
