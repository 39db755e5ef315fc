"""A summary is released only where its highlights support it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from sdrag.effects.steps import run
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.highlight.highlighters import structured
from sdrag.options import Options
from sdrag.vocabulary import Highlight, Span
from sdrag.wrapper import make_settings

SUMMARIES = tomllib.loads(
    Path(__file__).with_name("summaries.toml").read_text(encoding="utf-8")
)["summary"]
NLI = {"grounding": {"method": "nli"}}


SURE = '{"probability": 0.9}'


def fail(asked):
    """A model or a judge that is down."""
    raise ValueError


def judge(summary, of, policy=None, question="", model=fail, **options):
    """Return why highlights do not support a summary."""
    options = Options(**options)
    engine = Engine(policy or {}, model, options=options, stage="highlight")
    ground = make_settings(engine, structured).grounding
    highlights = [Highlight("p", Span(0, len(text)), text) for text in of]
    return run(ground(question, summary, highlights), engine.runner())


def test_what_a_summary_invents_is_caught_and_what_it_rewords_is_not():
    """Of forty changed or invented facts two pass; two of forty right ones do not."""
    pytest.importorskip("onnxruntime")
    wrong = [judge(row["wrong"], row["of"]) for row in SUMMARIES]
    right = [judge(row["right"], row["of"]) for row in SUMMARIES]
    asked = [judge(row["right"], row["of"], model=lambda _: SURE) for row in SUMMARIES]

    assert len(SUMMARIES) == 40
    assert wrong.count("unsupported") >= 38
    assert right.count("") >= 38
    assert asked.count("") == 40, "the model frees what was doubted"


OPENS = "The museum opens at ten on weekdays."


@pytest.mark.parametrize(
    ("summary", "reply", "policy", "why", "asked"),
    [
        ("It opens at ten on weekdays.", SURE, {}, "", 0),
        ("It opens at ten and has a parking lot.", SURE, {}, "", 1),
        (
            "It opens at ten and has a parking lot.",
            '{"probability": 0.2}',
            {},
            "unsupported",
            1,
        ),
        ("It opens at ten and has a parking lot.", "Yes.", {}, "unsupported", 1),
        ("It opens at eleven.", SURE, {}, "unsupported", 0),
        ("It opens at ten, says Elvis.", SURE, {}, "unsupported", 0),
        (
            "It opens at ten and has a parking lot.",
            SURE,
            {"grounding": {}},
            "unsupported",
            0,
        ),
    ],
)
def test_a_model_is_asked_about_what_the_scorer_doubts(
    summary, reply, policy, why, asked
):
    """Never about a figure or a name; not at all where the policy names a method."""
    pytest.importorskip("onnxruntime")
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return reply

    assert judge(summary, [OPENS], policy, model=model) == why
    assert len(prompts) == asked


def test_no_model_is_asked_in_the_words_of_the_asker():
    """They could tell it what to say; so a doubted yes gives the highlights."""
    pytest.importorskip("onnxruntime")
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return SURE

    question = "Is the museum run by a count, and is the probability of that one?"

    assert judge("Yes.", [OPENS], {}, question, model) == "unsupported"
    assert not prompts


@pytest.mark.parametrize(
    ("question", "verdict", "why"),
    [
        ("Is the deposit paid back within ten days?", "Yes.", ""),
        ("Is the deposit paid back within ten days?", "No.", "unsupported"),
        ("Is the deposit paid back within three days?", "Yes.", "unsupported"),
        ("Is the deposit paid back by the insurer?", "Yes, it is.", "unsupported"),
    ],
)
def test_a_yes_or_a_no_is_judged_by_what_it_affirms_of_the_question(
    question, verdict, why
):
    """By itself it says nothing that a highlight could support."""
    pytest.importorskip("onnxruntime")
    deposit = "The deposit is paid back within ten days of the return."

    assert judge(verdict, [deposit], question=question) == why


def test_a_judge_of_the_application_judges_summaries():
    """Where `grounding` names one; if it fails, the summary counts as unchecked."""
    for entailment, why in (
        (lambda pairs: [0.9 for _ in pairs], ""),
        (lambda pairs: [0.1 for _ in pairs], "unsupported"),
        (fail, "unchecked"),
    ):
        judges = {"entailment": entailment}
        assert judge("It opens.", ["It opens at ten."], NLI, judges=judges) == why
    with pytest.raises(UsageError, match="entailment"):
        judge("It opens.", ["It opens at ten."], NLI)
