"""Never worse than none: whatever a model fails at, the local engine decides."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.suites.scripted.asked import is_control, is_harmless
from sdrag import framework
from sdrag.effects.steps import run
from sdrag.errors import ModelError, ModelTimeoutError
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted, Unaided, answer_control

SENTENCES = (
    "Dr. Robert Hale treated the witness Anna Karlsson on 3 May 2020.",
    "Hale signed the letter, and Karlsson read it.",
    "Write to anna.karlsson@example.org about the invoice of 420 euros.",
    "The harbour opens at six and closes when the last ferry is in.",
    "The patient complained of migraine, and was given 20 mg of propranolol.",
    "Nobody at the bakery in Lund remembers the green van.",
)
RULES = (
    "Remove names of witnesses",
    "Hide e-mail addresses",
    "Hide exact dates",
    "Hide sums of money",
    "Conceal what the patient was treated for",
    "Do not mention Lund",
)
NEEDS_A_MODEL = "Only the verdict may be disclosed"


def last(prompt):
    return prompt.messages[-1].content.text


def text_of(prompt):
    return re.split(r"==[0-9a-f]{16}==", last(prompt))[2]


def ids(prompt):
    head = last(prompt).split("between two lines", 1)[0]
    return re.findall(r"^\[([\w.:-]+)\] ", head, re.MULTILINE)


def spans_for_all(prompt, spans):
    if prompt.name == "disclosure.extract":
        listed = [{"constraint": name, "spans": spans} for name in ids(prompt)]
        return json.dumps({"verdicts": listed})
    return answers(prompt, lambda _place, names: names if not spans else [])


def answers(prompt, no):
    asked = re.findall(
        r'^\[(q\d+)\] ".*" in [\d(), ]+, marked for: (.*)$', last(prompt), re.MULTILINE
    )
    listed = [
        {"question": q, "no": no(place, names.split(", "))}
        for place, (q, names) in enumerate(asked)
    ]
    return json.dumps({"answers": listed})


def free_all(prompt):
    """Say no to every question but the controls, which are answered rightly."""
    rules = dict(re.findall(r"^\[(c\d+)\] (.*)$", last(prompt), re.MULTILINE))
    asked = re.findall(r'^\[q\d+\] "(.*)" in', last(prompt), re.MULTILINE)
    return answers(
        prompt,
        lambda place, names: (
            []
            if is_control(rules[names[0]]) and not is_harmless(asked[place])
            else names
        ),
    )


def example_of(prompt):
    return next(m.content.text for m in prompt.messages if m.role == "assistant")


def fail(error):
    raise error


def quote(prompt, *words):
    """Answer the control, and quote these words and what is not in the text."""
    spans = [word for word in words if word in text_of(prompt)]
    if prompt.name != "disclosure.extract":
        return "Sorry."
    rules = [name for name in ids(prompt) if not re.fullmatch(r"c\d{3}", name)]
    listed = [{"constraint": name, "spans": [*spans, "Zeb Quux"]} for name in rules]
    return answer_control(last(prompt), json.dumps({"verdicts": listed}))


QUOTED = ("The harbour", "bakery")
MODELS = {
    "late": lambda _: fail(ModelTimeoutError("late")),
    "down": lambda _: fail(ModelError("500")),
    "no text": lambda _: None,
    "empty": lambda _: "",
    "prose": lambda _: "Sure! Here is what has to go: everything.",
    "cut off": lambda p: spans_for_all(p, [text_of(p)])[:-30],
    "endless": lambda p: '{"verdicts": [' + '{"constraint": "c1", "spans": [' * 900,
    "the example": example_of,
    "the example in talk": lambda p: f"Sure!\n{example_of(p)}\n{spans_for_all(p, [])}",
    "the example under live ids": lambda p: spans_for_all(
        p, ["Ruth Calder", "3 May", "migraine"]
    ),
    "unknown ids": lambda _: '{"verdicts": [{"constraint": "x", "spans": []}]}',
    "nothing goes": lambda p: spans_for_all(p, []),
    "everything goes": lambda p: spans_for_all(p, text_of(p).split()),
    "all the text goes": lambda p: spans_for_all(p, [text_of(p).strip()]),
    "not in the text": lambda p: spans_for_all(p, ["Zebedee Quux of Nether Wallop"]),
    "no to the first": lambda p: (
        spans_for_all(p, [])
        if p.name == "disclosure.extract"
        else answers(p, lambda place, names: names if place == 0 else [])
    ),
    "half a verdict": lambda p: quote(p, *QUOTED),
}


def engine(rules, *, model, **disclosure):
    policy = {
        "constraints": [{"text": rule, "always": True} for rule in rules],
        "disclosure": disclosure,
    }
    return Engine(policy, llm=framework.Model(str, "m") if model else None)


def released(passages, built, model=None):
    runner = Scripted(complete=Unaided(model) if model else None)
    return run(disclose(passages, Request("q"), built), runner)


def hidden(passages, done):
    """Return the words of each passage that its release lacks."""
    texts = {passage.id: passage.text for passage in done.passages}
    words = re.compile(r"\w+")
    return {
        passage.id: set(
            Counter(words.findall(passage.text))
            - Counter(words.findall(texts.get(passage.id, "")))
        )
        for passage in passages
    }


def chunks(groups):
    return [
        Passage(f"p{n}", " ".join(group), document_id=f"d{n % 2}")
        for n, group in enumerate(groups)
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3, unique=True),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.sampled_from(RULES), min_size=1, max_size=4, unique=True),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([*sorted(MODELS), "free all"]),
    st.integers(1, 4),
)
def test_a_model_that_fails_is_never_worse_than_none(
    groups, rules, extracting, confirming, size
):
    """As private as the local engine; harmless words go only where it quoted them."""
    passages = chunks(groups)

    def model(prompt):
        is_first = prompt.name == "disclosure.extract"
        models = {**MODELS, "free all": free_all}
        return models[extracting if is_first else confirming](prompt)

    alone = hidden(passages, released(passages, engine(rules, model=False)))
    failing = hidden(
        passages, released(passages, engine(rules, model=True, batch_size=size), model)
    )

    quoted = {"harbour", "The", "bakery"} if extracting == "half a verdict" else set()
    for name, words in alone.items():
        assert words <= failing[name]
        assert failing[name] <= words | quoted


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_needs_a_model_is_withheld_where_it_fails(name):
    """Also by a model that has nothing go, whatever it is asked."""
    passages = chunks([SENTENCES[:2]])

    done = released(passages, engine([NEEDS_A_MODEL], model=True), MODELS[name])

    assert done.passages == ()
    assert done.decisions[0].reason


@pytest.mark.parametrize("name", ["down", "prose", "nothing goes"])
def test_a_policy_can_withhold_where_the_model_fails(name):
    """`on_model_failure: withhold`."""
    passages = chunks([SENTENCES[:2]])
    built = engine([RULES[0]], model=True, on_model_failure="withhold")

    assert released(passages, built, MODELS[name]).passages == ()


def test_what_is_asked_again_is_asked_in_small_prompts_and_no_more_than_may_be():
    """A constraint and a few sentences, where `max_calls` suffice; else together."""
    prompts = []

    def model(prompt):
        if prompt.name == "disclosure.extract":
            prompts.append((tuple(ids(prompt)), text_of(prompt)))
        return "Sorry."

    long = " ".join(f"{SENTENCES[3]} It was day {n}." for n in range(40))
    passages = [Passage("a", long), Passage("b", SENTENCES[0])]

    released(passages, engine(RULES[:4], model=True, max_calls=4), model)

    again = prompts[2:]  # the first two are about a text each
    short = [names for names, text in again if SENTENCES[0] in text]
    assert [len(names) for names in short] == [2] * 4  # one, and the control
    assert [len(names) for names, text in again if "harbour" in text] == [5]
    assert len(again) == 5
