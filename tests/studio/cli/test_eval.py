"""`sdrag eval`: what is measured on a user's own articles, and the gate of a build."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from benchmarks.suites.scripted.exact import ExactModel
from sdrag.errors import UsageError
from sdrag.framework import Model
from sdrag.policy import Policy
from sdrag.studio.cli.app import app
from sdrag.studio.evaluation.articles import read_articles
from sdrag.studio.evaluation.disclosed import evaluate

NAMES = "Remove names of witnesses"
TEXT = (
    "The witness, Jonathan Meyers, saw a grey van at dawn. Meyers wrote down its "
    "plate. The van was found in the harbour by a fisherman. Nobody was hurt."
)
ARTICLE = {
    "article_text": TEXT,
    "constraint_to_witness_words": {
        "names": ["Jonathan", "Meyers"],
        "find": ["fisherman"],
    },
    "questions": [
        {
            "question_text": "What was seen at dawn?",
            "answer_text": "A grey van was seen at dawn.",
            "relevant_constraints": ["names"],
        },
        {
            "question_text": "Where was the van found?",
            "answer_text": "It was found in the harbour.",
            "relevant_constraints": ["names", "find"],
        },
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(f"constraints:\n- {NAMES}\n")
    (tmp_path / "articles.json").write_text(json.dumps([ARTICLE]))
    return tmp_path


def typed(*options):
    return CliRunner().invoke(app, ["eval", "policy.yaml", "articles.json", *options])


def test_the_figures_are_those_of_the_paper(folder):
    """The names are kept, and the fisherman, whom no constraint names, is not."""
    result = typed("--json")

    assert "leaks: find: 2" in result.output
    assert not [w for w in ("Meyers", "fisherman", "van") if w in result.output]
    figures = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == 0
    assert figures["privacy"] == 0.75  # 1 of 1, and 1 of 2
    assert figures["privacy_cumulative"] == 0.5
    assert figures["leaks"] == {"find": 2}  # every chunk is retrieved both times
    assert figures["questions"] == 2
    assert 0.5 < figures["completeness"] <= 1.0
    assert 0.0 <= figures["over_redacted"] < 0.5


def test_a_leak_is_quoted_on_a_terminal_alone(folder, monkeypatch):
    """With article, question and word; a log has numbers, and is told so."""
    in_a_log = typed().output
    monkeypatch.setattr("sdrag.studio.cli.eval.sys", Terminal())

    shown, as_json = typed().output, typed("--json").output

    for number in (1, 2):
        leak = f"leaked: articles-1, question {number}"
        question = ARTICLE["questions"][number - 1]["question_text"]
        assert f"{leak}: 1 of find" in in_a_log
        assert f"{leak}, “{question}”: “fisherman” (find)" in shown
    assert "fisherman" not in in_a_log + as_json
    assert "shown on a terminal" in in_a_log
    assert "written nowhere else" in shown


class Terminal:
    stdout = type("Stdout", (), {"isatty": staticmethod(lambda: True)})


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--fail-under", "privacy=0.75"], 0),
        (["--fail-under", "privacy=.76"], 1),
        (["--fail-over", "over_redacted=0.5", "--fail-under", "completeness=0.1"], 0),
        (["--fail-over", "privacy=0.7"], 1),
        (["--fail-under", "privacy"], 2),
        (["--fail-under", "beauty=0.5"], 2),
    ],
)
def test_a_figure_out_of_bounds_fails_the_build(folder, options, status):
    """The exit status is 1, or 2 where the bound says nothing."""
    assert typed(*options).exit_code == status


def test_a_model_redacts_where_one_is_given(folder):
    """It knows who found the van, which nothing but a model can understand."""
    who = "Hide who found the van"
    model = ExactModel({NAMES: ["Jonathan", "Meyers"], who: ["fisherman"]})

    figures = evaluate(
        Policy.read({"constraints": [NAMES, who]}),
        read_articles(folder / "articles.json"),
        llm=Model(model, "exact"),
    )

    assert figures["privacy"] == figures["privacy_cumulative"] == 1.0
    assert not figures["leaks"]


def test_where_limits_a_constraint_to_the_metadata_of_an_article(folder):
    """The metadata of an article is that of its chunks."""
    rule = {"text": NAMES, "where": {"case": ["c-1"]}}
    for case, privacy in (("c-1", 0.75), ("c-2", 0.0)):
        article = ARTICLE | {"metadata": {"case": case}}
        (folder / "articles.json").write_text(json.dumps(article))
        articles = read_articles(folder / "articles.json")

        figures = evaluate(Policy.read({"constraints": [rule]}), articles)

        assert figures["privacy"] == privacy


def test_articles_are_read_from_a_list_from_lines_and_from_a_folder(folder):
    """All forms hold the same articles."""
    (folder / "lines.jsonl").write_text(f"{json.dumps(ARTICLE)}\n\n" * 2)
    expected = read_articles(folder / "articles.json")

    assert len(read_articles(folder / "lines.jsonl")) == 2
    assert len(read_articles(folder)) == 3
    assert expected[0].text == TEXT


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"article_text": " "}, "article_text"),
        ({"constraint_to_witness_words": ["Meyers"]}, "constraint_to_witness_words"),
        ({"constraint_to_witness_words": {"grey": []}}, "constraint_to_witness_words"),
        ({"constraint_to_witness_words": {"names": ["Mayers"]}}, "constraint 1"),
        ({"questions": []}, "questions"),
        ({"questions": [{"question_text": "Who?"}]}, "questions.0.answer_text"),
        (
            {"questions": [ARTICLE["questions"][0] | {"relevant_constraints": ["x"]}]},
            "question 1",
        ),
        ({"metadata": "case"}, "metadata"),
    ],
)
def test_a_broken_article_is_named_and_never_quoted(folder, change, problem):
    """The file, the number and the key, but no text."""
    (folder / "articles.json").write_text(json.dumps([ARTICLE, ARTICLE | change]))

    with pytest.raises(UsageError) as refused:
        read_articles(folder / "articles.json")

    assert "articles-2" in str(refused.value)
    assert problem in str(refused.value)
    assert "Mayers" not in str(refused.value)
    assert "grey" not in str(refused.value)


def test_what_holds_no_article_is_refused(folder):
    """A file that is no JSON, an empty list, a text."""
    for content in ("[", "[" * 100_000, "[]", "\n", '"text"'):
        (folder / "articles.json").write_text(content)

        with pytest.raises(UsageError):
            read_articles(folder / "articles.json")
