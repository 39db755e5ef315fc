"""Every row of the parser's tables has an example, and each is read as the row says."""

from __future__ import annotations

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.constraint_parser.wording import (
    asks_for_names,
    blank_audience,
    is_clause,
    refusal,
    rows,
    split_exception,
    statement_of,
    subject_of,
    topic_of,
)
from sdrag.disclosure.constraint_parser.words import table
from sdrag.vocabulary import Constraint

from ..support.tables import each_row

TABLES = [name for name, rows in table("wording").items() if isinstance(rows, list)]
ROWS = [(name, rule, row) for name in TABLES for rule, row in rows(name)]


def understood(text):
    return parse(Constraint("c", text))


def words_of(text):
    return " ".join(text.replace(",", " ").split())


READ = {
    "permission": lambda text: understood(text).kind == "only",
    "exception": split_exception,
    "excepted": split_exception,
    "total": lambda text: understood(text).kind == "everything",
    "event": lambda text: understood(text).kind != "everything",
    "opening": subject_of,
    "closing": subject_of,
    "statement": statement_of,
    "audience": lambda text: words_of(blank_audience(text)),
    "typed": lambda text: topic_of(text).strip(),
    "topic_clause": is_clause,
    "naming": asks_for_names,
    "clause": lambda text: understood(text).status == "understood",
    "refused": lambda text: refusal(text, typed=False),
    "organisation": lambda text: "ORGANIZATION" in understood(text).types,
    "alias": lambda text: "TERM" in understood(text).types,
    "meaning": lambda text: understood(text).meaning,
}
"""What a table says of a text; of the others only that the rule is for its example."""


@each_row("name, rule, row", ROWS)
def test_an_example_is_read_as_its_row_says(name, rule, row):
    """The rule matches it, and the table says of it what stands in the row."""
    example = row["example"]
    assert rule.search(example.lower() if name == "permission" else example)

    if name in READ:
        read = READ[name](example)
        expected = {
            "exception": lambda: read[1] == row["excepted"],
            "excepted": lambda: read[1] == row["excepted"],
            "opening": lambda: read == row["subject"],
            "closing": lambda: read == row["subject"],
            "statement": lambda: read == row["says"],
            "audience": lambda: read == row["left"],
            "typed": lambda: words_of(read) == words_of(row["topic"]),
            "refused": lambda: read == row["reason"],
        }.get(name, lambda: read is True)
        assert expected(), read


@each_row(
    "text",
    [row["unlike"] for name in TABLES for _, row in rows(name) if "unlike" in row],
)
def test_what_only_looks_like_a_permission_is_none(text):
    """It says what must not be disclosed."""
    assert understood(text).kind != "only"


@each_row("row", table("words")["language"])
def test_a_language_is_told_by_its_little_words(row):
    """And its constraints need a model."""
    parsed = understood(row["example"])

    assert parsed.status == "needs_model"
    assert parsed.reason == "It is not in English."
