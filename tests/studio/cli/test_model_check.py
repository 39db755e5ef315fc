"""`sdrag model-check`: what a model is of use for, in figures and in sentences."""

from __future__ import annotations

from benchmarks.suites.scripted.exact import ExactModel
from benchmarks.suites.scripted.witness_words import Protected
from sdrag.disclosure.model.forms import Spans
from sdrag.framework import Model
from sdrag.policy import Policy
from sdrag.studio.evaluation.articles import Article
from sdrag.studio.evaluation.model_check import check_model

RULE = "Remove names of captains"
REASON = "Do not say why the ship was late"
TEXT = "Captain Vexborough was late. He had overslept. The old chapel opens at six."
SECRETS = {RULE: ["Vexborough"], REASON: ["overslept"]}
ARTICLE = Article(TEXT, SECRETS, (), {}, "a")
POLICY = Policy.read({"constraints": [RULE, REASON], "when_not_understood": "withhold"})


def test_a_model_that_is_right_is_of_use():
    """It hides what no rule understands, and the figures stand next to none at all."""
    exact = ExactModel([Protected(SECRETS, TEXT)])

    checked = check_model(POLICY, [ARTICLE], Model(exact))

    assert checked["hidden"][RULE] == {"secrets": 1, "local": 1, "model": 1}
    assert checked["usable_replies"] == 1.0
    assert not checked["model_failures"]
    assert checked["calls_a_question"] > 0
    assert checked["harmless_withheld"]["model"] < 0.2


def test_a_model_that_fails_is_left_out():
    """The figures are the local engine's own, and the verdict says so."""

    def fails(_prompt):
        raise ConnectionError

    checked = check_model(POLICY, [ARTICLE], Model(fails))

    assert checked["usable_replies"] == 0.0
    for row in checked["hidden"].values():
        assert row["model"] == row["local"]
    assert "Leave this policy to the local engine." in checked["verdict"]


def test_a_small_model_is_recommended_to_be_asked_as_one():
    """One that answers a flat list alone is left out until it is asked for that."""
    exact = ExactModel([Protected(SECRETS, TEXT)])

    def flat(prompt):
        return exact(prompt) if prompt.reply_format is Spans else ""

    left_out = check_model(POLICY, [ARTICLE], Model(flat))
    section = POLICY.disclosure.model_copy(update={"small_model": True})
    asked = POLICY.model_copy(update={"disclosure": section})
    checked = check_model(asked, [ARTICLE], Model(flat))

    assert "small_model" in left_out["verdict"]
    assert "small_model" not in checked["verdict"]
    assert checked["usable_replies"] == 1.0
    assert checked["hidden"][REASON]["model"] == 1


def test_no_article_is_begun_when_time_is_up():
    checked = check_model(POLICY, [ARTICLE] * 3, Model(lambda _: ""), seconds=0)

    assert checked["articles"] == 1
