"""The data-set builder: six steps over any model, refusing bad articles."""

import json

import pytest

from benchmarks.suites.articles_check import check_article, load_articles
from benchmarks.suites.builder import build_articles
from sdrag.errors import ModelError, ModelReplyError

SHIPPED = load_articles()[:3]


class Author:
    """A model that writes articles of the package again."""

    def __init__(self, *, spoil=lambda article: article):
        self.prompts = []
        self._spoil = spoil
        self._current = None

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if prompt.startswith("Name "):
            return "Here you are:\n" + json.dumps(self._topics(prompt))
        if prompt.startswith("Write an article"):
            self._current = next(a for a in SHIPPED if a["title"] in prompt)
            keys = ("article_text", "constraint_to_witness_words")
            return json.dumps(self._spoil({key: self._current[key] for key in keys}))
        if prompt.endswith(self._current["article_text"]):
            return json.dumps(
                [
                    {
                        "question_text": q["raw_question_text"],
                        "answer_text": q["raw_answer_text"],
                    }
                    for q in self._current["questions"]
                ]
            )
        found = next(
            q
            for q in self._current["questions"]
            if json.dumps(q["raw_question_text"]) in prompt
        )
        return json.dumps({k: found[k] for k in ("question_text", "answer_text")})

    def asked(self, opening):
        return [p for p in self.prompts if p.startswith(opening)]

    def _topics(self, prompt):
        wanted = int(prompt.split()[1])
        new = [a for a in SHIPPED if json.dumps(a["title"]) not in prompt]
        return [
            {
                "category": a["category"],
                "title": a["title"],
                "constraints": list(a["constraint_to_witness_words"]),
            }
            for a in new[:wanted]
        ]


def test_builds_the_format(tmp_path):
    """What is built is what the suites read, and its checks pass."""
    refused = build_articles(Author(), tmp_path, count=2)
    articles = load_articles(tmp_path)

    assert refused == {}
    assert [a["title"] for a in articles] == [a["title"] for a in SHIPPED[:2]]
    assert [check_article(a) for a in articles] == [[], []]


def test_relevance_is_read_before_removal(tmp_path):
    """What a question needs is found in its raw texts, which are kept beside it."""
    build_articles(Author(), tmp_path, count=1)
    (article,) = load_articles(tmp_path)

    for built, shipped in zip(
        article["questions"], SHIPPED[0]["questions"], strict=True
    ):
        assert set(built["relevant_constraints"]) == set(
            shipped["relevant_constraints"]
        )
        assert built["raw_answer_text"] == shipped["raw_answer_text"]


def test_goes_on_where_it_was(tmp_path):
    """A second run asks only for what is missing."""
    build_articles(Author(), tmp_path, count=1)
    again = Author()

    build_articles(again, tmp_path, count=3)
    build_articles(again, tmp_path, count=2)

    assert len(load_articles(tmp_path)) == 3
    assert len(again.asked("Write an article")) == 2


def test_a_run_that_breaks_off_leaves_what_is_finished(tmp_path):
    """A model that fails ends the run; the next one loses no finished article."""
    author = Author()

    def failing(prompt):
        if "Write an article" in prompt and author.asked("Write an article"):
            raise ModelError("down")
        return author(prompt)

    with pytest.raises(ModelError):
        build_articles(failing, tmp_path, count=3)

    assert [path.name for path in tmp_path.glob("*.json")] == ["01.json"]
    build_articles(Author(), tmp_path, count=3)
    assert len(load_articles(tmp_path)) == 3


def test_refuses_what_the_checks_refuse(tmp_path):
    """An article that the checks refuse is tried again, then its topic is refused."""

    def spoil(article):
        rules = article["constraint_to_witness_words"]
        words = {rule: ["Zebedee", "Quux"] for rule in rules}
        return {**article, "constraint_to_witness_words": words}

    author = Author(spoil=spoil)
    refused = build_articles(author, tmp_path, count=2, attempts=2)
    first, second, *_ = author.asked("Write an article")

    assert list(refused) == [a["title"] for a in SHIPPED[:2]]
    assert "is not in the article" in refused[SHIPPED[0]["title"]][0]
    assert "earlier attempt was refused" not in first
    assert "is not in the article" in second
    assert len(author.asked("Write an article")) == 4
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        "[]",
        '[{"category": "c", "title": "t", "constraints": ["only one"]}]',
        '["a topic"]',
    ],
)
def test_unusable_topics_stop_the_run(tmp_path, reply):
    """Without topics there is nothing to build."""
    with pytest.raises(ModelReplyError):
        build_articles(lambda _: reply, tmp_path, count=1)
