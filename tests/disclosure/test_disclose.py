"""A model that fails, hangs or talks leads to a withheld passage, never a raw one."""

from __future__ import annotations

import json

import pytest

from sdrag.detectors import tagger
from sdrag.disclosure import DisclosureSetup, disclose
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request
from sdrag.pipeline import disclose as disclose_all
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.scripted import (
    PatternLocator,
    Scripted,
    answer_control,
    canary,
    toy_vectors,
)
from ..support.tables import each_row

SECRET, PUBLIC = canary("secret"), canary("public")
PASSAGE = Passage("p", f"{PUBLIC} saw {SECRET} there.", {"title": SECRET}, 0.7)
RULE = "Conceal what the witness saw"
ONLY = "Only the verdict may be disclosed"
POLICY = {"constraints": [RULE], "metadata": {"allow": ["title"]}}


BLIND, SEEING = PatternLocator("(?!)"), PatternLocator(SECRET)


class Broken(PatternLocator):
    def locate(self, passages, constraints):
        yield from ()
        raise ValueError(SECRET)


BROKEN = Broken("")


def said(*spans):
    return json.dumps({"verdicts": [{"constraint": "c1", "spans": list(spans)}]})


def asked(model, locator, passages=(PASSAGE,), *, drive=run, state=None, **given):
    """Release passages; `seconds` bounds the model, `rule` is the constraint."""
    rule, seconds = given.get("rule", RULE), given.get("seconds", 60)
    setup = DisclosureSetup(
        Policy.read({**POLICY, "constraints": [rule]}),
        state or open_state(),
        locator,
        has_model=model is not None,
    )
    ports = Ports(
        complete=Port(lambda prompt: _answer(model, prompt)) if model else None,
        embed=Port(lambda effect: toy_vectors(effect.items)),
    )
    steps = disclose(list(passages), "what?", None, setup)
    return drive(steps, PortRunner(ports, Limits(seconds=seconds)))


def _answer(model, prompt):
    reply = model(prompt)
    words = prompt.messages[-1].content.text
    return reply if reply is None else answer_control(words, reply)


def failing(_):
    raise ConnectionError(SECRET)


@each_row(
    "model, locator",
    [(lambda _: said(SECRET), BLIND), (None, SEEING), (lambda _: said(), SEEING)],
)
def test_either_finding_is_enough(model, locator):
    """Model and local findings are united; text and metadata are cut, no more."""
    (redaction,) = asked(model, locator).redactions

    assert redaction.passage.text == f"{PUBLIC} saw [withheld] there."
    assert SECRET not in str(dict(redaction.passage.metadata))
    assert (redaction.passage.id, redaction.passage.score) == ("p", 0.7)
    assert PASSAGE.metadata["title"] == SECRET


def test_an_explicit_empty_verdict_is_honoured():
    """Where nothing local speaks against it, a model may say that nothing has to go."""
    (redaction,) = asked(lambda _: said(), BLIND).redactions

    assert redaction.passage.text == PASSAGE.text


@each_row(
    "model, locator",
    [
        (failing, LocalLocator()),
        (None, BROKEN),
        (lambda _: '{"verdicts": []}', LocalLocator()),
        (lambda _: said(), BROKEN),
    ],
)
def test_doubt_is_not_remembered(model, locator):
    """
    What could not be judged counts as not looked for: it is read once more.

    Whatever goes wrong, the passage does not leave, and no reason quotes it.
    """
    state = open_state()
    doubted = asked(model, locator, state=state, rule=ONLY)

    again = asked(lambda _: said(SECRET), SEEING, state=state, rule=ONLY)

    assert [r.passage for r in doubted.redactions] == [None]
    assert doubted.decisions[0].action == "withheld"
    assert doubted.decisions[0].reason
    assert SECRET not in repr(doubted)
    assert again.redactions[0].passage.text == f"{PUBLIC} saw [withheld] there."


@each_row(
    "first, second, hides",
    [
        (BLIND, SEEING, True),  # a better one finds it
        (SEEING, BLIND, True),  # what was found stays in its document
        (BLIND, BLIND, False),
    ],
)
def test_another_locator_locates_anew(first, second, hides):
    """Findings are kept by who made them; nothing that was found is taken back."""
    state = open_state()
    asked(None, first, state=state)

    (redaction,) = asked(None, second, state=state).redactions

    assert (SECRET not in redaction.passage.text) is hides


def test_what_less_was_installed_for_is_located_anew(tmp_path):
    """What was found without a network does not outlive its installation."""
    passage = Passage("p", "The applicant ran a mushroom farm with his two brothers.")

    def released():
        engine = Engine(
            {"constraints": ["Mask personal data"]}, state=tmp_path / "state.db"
        )
        return run(disclose_all([passage], Request("?"), engine), Scripted()).passages

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagger, "available", lambda: False)
        (before,) = released()
    (after,) = released()

    assert "mushroom" in before.text
    assert "mushroom" not in after.text


def test_a_title_that_chunks_share_is_judged_for_each():
    """A constraint that holds for one of them alone is enforced in its title too."""
    shared = {"title": SECRET}
    passages = (
        Passage("open", PUBLIC, {**shared, "ward": "b"}, document_id="d"),
        Passage("closed", PUBLIC, {**shared, "ward": "a"}, document_id="d"),
    )
    policy = {
        "constraints": [{"text": POLICY["constraints"][0], "where": {"ward": ["a"]}}],
        "metadata": {"allow": ["title"]},
    }
    for order in (passages, passages[::-1]):
        setup = DisclosureSetup(Policy.read(policy), open_state(), SEEING)
        redactions = run(disclose(order, "?", None, setup), Scripted()).redactions
        shown = {r.passage.id: str(dict(r.passage.metadata)) for r in redactions}
        assert SECRET in shown["open"]
        assert SECRET not in shown["closed"]
