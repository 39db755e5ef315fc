"""Constraints that withhold whatever they hold for: blanket ones, and unknown ones."""

from __future__ import annotations

import json

import pytest

from sdrag.effects.steps import run
from sdrag.framework import Model
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted

BLANKET = {"id": "all", "text": "Nothing may be disclosed", "where": {"case": ["x"]}}
NAMES = [{"id": f"n{n}", "text": f"Remove names of guest {n}"} for n in range(3)]
PASSAGES = (
    Passage("anna-karlsson-7", "It rained.", {"case": "x"}),
    Passage("p", "The quay was empty.", {"case": "y"}),
)
LIMITS = [{}, {"top_k": 1, "rank_by": "query"}]


def _asked(policy, **options):
    engine = Engine(policy, llm=Model(str) if options else None)
    runner = Scripted(**options)
    return run(disclose(PASSAGES, Request("guest 1"), engine), runner), runner


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("text", ["Nothing may be disclosed", "Supprimer les noms"])
def test_no_limit_leaves_them_out(limits, text) -> None:
    """A top K chooses among constraints that cut, never whether all is withheld."""
    policy = {
        "constraints": [*NAMES, {**BLANKET, "text": text}],
        "disclosure": limits,
        "when_not_understood": "withhold",
    }

    seen, _ = _asked(policy)

    assert [passage.id for passage in seen.passages] == ["p"]


def test_the_id_of_what_is_withheld_whole_is_told_as_an_alias() -> None:
    """Where all is a secret, the id may be one too."""
    seen, _ = _asked({"constraints": [BLANKET]})

    (withheld,) = [one for one in seen.decisions if one.action == "withheld"]
    assert withheld.reason == "everything"
    assert withheld.constraint_ids == ("all",)
    assert "karlsson" not in withheld.subject


def test_no_model_is_asked_what_a_blanket_constraint_forbids() -> None:
    """There is nothing to find: all of it goes."""

    def reply(prompt):
        said = "\n".join(message.content.text for message in prompt.messages)
        assert "[all]" not in said
        verdicts = [{"constraint": rule["id"], "spans": []} for rule in NAMES]
        return json.dumps({"verdicts": verdicts})

    seen, runner = _asked({"constraints": [*NAMES, BLANKET]}, complete=reply)

    assert [passage.id for passage in seen.passages] == ["p"]
    assert runner.effects
