"""Orders to a model in texts of every kind, and harmless texts that look like them."""

from __future__ import annotations

import json
from pathlib import Path

from sdrag.effects.limits import Limits
from sdrag.effects.steps import run
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text
from sdrag.guardrails.injection.screen import screen
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted
from ..support.tables import read_table

RULES = InjectionSection(local_classifier=False)
TABLES = read_table(__file__, "orders.toml")


FOUND = [(rule, text) for rule, texts in TABLES["orders"].items() for text in texts]
PASSED = [text for texts in TABLES["harmless"].values() for text in texts]
AROUND = "Opening hours are nine to five. {} Parking is free."


def reasons(text):
    return {suspicion.reason for suspicion in scan_text(text, RULES).suspicions}


def test_an_order_is_found_by_its_rule():
    """In the middle of a text, in English and by the words of other languages."""
    missed = [
        (rule, text)
        for rule, text in [*FOUND, *TABLES["foreign_orders"]]
        if rule not in reasons(AROUND.format(text))
    ]

    assert missed == []


def test_requests_to_people_are_no_orders_to_a_model():
    """Manuals, laws, letters, code, articles, exercises, reminders of instructions."""
    alarms = [
        text
        for text in [*PASSED, *TABLES["foreign_harmless"]]
        if reasons(AROUND.format(text)) or reasons(text)
    ]

    assert alarms == []


TEXTS = Path(__file__).parents[2] / "benchmarks" / "injection"
KINDS = {"standing-order": 7, "heading-order": 4, "split": 6, "tool-call": 5}
"""Kinds of the benchmark, with how many of those aside are found."""
NEIGHBOURS = {"manual", "staff-policy", "heading", "recipe", "minutes", "tool-doc"} | {
    *("api-doc", "split")
}


def flagged(text):
    """Say whether any of the passages that a form feed parts is flagged."""
    passages = [Passage(str(at), part) for at, part in enumerate(text.split("\f"))]
    return run(screen(passages, RULES, limits=Limits()), Scripted()).decisions != ()


def rows(name, kind, *, aside):
    lines = (TEXTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        row["text"]
        for row in map(json.loads, lines)
        if row["source"] == kind and row["aside"] is aside
    ]


def test_orders_of_each_kind_are_found_and_their_neighbours_stay():
    """Standing orders, headings, orders over two documents, calls of tools."""
    for kind, least in KINDS.items():
        known = rows("attacks", kind, aside=False)
        assert [text for text in known if not flagged(text)] == []
        assert sum(map(flagged, rows("attacks", kind, aside=True))) >= least, kind
    for kind in NEIGHBOURS:
        alarms = [text for text in rows("harmless", kind, aside=False) if flagged(text)]
        assert len(alarms) <= (kind == "manual"), kind


def test_an_order_that_goes_on_in_another_passage_is_found():
    """Wherever that one stands; only the passage in which it begins is withheld."""
    between = ["The mill is closed.", "It has a shop."]
    for begun, rest in TABLES["open"]:
        for texts in ([begun, rest], [rest, *between, begun], [begun, *between, rest]):
            assert kept(texts) == [text for text in texts if text != begun], begun


def test_passages_that_only_stand_together_stay():
    """A passage is withheld for its own words: the next one has none withheld."""
    for texts in TABLES["apart"]:
        assert texts[1] in kept(texts), texts


def kept(texts):
    """Return the passages of one request that go on."""
    passages = [Passage(str(at), text) for at, text in enumerate(texts)]
    screened = run(screen(passages, RULES, limits=Limits()), Scripted())
    return [passage.text for passage in screened.passages]
