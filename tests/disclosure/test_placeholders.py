"""What stands in the place of what was cut out."""

import re

import pytest

from sdrag.disclosure.placeholders import placeholders
from sdrag.engine.steps import Reply, run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.testing import Scripted
from sdrag.vocabulary import Constraint, Finding, Passage, Span


@pytest.mark.parametrize(
    ("constraint", "phrase"),
    [
        ("Remove names of witnesses", "someone"),
        ("Hide exact doses of medicine", "some dose"),
        ("Suppress private telephone numbers", "some number"),
        ("Keep back how the safe was opened", "something"),
    ],
)
def test_phrases(constraint, phrase):
    """An indefinite phrase tells the kind of thing, as its constraint does."""
    section = DisclosureSection(placeholders="phrase")

    assert placeholders([Constraint("c1", constraint)], section) == {"c1": phrase}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "Then [REDACTED] left."),
        ({"placeholder": "***"}, "Then *** left."),
        ({"placeholders": "label"}, "Then [names] left."),
        ({"placeholders": "phrase"}, "Then someone left."),
    ],
)
def test_styles(settings, expected):
    """The mark, the constraint's label, or a phrase, as the policy says."""
    assert released("Then Jonathan Meyers left.", settings) == expected


@pytest.mark.parametrize("text", ["[REDACTED]", "Then [REDACTED] met [names]."])
@pytest.mark.parametrize("style", ["text", "label", "phrase"])
def test_placeholders_are_left_alone(text, style):
    """A placeholder that stands in a text is neither nested nor cut again."""
    assert released(text, {"placeholders": style}) == text


def released(text, settings):
    rule = {"id": "names", "text": "Remove names of witnesses"}
    engine = Engine.build({"constraints": [rule], "disclosure": settings})
    passages = (Passage("p", text, document_id="d"),)
    runner = Scripted()
    run(bind(passages, engine), runner)
    (passage,) = run(disclose(passages, Request("?"), engine), runner).passages
    return passage.text


class Witnesses:
    """A locator that finds what is called a witness, wherever it is called so."""

    identity = "witnesses"

    def locate(self, passages, constraints):
        yield from ()
        return [Reply(tuple(self._found(p.text, constraints))) for p in passages]

    def _found(self, text, constraints):
        for match in re.finditer(r"witness (\w+)", text):
            for rule in constraints:
                yield Finding(Span(*match.span(1)), rule.id)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ED", {}),
        ("Karlsson", {"placeholders": "label"}),
        ("Dose", {"placeholder": "[Dose withheld]"}),
    ],
)
def test_what_a_placeholder_spells_is_withheld_all_the_same(name, settings):
    """Only what stands in a placeholder is no name; the same letters elsewhere are."""
    rule = {"id": "Karlsson", "text": "Remove names of witnesses"}
    policy = {"constraints": [rule], "disclosure": settings}
    passages = (
        Passage("p", f"The witness {name} came.", document_id="d"),
        Passage("q", f"Then {name} left.", document_id="d"),
    )
    engine = Engine.build(policy, locator=Witnesses())

    seen = run(disclose(passages, Request("?"), engine), Scripted()).passages

    assert f"Then {name} left." not in [one.text for one in seen]


def test_one_state_serves_two_styles():
    """What was located under one style of placeholder is cut under every other."""
    state = open_state()
    passages = (
        Passage("p", "The witness Karlsson came.", document_id="d"),
        Passage("q", "Then Karlsson left.", document_id="d"),
    )
    rule = {"id": "Karlsson", "text": "Remove names of witnesses"}
    for style in ("label", "text", "phrase"):
        policy = {"constraints": [rule], "disclosure": {"placeholders": style}}
        engine = Engine.build(policy, locator=Witnesses(), state=state)
        seen = run(disclose(passages, Request("?"), engine), Scripted()).passages
        assert "Then Karlsson left." not in [one.text for one in seen]
