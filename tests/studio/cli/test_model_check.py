"""`sdrag model-check`: what a model is of use for, in figures and in sentences."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from benchmarks.suites.scripted.exact import ExactModel
from benchmarks.suites.scripted.witness_words import Protected
from sdrag.errors import UsageError
from sdrag.framework import Model
from sdrag.policy import Policy
from sdrag.studio.cli.app import app
from sdrag.studio.evaluation.articles import Article
from sdrag.studio.evaluation.model_check import check_model

from ...support import openai_server as server

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


def test_no_article_is_begun_when_time_is_up():
    checked = check_model(POLICY, [ARTICLE] * 3, Model(lambda _: ""), seconds=0)

    assert checked["articles"] == 1


@pytest.mark.parametrize(("fault", "cause"), [(None, ""), (server.prose, "no-verdict")])
def test_the_command_ends_with_1_where_the_model_failed(
    fault, cause, tmp_path, monkeypatch
):
    """Over a real wire, with the articles of `sdrag init`."""
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"constraints": ["Remove names of witnesses"]}))
    with server.openai_server("Jonathan", "Meyers") as wire:
        monkeypatch.setenv("OPENAI_BASE_URL", wire.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        wire.faults = [fault] if fault else []

        done = CliRunner().invoke(
            app, ["model-check", str(path), "--llm", "langchain:openai:any", "--json"]
        )

    result = json.loads(done.stdout.splitlines()[-1])
    assert done.exit_code == bool(fault), done.output
    assert (cause in result["model_failures"]) == bool(fault)
    assert f"verdict: {result['verdict']}" in done.stdout
    assert "Meyers" not in done.output


def test_there_has_to_be_a_model(tmp_path):
    (tmp_path / "p.json").write_text('{"constraints": ["Hide dates"]}')

    done = CliRunner().invoke(app, ["model-check", str(tmp_path / "p.json")])

    assert isinstance(done.exception, UsageError)
