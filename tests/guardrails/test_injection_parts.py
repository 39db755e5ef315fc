"""Orders in parts, orders that are hidden, and labels that look like turns."""

from __future__ import annotations

import pytest

from sdrag.effects.limits import Limits
from sdrag.effects.steps import run
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.screen import screen
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted
from ..support.tables import read_table

RULES = InjectionSection(local_classifier=False)
TABLES = read_table(__file__, "injection_parts.toml")


def kept(texts):
    passages = [Passage(str(at), text) for at, text in enumerate(texts)]
    screened = run(screen(passages, RULES, limits=Limits()), Scripted())
    return [passage.text for passage in screened.passages]


@pytest.mark.parametrize("row", TABLES["split"])
def test_an_order_in_parts_never_arrives_whole(row):
    """However its parts are joined, marked and ordered, and what stands between."""
    parts = row.split(" | ")
    for texts in (parts, parts[::-1], [parts[0], "The mill is closed.", *parts[1:]]):
        assert kept(texts) != texts, texts
        assert "The mill is closed." not in texts or "The mill is closed." in kept(
            texts
        )


@pytest.mark.parametrize("row", TABLES["harmless"])
def test_parts_of_harmless_texts_stay(row):
    """Marks of a continuation alone are no order."""
    assert kept(row.split(" | ")) == row.split(" | ")


@pytest.mark.parametrize("text", [*TABLES["hidden"], *TABLES["turns"]])
def test_an_order_that_is_hidden_or_dressed_as_a_turn_is_found(text):
    """In comments, attributes and styles; after the name of a role."""
    assert kept([text]) == []


@pytest.mark.parametrize("text", TABLES["labels"])
def test_a_label_is_no_turn(text):
    """Lists of parts, crews and findings name systems and assistants."""
    assert kept([text]) == [text]
