"""The prompt sanitization principle: the asker never meets unredacted text."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure import hierarchy
from sdrag.disclosure.hierarchy import HierarchySettings
from sdrag.disclosure.model.confirm_prompt import Candidate, Confirmation
from sdrag.disclosure.model.extract import extraction_prompts
from sdrag.disclosure.model.forms import SINGLY, TOGETHER
from sdrag.disclosure.model.rephrase import rephrasing_prompt
from sdrag.effects.prompts import (
    Label,
    Labelled,
    Message,
    Prompt,
    admit,
    constant,
    fill,
    joined,
    sensitive,
    untrusted,
    verified,
)
from sdrag.effects.steps import Complete, Failure, Reply, arun, complete, run
from sdrag.errors import ModelReplyError, PromptSanitizationError
from sdrag.guardrails.statements import judging
from sdrag.highlight import highlighters
from sdrag.highlight.answering import ask_verdict
from sdrag.highlight.exchange import Context
from sdrag.highlight.summarizer import summary_prompt
from sdrag.linkage import masking
from sdrag.linkage.extractor import ModelExtractor
from sdrag.linkage.schema import Schema
from sdrag.vocabulary import Constraint, Highlight, Passage, Span

from ..support.scripted import canary
from ..support.tables import each_row

QUERY, TEXT = canary("query"), canary("text")
LABELS = st.sampled_from(
    [Label.NONE, Label.UNTRUSTED, Label.SENSITIVE, Label.UNTRUSTED | Label.SENSITIVE]
)
PROMPTS = st.builds(
    lambda parts, blind: Prompt(
        "generated",
        tuple(Message("user", Labelled(text, labels)) for text, labels in parts),
        blind=blind,
    ),
    st.lists(st.tuples(st.text(max_size=9), LABELS), max_size=4),
    st.booleans(),
)


CONSTRAINTS = [Constraint("c1", "Remove names"), Constraint("c2", "Hide doses")]
ASKED, RAW = untrusted(QUERY), sensitive(TEXT)
PASSAGE, KEY = Passage("p", TEXT), bytes(32)


def sent(steps) -> list[Prompt]:
    """Drive steps, answering nothing useful, and return what they would have sent."""
    prompts = []
    try:
        effect = next(steps)
        while True:
            prompts += (
                getattr(effect, "items", ()) if isinstance(effect, Complete) else ()
            )
            effect = steps.send(
                [
                    Reply(Labelled("", p.labels))
                    if isinstance(p, Prompt)
                    else Reply(())
                    for p in effect.items
                ]
            )
    except (StopIteration, ModelReplyError):
        return prompts


def _highlighting(labels):
    context = Context((PASSAGE,), labels)
    ways = (
        highlighters.baseline,
        highlighters.structured,
        highlighters.two_steps,
        highlighters.by_span,
    )
    return [prompt for way in ways for prompt in sent(way(ASKED, context))]


def _summarizing():
    quotation = Highlight("p", Span(0, len(TEXT)), TEXT)
    labels = Label.UNTRUSTED | Label.SENSITIVE
    return [
        summary_prompt([quotation], labels),
        summary_prompt([quotation], labels, guesses=True, verdict=True),
        *sent(ask_verdict(ASKED, [quotation], Label.NONE)),
        *sent(ask_verdict(ASKED, [quotation], Label.SENSITIVE)),
    ]


def _extracting():
    forms = (TOGETHER, SINGLY)
    asked = [extraction_prompts(RAW, CONSTRAINTS, KEY, form=form)[0] for form in forms]
    return [each.prompt for prompts in asked for each in prompts]


def _confirming():
    candidate = Candidate("words", b"", {CONSTRAINTS[0].id: None}, {TEXT: None})
    return [Confirmation.of([candidate], CONSTRAINTS, KEY).prompt]


def _linking():
    return [
        *sent(ModelExtractor().extract([TEXT], Schema())),
        masking._rewrite_prompt(PASSAGE),
    ]


BUILDERS = {
    "highlight": lambda: [*_highlighting(Label.SENSITIVE), *_highlighting(Label.NONE)],
    "summarize": _summarizing,
    "extract": _extracting,
    "confirm": _confirming,
    "rephrase": lambda: [rephrasing_prompt(RAW, CONSTRAINTS, KEY)],
    "hierarchy": lambda: [hierarchy._prompt([PASSAGE], HierarchySettings())],
    "judge": lambda: [
        judging._prompt(("released words", "an answer"), item)
        for item in judging._QUESTIONS
    ],
    "link": _linking,
}
"""How each prompt of the package is built from the worst: the query and raw text."""


@each_row("name", BUILDERS)
def test_no_prompt_holds_the_query_beside_unredacted_text(name):
    """What is sent holds the asker's words or unredacted text, never both."""
    prompts = BUILDERS[name]()

    assert prompts
    for prompt in prompts:
        words = "\n".join(message.content.text for message in prompt.messages)
        assert QUERY not in words or Label.UNTRUSTED in prompt.labels
        try:
            admit(prompt)
        except PromptSanitizationError:
            continue
        redaction = Label.SENSITIVE not in prompt.labels
        assert QUERY not in words or TEXT not in words or redaction


