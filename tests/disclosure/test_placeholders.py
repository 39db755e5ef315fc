"""What stands in the place of what was cut out."""

import pytest

from sdrag.disclosure.placeholders import placeholders
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import DisclosureSection
from sdrag.steps import run
from sdrag.testing import Scripted
from sdrag.vocabulary import Constraint, Passage


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
    performer = Scripted()
    run(bind(passages, engine), performer)
    (passage,) = run(disclose(passages, Request("?"), engine), performer).passages
    return passage.text
