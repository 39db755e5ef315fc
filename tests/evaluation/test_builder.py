"""The data-set builder: six steps over any model, resumable, refusing bad articles."""

import json

import pytest

from sdrag.errors import ModelReplyError
from sdrag.evaluation.articles_check import check_article, load_articles
from sdrag.evaluation.builder import build_articles

SHIPPED = [
    article
    for article in load_articles()
    if all("raw_question_text" in q for q in article["questions"])
][:2]


class Author:
    """A model that writes articles of the package again."""

    def __init__(self, *, spoil=lambda article: article):
        self.prompts = []
        self._spoil = spoil
        self._current = None

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if prompt.startswith("Name "):
            return "Here you are:\n" + json.dumps(
                [
                    {
                        "category": a["category"],
                        "title": a["title"],
                        "constraints": list(a["constraint_to_witness_words"]),
                    }
                    for a in SHIPPED
                ]
            )
        if prompt.startswith("Write an article"):
            self._current = next(a for a in SHIPPED if a["title"] in prompt)
            keys = ("article_text", "constraint_to_witness_words")
            return json.dumps(self._spoil({key: self._current[key] for key in keys}))
        if prompt.startswith("Write five questions"):
            return json.dumps(
                [
                    {"question_text": q["raw_question_text"], "answer_text": raw}
                    for q in self._current["questions"]
                    for raw in [q["raw_answer_text"]]
                ]
            )
        found = next(
            q
            for q in self._current["questions"]
            if json.dumps(q["raw_question_text"]) in prompt
        )
        return json.dumps({k: found[k] for k in ("question_text", "answer_text")})


def test_builds_the_format(tmp_path):
    """What is built is what the suites read, and its checks pass."""
    told = []
    built = build_articles(
        Author(), tmp_path, count=2, progress=lambda *done: told.append(done)
    )
    articles = load_articles(tmp_path)

    assert built.refused == ()
    assert [a["title"] for a in articles] == [a["title"] for a in SHIPPED]
    assert [check_article(a) for a in articles] == [[], []]
    assert told == [(1, 2), (2, 2)]


def test_goes_on_where_it_was(tmp_path):
    """A second run asks only for what is missing."""
    build_articles(Author(), tmp_path, count=2)
    (tmp_path / "02.json").unlink()
    again = Author()

    built = build_articles(again, tmp_path, count=2)

    assert len(built.paths) == 2
    assert sum(p.startswith("Write an article") for p in again.prompts) == 1
    assert not any(p.startswith("Name ") for p in again.prompts)


def test_refuses_what_the_checks_refuse(tmp_path):
    """An article that the checks refuse is tried again, then its topic is refused."""

    def spoil(article):
        rules = article["constraint_to_witness_words"]
        words = {rule: ["Zebedee", "Quux"] for rule in rules}
        return {**article, "constraint_to_witness_words": words}

    author = Author(spoil=spoil)
    built = build_articles(author, tmp_path, count=2, attempts=2)

    assert built.paths == ()
    assert len(built.refused) == 2
    assert sum(p.startswith("Write an article") for p in author.prompts) == 4
    assert not list(tmp_path.glob("*.json"))


def test_unreadable_topics_stop_the_run(tmp_path):
    """Without topics there is nothing to build."""
    with pytest.raises(ModelReplyError):
        build_articles(lambda _: "I cannot help with that.", tmp_path)
