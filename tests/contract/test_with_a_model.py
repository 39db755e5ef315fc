"""One table of models through every face: right, stumbling, slow; sync and async."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from sdrag.disclosure.confirm_prompt import is_harmless
from sdrag.vocabulary import Passage

from ..support.doubles import verdicts
from ..support.faces import FACES, Scenario

WARD = "Dr. Robert Hale treated the witness Anna Karlsson at dawn."
RULE = {"id": "witnesses", "text": "Remove names of witnesses", "always": True}
PASSAGES = (Passage("p1", WARD, {}, 0.9),)
FREED = "Dr. Robert Hale treated the witness [person] at dawn."
QUESTION = re.compile(
    r'^\[(q\d+)\] "(.*)" in [\d(), ]+, marked for: (.*)$', re.MULTILINE
)
DOCTOR = {"Dr. Robert Hale", "Robert Hale", "Robert", "Hale"}


def is_confirmation(prompt):
    return "You check what was marked" in prompt


def right(prompt):
    """Quote the witness, and free the doctor."""
    if not is_confirmation(prompt):
        return verdicts(witnesses=["Anna Karlsson", "Karlsson"])(prompt)
    asked = QUESTION.findall(prompt.rsplit("Sentences and questions", 1)[1])
    answers = [
        {
            "question": q,
            "no": ids.split(", ") if words in DOCTOR or is_harmless(words) else [],
        }
        for q, words, ids in asked
    ]
    return json.dumps({"answers": answers})


class Stumbling:
    """
    Answers rightly, but for the first replies to one kind of prompt.

    Args:
        spoil: Makes of a right reply what is said instead.
        confirming: Which kind.
        times: So many replies to each prompt.
    """

    def __init__(self, spoil, *, confirming, times=1):
        self.spoil, self.confirming, self.times = spoil, confirming, times
        self.said = Counter()

    def __call__(self, prompt):
        kind = is_confirmation(prompt)
        self.said[kind] += 1
        reply = right(prompt)
        if kind is self.confirming and self.said[kind] <= self.times:
            return self.spoil(reply)
        return reply


def refused(_):
    return "Sorry, I cannot help with that."


def cut_off(reply):
    return reply[: len(reply) // 3]


def fenced(reply):
    return f"Of course:\n```json\n{reply}\n```"


def invented(reply):
    return reply.replace("Anna Karlsson", "Zebedee Quux")


def of_another_constraint(reply):
    return reply.replace("witnesses", "somebody")


def late(_):
    raise TimeoutError


ONCE = {
    "right": right,
    "first reply refused": Stumbling(refused, confirming=False),
    "first reply cut off": Stumbling(cut_off, confirming=False),
    "first reply empty": Stumbling(lambda _: "", confirming=False),
    "first reply for an unknown constraint": Stumbling(
        of_another_constraint, confirming=False
    ),
    "first quotation not in the text": Stumbling(invented, confirming=False),
    "all replies in a fence": Stumbling(fenced, confirming=True, times=99),
    "second reply refused": Stumbling(refused, confirming=True),
    "second reply cut off": Stumbling(cut_off, confirming=True),
}
ALWAYS = {
    "second reply refused": Stumbling(refused, confirming=True, times=99),
    "second reply cut off": Stumbling(cut_off, confirming=True, times=99),
    "second reply late": Stumbling(late, confirming=True, times=99),
}


def released(face, reply):
    """Ask a model that has said nothing yet."""
    if isinstance(reply, Stumbling):
        reply = Stumbling(reply.spoil, confirming=reply.confirming, times=reply.times)
    scenario = Scenario("s", PASSAGES, {"constraints": [RULE]}, reply=reply)
    ((_, text, _),) = face(scenario)
    return text


def every_face(function):
    return pytest.mark.parametrize(
        "face", FACES, ids=[face.__name__ for face in FACES]
    )(function)


@every_face
@pytest.mark.parametrize("name", ONCE)
def test_a_model_that_stumbles_once_is_as_exact_as_a_right_one(face, name):
    """The doctor is no witness, and stays; the witness goes."""
    assert released(face, ONCE[name]) == FREED


@every_face
@pytest.mark.parametrize("name", ALWAYS)
def test_without_an_answer_all_that_was_marked_goes(face, name):
    """As closed as without a model, and no more."""
    text = released(face, ALWAYS[name])

    assert not re.search("Hale|Karlsson", text)
    assert "treated the witness" in text
