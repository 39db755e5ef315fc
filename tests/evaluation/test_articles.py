"""The articles of the `rcqa` suite keep their rules, and the rules are kept."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.suites.articles_check import check_article, load_articles
from sdrag.errors import UsageError

Article = dict[str, Any]
ARTICLES = load_articles()
TITLES = [article["title"] for article in ARTICLES]


def constraint(article: Article, index: int) -> str:
    table: dict[str, list[str]] = article["constraint_to_witness_words"]
    return list(table)[index]


def words(article: Article, index: int) -> list[str]:
    table: dict[str, list[str]] = article["constraint_to_witness_words"]
    return table[constraint(article, index)]


def question(article: Article, index: int) -> dict[str, Any]:
    found: dict[str, Any] = article["questions"][index]
    return found


def rename(article: Article, index: int, text: str) -> None:
    """Give a constraint another text, wherever it stands."""
    old = constraint(article, index)
    table = article["constraint_to_witness_words"]
    article["constraint_to_witness_words"] = {
        text if key == old else key: value for key, value in table.items()
    }
    for one in article["questions"]:
        one["relevant_constraints"] = [
            text if key == old else key for key in one["relevant_constraints"]
        ]


class TestShipped:
    @pytest.mark.parametrize("article", ARTICLES, ids=TITLES)
    def test_sound(self, article: Article) -> None:
        """Every article that ships keeps every rule."""
        assert check_article(article) == []

    def test_counts(self) -> None:
        """There are 20 articles with 120 constraints, as in the paper."""
        texts = [
            text
            for article in ARTICLES
            for text in article["constraint_to_witness_words"]
        ]

        assert len(ARTICLES) == 20
        assert len(texts) == 120

    def test_constraints_differ(self) -> None:
        """No constraint is said in the same words in two articles."""
        texts = [
            text.casefold()
            for article in ARTICLES
            for text in article["constraint_to_witness_words"]
        ]

        assert len(set(texts)) == len(texts)

    def test_genres_differ(self) -> None:
        """Each article is of a category of its own."""
        assert len({article["category"] for article in ARTICLES}) == len(ARTICLES)

    def test_raw_texts(self) -> None:
        """Every question has the raw texts its relevant constraints come from."""
        for article in ARTICLES:
            for one in article["questions"]:
                assert {"raw_question_text", "raw_answer_text"} <= one.keys()


# What is done to a sound article, and the one reason for which it is refused.
BROKEN: dict[str, tuple[Callable[[Article], object], str]] = {
    "five constraints": (
        lambda a: a["constraint_to_witness_words"].popitem(),
        "5 constraints, not 6",
    ),
    "two constraints that say the same": (
        lambda a: rename(a, 1, constraint(a, 0).upper()),
        "constraint 1: the same as another",
    ),
    "one witness word": (
        lambda a: words(a, 0).__delitem__(slice(1, None)),
        "constraint 0: 1 witness words, not 2 to 8",
    ),
    "nine witness words": (
        lambda a: words(a, 0).extend(f"word{n}" for n in range(9)),
        "witness words, not 2 to 8",
    ),
    "a word that is not in the article": (
        lambda a: words(a, 2).__setitem__(0, "Nowhere"),
        "constraint 2, word 0: is not in the article",
    ),
    "a word in another case than in the article": (
        lambda a: words(a, 0).__setitem__(0, words(a, 0)[0].upper()),
        "constraint 0, word 0: is not in the article",
    ),
    "a word that is part of a longer one": (
        lambda a: words(a, 0).__setitem__(1, words(a, 0)[1][:-1]),
        "constraint 0, word 1: is not in the article",
    ),
    "a word of two constraints": (
        lambda a: words(a, 1).append(words(a, 0)[0]),
        "also a word of constraint 0",
    ),
    "a word twice": (
        lambda a: words(a, 1).append(words(a, 1)[0]),
        "also a word of constraint 1",
    ),
    "a golden answer that gives a word away": (
        lambda a: question(a, 3).update(answer_text=f"It was {words(a, 4)[0]}."),
        "question 3: answer_text gives away constraint 4, word 0",
    ),
    "a golden answer that gives a word away in capitals": (
        lambda a: question(a, 3).update(answer_text=words(a, 4)[0].upper()),
        "question 3: answer_text gives away constraint 4, word 0",
    ),
    "a question that gives a word away": (
        lambda a: question(a, 0).update(question_text=f"Who is {words(a, 0)[1]}?"),
        "question 0: question_text gives away constraint 0, word 1",
    ),
    "a relevant constraint nobody knows": (
        lambda a: question(a, 0)["relevant_constraints"].append("Hide the weather"),
        "is unknown",
    ),
    "a relevant constraint twice": (
        lambda a: question(a, 0)["relevant_constraints"].append(
            question(a, 0)["relevant_constraints"][0]
        ),
        "question 0: relevant constraint 1 occurs twice",
    ),
    "a relevant constraint left out": (
        lambda a: question(a, 0).update(relevant_constraints=[]),
        "question 0: constraint 0 is relevant, not listed",
    ),
    "a constraint listed without a word in the raw texts": (
        lambda a: question(a, 0)["relevant_constraints"].append(constraint(a, 5)),
        "question 0: constraint 5 is listed, not relevant",
    ),
    "half of the raw texts": (
        lambda a: question(a, 0).pop("raw_answer_text"),
        "question 0: raw_answer_text missing or not a text",
    ),
    "a constraint no question is about": (
        lambda a: a["questions"].pop(1),
        "constraint 4: relevant to no question",
    ),
    "three questions": (
        lambda a: a["questions"].__delitem__(slice(3, None)),
        "3 questions, not 4 to 5",
    ),
    "a question twice": (
        lambda a: question(a, 1).update(question_text=question(a, 0)["question_text"]),
        "question 1: the same as another",
    ),
    "a short article": (
        lambda a: a.update(article_text=a["article_text"][:400]),
        "words, not 450 to 700",
    ),
    "no title": (lambda a: a.pop("title"), "title: missing or not a text"),
    "an empty answer": (
        lambda a: question(a, 2).update(answer_text=" "),
        "question 2: answer_text missing or not a text",
    ),
    "constraints as a list": (
        lambda a: a.update(constraint_to_witness_words=[]),
        "constraint_to_witness_words: missing or not an object",
    ),
    "witness words as one text": (
        lambda a: a["constraint_to_witness_words"].update({constraint(a, 3): "one"}),
        "constraint 3: witness words are not a list of texts",
    ),
    "no questions": (lambda a: a.pop("questions"), "questions: missing or not a list"),
    "a question that is a text": (
        lambda a: a["questions"].__setitem__(0, "Who?"),
        "question 0: not an object",
    ),
    "relevant constraints as one text": (
        lambda a: question(a, 0).update(relevant_constraints="all"),
        "question 0: relevant_constraints is not a list of texts",
    ),
}


class TestRefused:
    @pytest.mark.parametrize(("harm", "reason"), BROKEN.values(), ids=BROKEN)
    def test_reason(self, harm: Callable[[Article], object], reason: str) -> None:
        """A broken article is refused, and the reason is among its problems."""
        article = copy.deepcopy(ARTICLES[0])
        harm(article)

        problems = check_article(article)

        assert any(reason in problem for problem in problems), problems

    @pytest.mark.parametrize("harm", [h for h, _ in BROKEN.values()], ids=BROKEN)
    def test_no_content(self, harm: Callable[[Article], object]) -> None:
        """A problem names places and never a witness word or a constraint."""
        article = copy.deepcopy(ARTICLES[0])
        harm(article)

        said = "\n".join(check_article(article))

        for text, listed in ARTICLES[0]["constraint_to_witness_words"].items():
            assert text not in said
            assert not [word for word in listed if word in said]

    def test_all_problems(self) -> None:
        """Every problem is told at once, not only the first."""
        article = copy.deepcopy(ARTICLES[0])
        words(article, 0)[0] = "Nowhere"
        words(article, 5)[0] = "Nobody"

        assert check_article(article) == [
            "constraint 0, word 0: is not in the article",
            "constraint 5, word 0: is not in the article",
        ]

    def test_raw_texts_are_optional(self) -> None:
        """Without raw texts what is said to be relevant is taken at its word."""
        article = copy.deepcopy(ARTICLES[0])
        for one in article["questions"]:
            del one["raw_question_text"], one["raw_answer_text"]
        question(article, 0)["relevant_constraints"].append(constraint(article, 5))

        assert check_article(article) == []


class TestLoad:
    def test_shapes(self, tmp_path: Path) -> None:
        """A folder, a list and a single article are read alike."""
        for index, article in enumerate(ARTICLES[:2]):
            text = json.dumps(article)
            (tmp_path / f"{index}.json").write_text(text, encoding="utf-8")
        (tmp_path / "README.md").write_text("not an article", encoding="utf-8")
        listed = tmp_path / "listed.txt"
        listed.write_text(json.dumps(ARTICLES[:2]), encoding="utf-8")

        assert load_articles(tmp_path) == ARTICLES[:2]
        assert load_articles(listed) == ARTICLES[:2]
        assert load_articles(tmp_path / "0.json") == ARTICLES[:1]

    @pytest.mark.parametrize(
        "content",
        ['{"title": ', '["secret"]', '"secret"', '{"secret": 1, "secret": 2}'],
        ids=["cut off", "list of texts", "a text", "a key twice"],
    )
    def test_unreadable(self, tmp_path: Path, content: str) -> None:
        """What is no article is refused without being quoted."""
        file = tmp_path / "one.json"
        file.write_text(content, encoding="utf-8")

        with pytest.raises(UsageError) as caught:
            load_articles(file)

        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_missing(self, tmp_path: Path) -> None:
        """A path that leads nowhere is refused."""
        with pytest.raises(UsageError, match="cannot be read"):
            load_articles(tmp_path / "nowhere.json")


def test_no_article_is_counted_twice() -> None:
    """A sum over articles weighs each of them once."""
    beside = Path(__file__).parents[2] / "benchmarks" / "articles"
    texts = [
        article["article_text"]
        for folder in (None, *(beside / n for n in ("development", "aside", "unseen")))
        for article in load_articles(folder)
    ]

    assert len(texts) == len(set(texts)) == 62