def test_the_prompts_of_redaction_are_admitted_and_have_no_room_for_a_query():
    """No builder of the disclosure package takes a question; its prompts are sent."""
    assert all(map(admit, _extracting()))
    assert admit(rephrasing_prompt(RAW, CONSTRAINTS, KEY))
    for builder in (extraction_prompts, rephrasing_prompt):
        taken = set(inspect.signature(builder).parameters)
        assert not taken & {"query", "question", "request", "principal"}


class Recorder:
    """A runner that must not be reached."""

    def __init__(self):
        self.asked = []

    def perform(self, effect):
        self.asked.append(effect)
        return [Reply(Labelled("ok", Label.NONE)) for _ in effect.items]

    async def aperform(self, effect):
        return self.perform(effect)


def broken(prompt):
    both = Label.UNTRUSTED | Label.SENSITIVE
    return prompt.labels & both == both or (
        prompt.blind and Label.UNTRUSTED in prompt.labels
    )


@pytest.mark.parametrize(
    "drive", [run, lambda s, p: asyncio.run(arun(s, p))], ids=["run", "arun"]
)
def test_a_prompt_that_breaks_a_rule_reaches_no_performer(drive):
    """Whatever is in it, and whatever else is sent, the check keeps the rules."""

    @given(st.lists(PROMPTS, min_size=1, max_size=3))
    def holds(prompts):
        recorder = Recorder()
        if any(map(broken, prompts)):
            with pytest.raises(PromptSanitizationError):
                drive(complete(prompts), recorder)
            assert recorder.asked == []
        else:
            drive(complete(prompts), recorder)

    holds()


def test_no_rule_can_swallow_the_refusal():
    """Steps that catch everything do not catch the error of the prompt check."""
    turns = Message("user", sensitive("s")), Message("user", untrusted("u"))

    def swallowing():
        try:
            return (yield from complete([Prompt("p", turns)]))
        except Exception:  # noqa: BLE001 -- the point
            return "swallowed"

    with pytest.raises(PromptSanitizationError):
        run(swallowing(), Recorder())


@given(PROMPTS)
def test_a_reply_inherits_the_labels_of_its_prompt(prompt):
    """A runner that says its reply is harmless is not believed."""
    if not broken(prompt):
        (outcome,) = run(complete([prompt]), Recorder())

        assert outcome.value.labels == prompt.labels
        assert outcome.value.text == "ok"


@given(st.lists(st.tuples(st.text(), LABELS), max_size=5))
def test_labels_join(parts):
    """Joined or filled in, labels add up; only verification takes one away."""
    texts = [Labelled(*part) for part in parts]
    both = joined(texts)

    for text in texts:
        assert text.labels in both.labels or not text.labels
    assert verified(both, "x").labels == both.labels & ~Label.UNTRUSTED


@given(st.text())
def test_a_value_is_never_a_template(text):
    """Braces in a passage mean nothing."""
    filled = fill("<{a}|{b}>", a=sensitive(text), b=constant("{a}{0}"))

    assert filled.text == f"<{text}|{{a}}{{0}}>"
    assert filled.labels is Label.SENSITIVE


def test_texts_stay_as_they_are_and_a_prompt_says_how_long_a_reply_may_be():
    """A limit that a prompt has is its own; else it grows with its texts."""
    parts = joined([untrusted("one"), sensitive("two")])
    assert parts.text == "one\n\ntwo"
    prompt = Prompt("any", (Message("user", Labelled("x" * 9, Label.NONE)),))
    assert prompt.limited().max_tokens == 1_004
    assert Prompt("any", (), max_tokens=5).limited().max_tokens == 5


def test_turns_cannot_be_changed_after_they_were_admitted():
    """A list of turns is copied."""
    turns = [Message("user", untrusted("u"))]
    prompt = Prompt("p", turns)
    turns.append(Message("user", sensitive("s")))

    assert admit(prompt).labels is Label.UNTRUSTED


def test_an_error_of_a_performer_hangs_no_text_on_ours():
    """What the rule is thrown names a type, and nothing of the original hangs on it."""
    seen = []

    class Failing(Recorder):
        def perform(self, effect):
            raise ValueError(TEXT)

    def steps():
        try:
            yield from complete([Prompt("p", ())])
        except Exception as error:  # noqa: BLE001 -- the point
            seen.append(error)

    run(steps(), Failing())
    asyncio.run(arun(steps(), Failing()))

    assert len(seen) == 2
    for error in seen:
        assert str(error) == "An effect failed with ValueError."
        assert error.__context__ is None
        assert error.__cause__ is None


def test_a_performer_that_loses_an_answer_fails_every_item():
    """Answers that do not match the items are nobody's answers."""

    class Losing(Recorder):
        def perform(self, effect):
            return []

    outcomes = run(complete([Prompt("a", ()), Prompt("b", ())]), Losing())

    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert {str(outcome.error) for outcome in outcomes} == {
        "0 answers came for 2 items."
    }
