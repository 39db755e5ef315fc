"""Examples teach: a constraint means what its author showed, and nobody else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import why_not
from sdrag.disclosure.local import by_example
from sdrag.disclosure.local.by_example import Lessons, judge
from sdrag.disclosure.local.by_meaning import THRESHOLDS
from sdrag.disclosure.local.locator import LocalLocator
from sdrag.disclosure.model.extract import extraction_prompts
from sdrag.disclosure.model.forms import SINGLY
from sdrag.effects.prompts import Label, sensitive
from sdrag.effects.steps import Reply, run
from sdrag.policy import Policy
from sdrag.state.keys import Keys
from sdrag.vocabulary import Constraint, Example, Passage

from ...support.properties import few
from ...support.scripted import Scripted, toy_vectors
from ...support.tables import each_row

WORDS = "Keep our tasting notes to ourselves"
GOES = (
    Example("Batch 14 smelled of wet dog after a day.", ("smelled of wet dog",)),
    Example("The panel found the new stout thin and sour.", ("thin and sour",)),
    Example("Everybody spat out the cherry beer.", ("spat out the cherry beer",)),
)
STAYS = (
    Example(
        "The stout is brewed on Tuesdays.", (), ("The stout is brewed on Tuesdays",)
    ),
)
TAUGHT = Constraint("taught", WORDS, examples=GOES)
BARE = Constraint("bare", WORDS)
NEW = ["Batch 22 tasted of soap and burnt rubber.", "Nobody finished the plum beer."]
OTHERS = ["Delivery of malt is on 3 May.", "The panel meets upstairs."]
LEAST = THRESHOLDS["balanced"].sentence


def located(texts: list[str], *rules: Constraint) -> dict[str, set[str]]:
    """Return the words that each constraint hides in the texts of a document."""
    passages = [Passage(str(n), text, document_id="d") for n, text in enumerate(texts)]
    runner = Scripted(embed=toy_vectors)
    outcomes = run(LocalLocator().locate(passages, rules), runner)
    found: dict[str, set[str]] = {rule.id: set() for rule in rules}
    for text, outcome in zip(texts, outcomes, strict=True):
        assert isinstance(outcome, Reply)
        for finding in outcome.value:
            found[finding.constraint_id].add(finding.span.of(text))
    return found


def test_a_sentence_like_what_was_shown_is_surer_and_another_stays() -> None:
    """The examples are of other batches and beers than the sentences."""
    taught, bare = judge(TAUGHT, NEW), judge(BARE, NEW)

    assert all(after > before for after, before in zip(taught, bare, strict=True))
    assert min(taught) >= LEAST
    assert max(judge(TAUGHT, OTHERS)) < THRESHOLDS["balanced"].cued
    assert not located(OTHERS, TAUGHT)["taught"]


def test_what_was_shown_goes_and_what_was_shown_to_stay_stays() -> None:
    """Whatever the networks say of it: the author knows."""
    stays = Example("He is offered 52,000.", (), ("He is offered 52,000",))
    salaries = Constraint("c", "Hide salaries and pay offers.")
    kept = Constraint("c", salaries.text, examples=(stays,))

    assert min(judge(TAUGHT, [example.text for example in GOES])) >= LEAST
    assert judge(salaries, [stays.text])[0] >= LEAST
    assert judge(kept, [stays.text]) == [0.0]
    assert judge(kept, ["She earns 61,000 a year."])[0] >= LEAST


def test_a_sentence_like_what_stays_is_less_sure() -> None:
    """And what is not like it is as sure as before."""
    both = Constraint("c", WORDS, examples=(*GOES, *STAYS))
    like = "The lager is brewed on Fridays."

    assert judge(both, [like])[0] < judge(TAUGHT, [like])[0]
    assert judge(both, NEW)[0] >= LEAST


def test_a_constraint_without_examples_is_as_ever_beside_one_with_them() -> None:
    """To the last digit: what is compared changes no probability."""
    texts = [*NEW, *OTHERS, "She has had epilepsy for years."]
    rules = [Constraint("a", "Do not disclose medical diagnoses."), BARE]
    runner = Scripted(embed=toy_vectors)

    def findings(*asked: Constraint) -> list[object]:
        passages = [Passage(str(n), text) for n, text in enumerate(texts)]
        outcomes = run(LocalLocator().locate(passages, asked), runner)
        return [[f for f in o.value if f.constraint_id != "taught"] for o in outcomes]

    assert findings(*rules) == findings(*rules, TAUGHT)


@few
@given(
    st.lists(
        st.sampled_from([*NEW, *OTHERS, *(e.text for e in (*GOES, *STAYS))]),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_nothing_beside_a_sentence_uncovers_what_an_example_hides(planted, first):
    """Not even a text that quotes what stays: only the author's words close."""
    rule = Constraint("c", WORDS, examples=(*GOES, *STAYS))
    alone = located(NEW[:1], rule)["c"]
    texts = [*planted, NEW[0]] if first else [NEW[0], *planted]

    assert alone
    for words in alone:
        assert any(words in each for each in located(texts, rule)["c"])


