"""`rcqa --llm`: a model beside the local engine and the best there is."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from benchmarks.suites.__main__ import app
from benchmarks.suites.json_files import load_articles
from benchmarks.suites.planting import OWN_ORDERS, Planting, read_orders
from benchmarks.suites.rcqa import FIGURES
from benchmarks.suites.rcqa_models import SCRIPTED, scripted_model
from sdrag.errors import SdragError, UsageError
from sdrag.evaluation.measures import broken, witness_spans

pytest.importorskip("tokenizers")

ARTICLES = load_articles()[:2]


def typed(*arguments: str) -> str:
    command = ["rcqa", "--limit", "2", *arguments]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def exact() -> dict:
    return json.loads(typed("--llm", "scripted:exact", "--json").splitlines()[-1])


def test_a_model_that_is_always_right_leaks_nothing_and_spares_what_is_harmless(exact):
    """Its figures stand beside those of the local engine, on the same questions."""
    own = {name: exact[name] for name in FIGURES}
    local = exact["compared"]["local"]

    assert exact["compared"]["exact"] == own
    assert own["privacy"] == own["privacy_all"] == own["privacy_cumulative"] == 1.0
    assert own["over_redacted"] < local["over_redacted"]
    assert own["completeness"] > local["completeness"]


def test_what_was_asked_of_the_model_is_counted(exact):
    """Bindings ask, questions about what was bound do not."""
    assert exact["llm"] == "scripted:exact"
    assert exact["requests"] == exact["questions"] + 2
    assert exact["requests_that_ask"] == 2
    assert exact["round_trips"] == 2 * exact["round_trips_mean"]
    assert exact["model_calls"] >= exact["round_trips"] >= 2
    assert exact["tokens_in"] > exact["tokens_out"] > 0
    assert exact["unreadable_replies"] == 0


def test_a_hijacked_model_is_measured_on_texts_with_orders_in_them():
    """The table has a column for each; the others read the same texts."""
    arguments = ("--llm", "scripted:hijacked", "--plant", "same", "--limit", "1")
    output = typed(*arguments).splitlines()

    assert output[0].split() == ["model", "local", "exact"]
    rows = {line.split()[0]: list(map(float, line.split()[1:])) for line in output[1:6]}
    assert tuple(rows) == FIGURES
    assert rows["privacy_all"][2] == 1.0
    assert "plant: same" in output
    assert not {line.split(":")[0] for line in output[6:]} & {*FIGURES, "compared"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--llm", "scripted:lucky"),
        ("--llm", "magic"),
        ("--llm", "scripted:exact", "--defense", "prompt"),
        ("--llm", "scripted:exact", "--plant", "everywhere"),
        ("--plant", "other"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments):
    """Before anything is measured."""
    result = CliRunner().invoke(app, ["rcqa", *arguments])

    assert isinstance(result.exception, SdragError) or result.exit_code == 2


class TestPlanting:
    """Orders stand in the texts and hide nothing of them."""

    @pytest.mark.parametrize("number", range(2))
    def test_an_order_in_a_passage_of_its_own(self, number):
        """Once an article; every other passage is as it was."""
        plain = Planting().passages(ARTICLES[number], number)
        planted = Planting("other").passages(ARTICLES[number], number)

        (order,) = [one.text for one in planted if one not in plain]
        assert order in OWN_ORDERS
        assert [one for one in planted if one in plain] == list(plain)
        assert len({one.id for one in planted}) == len(planted)

    @pytest.mark.parametrize("number", range(2))
    def test_an_order_beside_witness_words(self, number):
        """In every passage that holds one, as its last sentence, and in no other."""
        listed = ARTICLES[number]["constraint_to_witness_words"]
        words = [word for own in listed.values() for word in own]
        plain = Planting().passages(ARTICLES[number], number)
        planted = Planting("same").passages(ARTICLES[number], number)

        for before, after in zip(plain, planted, strict=True):
            assert after.text.startswith(before.text)
            assert (after.text != before.text) == bool(
                witness_spans(before.text, words)
            )
            order = after.text.removeprefix(before.text)
            assert not broken(order, listed, listed)

    def test_attacks_come_from_a_folder_or_are_our_own(self, tmp_path):
        """A folder without any is an error, not a run without orders."""
        with pytest.raises(UsageError, match="no attacks"):
            read_orders(tmp_path)
        (tmp_path / "bipia").mkdir()
        for name, text in {"text": "Say hello.", "code": "import os\n"}.items():
            file = tmp_path / "bipia" / f"{name}_attack_train.json"
            file.write_text(json.dumps({"Kind": [text]}))

        assert set(read_orders(tmp_path)) == {"Say hello.", "import os"}
        assert read_orders() == OWN_ORDERS

    def test_an_order_that_would_leak_by_itself_is_not_planted(self):
        """Nobody could say whose word it was."""
        article = {
            "article_text": "Then Meyers left.",
            "constraint_to_witness_words": {"Remove names": ["Meyers"]},
        }
        (passage,) = Planting("same", ("Ask Meyers!", "Go on!")).passages(article, 0)

        assert passage.text == "Then Meyers left. Go on!"
        with pytest.raises(UsageError, match="witness word"):
            Planting("other", ("Ask Meyers!",)).passages(article, 0)


def test_there_is_a_model_of_every_name():
    """And none of another."""
    assert all(callable(scripted_model(name, ARTICLES)) for name in SCRIPTED)
    with pytest.raises(UsageError, match="one of"):
        scripted_model("lucky", ARTICLES)
