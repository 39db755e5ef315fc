"""What becomes of each passage, and all that is said of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from sdrag.disclosure import disclose
from sdrag.effects.steps import Failure, Reply, run
from sdrag.engine import Engine
from sdrag.errors import HostError
from sdrag.privacy.identities import alias
from sdrag.state import open_state
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Decision,
    Finding,
    Passage,
    Principal,
    Redaction,
    Span,
)

from ..support.scripted import PatternLocator, Scripted
from ..support.tables import each_row


@dataclass(frozen=True)
class ByRule(PatternLocator):
    """Finds for each constraint what its own pattern matches; a blot it can't read."""

    def locate(self, passages, constraints):
        yield from ()
        patterns = dict(each.split("=") for each in self.pattern.split(";"))
        return [
            Failure(HostError("slow"))
            if "blot" in one.text
            else Reply(
                tuple(
                    Finding(Span(*match.span()), rule.id, "local")
                    for rule in constraints
                    for match in re.finditer(patterns.get(rule.id, "(?!)"), one.text)
                )
            )
            for one in passages
        ]


NAMES = {"id": "names", "text": "Remove names of people"}
SUMS = {"id": "sums", "text": "Hide sums of money", "method": "withhold"}
PAID = {"id": "paid", "text": "Hide sums of money"}
OPEN = {"id": "open", "text": "Remove names", "unless": {"roles": ["clerk"]}}
ALL = {
    "id": "all",
    "text": "Nothing may be disclosed",
    "where": {"sealed": [True]},
    "where_missing": "skip",
}
FOUND = "names=Karlsson|Osei;sums=\\d+;open=Karlsson;paid=500"
KEPT = {"allow": ["title", "by"]}


ROWS: list[tuple[Passage, list[Any], Redaction]] = [
    (
        Passage("a", "The gate was open.", {"title": "x", "other": 1}, 0.5),
        [NAMES, SUMS],
        Redaction(Passage("a", "The gate was open.", {"title": "x"}, 0.5), "a"),
    ),
    (
        Passage("a", "Karlsson came, Osei left.", {"title": "x"}, 0.5),
        [SUMS, NAMES],
        Redaction(
            Passage("a", "[person] came, [person] left.", {"title": "x"}, 0.5),
            "a",
            ("names",),
            2,
            types=("person", "person"),
        ),
    ),
    # what is taken of the metadata is evidence, too
    (
        Passage("a", "The gate was open.", {"title": "By Karlsson", "by": "Osei"}),
        [NAMES],
        Redaction(
            Passage(
                "a", "The gate was open.", {"title": "By [person]", "by": "[person]"}
            ),
            "a",
            ("names",),
        ),
    ),
    (
        Passage("a", "Karlsson came.", {"title": "got 500", "by": "x"}),
        [NAMES, SUMS],
        Redaction(
            Passage("a", "[person] came.", {"by": "x"}),
            "a",
            ("names", "sums"),
            1,
            types=("person",),
        ),
    ),
    # what the text tells is known again in the metadata, in disguise too
    (
        Passage("a", "Karlsson came.", {"title": "for karlsson"}),
        [NAMES],
        Redaction(
            Passage("a", "[person] came.", {"title": "for [person]"}),
            "a",
            ("names",),
            1,
            types=("person",),
        ),
    ),
    (
        Passage("a", "Karlsson came.", {"title": "scankarlssonpdf"}),
        [NAMES],
        Redaction(
            Passage("a", "[person] came."), "a", ("names",), 1, types=("person",)
        ),
    ),
    # a key that is a number is no text, and goes with what it is of
    (
        Passage("a", "It cost 500.", {"title": {500: "x"}, "by": {501: "x"}}),
        [PAID],
        Redaction(
            Passage("a", "It cost [amount].", {"by": {"501": "x"}}),
            "a",
            ("paid",),
            1,
            types=("amount",),
        ),
    ),
    # what nobody could read puts all of its document in doubt
    *(
        (passage, [NAMES], Redaction(None, "a", reason="detector-failed"))
        for passage in (
            Passage("a", "A blot."),
            Passage("a", "The gate.", {"title": "A blot."}),
        )
    ),
    # an id that holds what is hidden is an alias
    (
        Passage("Karlsson-1", "Mr Karlsson came."),
        [NAMES],
        Redaction(Passage("", "[person] came."), "", ("names",), 1, types=("person",)),
    ),
    (
        Passage("a", "Karlsson got 500."),
        [NAMES, SUMS],
        Redaction(
            None,
            "a",
            ("names", "sums"),
            2,
            "withheld-by-constraint",
            types=("amount", "person"),
        ),
    ),
    (
        Passage("a", "Karlsson came.", {"sealed": True}),
        [NAMES, ALL],
        Redaction(None, "", ("all", "names"), 1, "everything", types=("person",)),
    ),
    (Passage("a", "It was."), [OPEN], Redaction(Passage("a", "It was."), "a")),
    (
        Passage("a", "Karlsson came."),
        [OPEN],
        Redaction(Passage("a", "Karlsson came."), "a"),
    ),
]


def redact(passage, *constraints, **policy):
    """Release a passage, and return what became of it and what is decided on it."""
    given = {"constraints": list(constraints), "metadata": KEPT, **policy}
    engine = Engine(given, state=open_state())
    setup = replace(engine.disclosure, locator=ByRule(FOUND))
    clerk = Principal("c", roles=frozenset({"clerk"}))
    found = run(disclose([passage], "?", clerk, setup), Scripted())
    (redaction,), (decision, *_) = found.redactions, found.decisions
    return redaction, decision, setup


@each_row("passage, constraints, expected", ROWS)
def test_what_becomes_of_a_passage(passage, constraints, expected):
    """Text, metadata, evidence, id and score; the constraints, and the reason."""
    redaction, decision, setup = redact(passage, *constraints)
    left, name = expected.passage, expected.passage_id or alias(passage.id, setup.key)

    evidence: dict[str, Any] = {}
    if left and expected.constraint_ids:
        told = {"constraints": [*expected.constraint_ids], "spans": expected.spans}
        evidence[EVIDENCE_KEY] = told | {"document": setup.document_of(passage).hex()}
    taking = redaction.constraint_ids
    assert redaction == replace(
        expected,
        passage=left and replace(left, id=name, metadata={**left.metadata, **evidence}),
        passage_id=name,
        constraint_ids=taking,
    )
    in_text = [rule for rule in expected.constraint_ids if rule in taking]
    assert [*taking] == (in_text if expected.spans else [])
    done = ("redacted" if expected.spans else "released") if left else "withheld"
    assert decision == Decision(
        name,
        done,
        "disclosure",
        expected.reason,
        taking,
        expected.spans,
        redaction.types,
    )


def test_values_stand_for_placeholders_that_one_may_see_opened():
    """Whatever else one placeholder stands for, in the metadata too."""
    passage = Passage("a", "Karlsson came with Osei.", {"title": "Karlsson"})
    restore = {"disclosure": {"restore": True}}

    redaction, _, _ = redact(passage, OPEN, **restore)
    closed, _, _ = redact(passage, OPEN, NAMES, **restore)
    plain, _, _ = redact(passage, OPEN)

    assert redaction.passage.text.endswith(" came with Osei.")
    mark = redaction.passage.text.removesuffix(" came with Osei.")
    assert redaction.values == {mark: "Karlsson"}
    assert not closed.values
    assert not plain.values