def test_many_examples_are_put_together() -> None:
    """A hundred are compared with as little as eight."""
    many = tuple(
        Example(f"Batch {n} smelled of {what}.", (f"smelled of {what}",))
        for n in range(25)
        for what in ("wet dog", "soap", "rubber", "old cheese")
    )
    compared = Lessons.of([Constraint("c", WORDS, examples=many)]).compared

    assert compared is not None
    assert len(compared.phrases) == by_example._MOST
    assert judge(Constraint("c", WORDS, examples=many), NEW)[0] >= LEAST


@each_row(
    "example, parts",
    [
        (Example("It rained. He owes ten.", ("owes ten",)), [("He owes ten.", 1)]),
        (Example("It rained. He owes.", (), ("rained",)), [("It rained.", 0)]),
        (Example("He owes\nten. It rained.", ("owes ten",), ("rained",)), None),
        (Example("Nothing is quoted.", ("elsewhere",)), []),
    ],
)
def test_an_example_shows_its_sentences_with_what_it_quotes(example, parts) -> None:
    """What it quotes over the end of a line too; sentences without are not shown."""
    shown = [*by_example.split(example)]
    if parts is None:
        assert [bool(part.spans) for part in shown][-1] is False
        assert any(part.spans for part in shown)
    else:
        assert [(part.text, len(part.spans)) for part in shown] == parts


def test_what_was_found_is_found_anew_with_other_examples() -> None:
    """The key of a rule, and the hash of a policy, change with what is shown."""
    keys = Keys(b"k" * 32)
    entry = {"text": WORDS, "examples": [{"text": "It is sour.", "hides": "sour"}]}

    assert keys.rule(TAUGHT) != keys.rule(BARE)
    assert keys.rule(TAUGHT) == keys.rule(Constraint("x", WORDS, examples=GOES))
    assert Policy.read([entry]).hash != Policy.read([WORDS]).hash
    assert Policy.read([entry]).rules[0].examples[0].hides == ("sour",)


KEY = b"key of prompts"


@pytest.mark.parametrize("asked", ["Batch 3 is fine.", f"Well. {GOES[1].text} So."])
def test_a_model_is_shown_examples_but_never_of_the_text_it_is_asked_about(asked):
    """With an id of no constraint, as sensitive text, and no more than fit."""
    (((_, prompt),), _), (((_, bare),), _) = (
        extraction_prompts(sensitive(asked), [TAUGHT], KEY, budget=budget)
        for budget in (200, 0)
    )
    shown = [m.content for m in prompt.messages if m not in bare.messages]
    texts = "\n".join(content.text for content in shown)

    assert "thin and sour" not in texts or GOES[1].text not in asked
    assert GOES[0].text in texts
    assert all(Label.SENSITIVE in content.labels for content in shown)
    replies = [c.text for c in shown if c.text.startswith("{")]
    names = [v["constraint"] for r in replies for v in json.loads(r)["verdicts"]]
    assert names
    assert all(name.startswith("ex/") for name in names)
    assert not any("smelled" in m.content.text for m in bare.messages)


def test_a_small_model_is_shown_the_authors_examples_in_place_of_ours():
    """In a flat list; a constraint without any, such as the control's, has ours."""
    text = sensitive("Batch 3 is fine.")
    asked, control = extraction_prompts(text, [TAUGHT], KEY, budget=200, form=SINGLY)
    replies = {
        ids: [m.content.text for m in prompt.messages if m.role == "assistant"]
        for ids, prompt in asked
    }

    shown = [json.dumps({"spans": [*e.hides]}, ensure_ascii=False) for e in GOES]
    assert replies[TAUGHT.id,] == shown[:3]
    assert replies[control.id,]
    assert not {*shown} & {*replies[control.id,]}


def test_a_vague_constraint_is_understood_by_what_is_shown_of_it() -> None:
    """Its subject says nothing, so the examples have to agree with one another."""
    plans = [
        {"text": "We intend to buy the mill in May.", "hides": "buy the mill"},
        {"text": "The board wants to sell the north field.", "hides": "sell"},
        {"text": "Next year we will leave the association.", "hides": "leave"},
    ]
    policy = Policy.read([{"text": "Hide our important plans", "examples": plans}])
    bare = Policy.read(["Hide our important plans"])

    assert not why_not(parse(policy.rules[0]), policy)
    assert "add `examples`" in why_not(parse(bare.rules[0]), bare)
