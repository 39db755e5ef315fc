"""What a question enforces, what it asks a model, and what it has to read at all."""

from __future__ import annotations

import re

import pytest

from sdrag.effects.steps import Complete, Embed, run
from sdrag.framework import Model
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal

from ..support.scripted import Scripted, extract

NAMES = {"id": "names", "text": "Remove the names of witnesses"}
DATES = {"id": "dates", "text": "Hide exact dates", "unless": {"roles": ["judge"]}}
POLICY = {"constraints": [NAMES, DATES]}
LIMITS = {"top_k": 1, "rank_by": "query"}
PASSAGES = (
    Passage("p", "The witness Anna Karlsson came on 3 May 2020.", document_id="d"),
    Passage("q", "Then karlsson left.", document_id="d"),
    Passage("r", "Nobody else was there.", document_id="e"),
)
JUDGE = Principal("j", roles=frozenset({"judge"}))


@pytest.fixture
def state(tmp_path):
    return open_state(tmp_path / "state.db")


def text_of(prompt):
    return "\n".join(message.content.text for message in prompt.messages)


def asked(built, passages=PASSAGES, who=None, question="q", complete=extract):
    world = Scripted(complete=complete)
    done = run(disclose(passages, Request(question, who), built), world)
    prompts = [
        text_of(prompt)
        for effect in world.effects
        if isinstance(effect, Complete)
        for prompt in effect.items
    ]
    embedded = [effect for effect in world.effects if isinstance(effect, Embed)]
    return [one.text for one in done.passages], prompts, embedded


@pytest.mark.parametrize("has_model", [False, True])
def test_a_chunk_is_read_once(state, has_model):
    """Whoever asks what, and whatever is retrieved beside it."""
    built = Engine(POLICY, state=state, llm=Model(str) if has_model else None)
    _, prompts, _ = asked(built)
    assert bool(prompts) is has_model

    for who in (None, JUDGE):
        for passages in (PASSAGES, PASSAGES[::-1], PASSAGES[:1], PASSAGES[1:]):
            _, prompts, embedded = asked(built, passages, who, "another")
            assert (prompts, embedded) == ([], [])


def test_only_what_is_new_is_read(state):
    """A chunk that nobody has looked at is read by itself."""
    built = Engine(POLICY, state=state, llm=Model(str))
    asked(built, PASSAGES[:2])

    _, prompts, _ = asked(built)

    assert prompts
    assert all("Nobody else" in prompt for prompt in prompts)
    assert not any("came on" in prompt for prompt in prompts)


def test_what_binds_nobody_who_asks_is_looked_for_all_the_same(state):
    """What is found holds for everybody: the next one's question reads nothing."""
    built = Engine(POLICY, state=state, llm=Model(str))

    open_, prompts, _ = asked(built, who=JUDGE)
    closed, more, embedded = asked(built)

    assert any("[dates]" in prompt for prompt in prompts)
    assert "3 May 2020" in open_[0]
    assert "3 May 2020" not in closed[0]
    assert (more, embedded) == ([], [])


@pytest.mark.parametrize("question", ["Remove the names of witnesses", "Hide dates"])
def test_a_top_k_chooses_by_the_question(question, state):
    """And says what it left out; the others' findings are kept all the same."""
    built = Engine({**POLICY, "disclosure": LIMITS}, state=state)
    world = Scripted()

    done = run(disclose(PASSAGES[:1], Request(question), built), world)

    (left,) = [one for one in done.decisions if one.subject == "constraints"]
    assert left.reason == "top-k"
    assert len(left.constraint_ids) == 1
    assert ("Karlsson" in done.passages[0].text) == (left.constraint_ids == ("names",))
    assert ("2020" in done.passages[0].text) == (left.constraint_ids == ("dates",))


def test_a_limited_policy_leaves_nothing_unlocated_for_another(state):
    """What a question left out for one policy is enforced by the next one's."""
    limited = Engine({**POLICY, "disclosure": LIMITS}, state=state)
    asked(limited, question="Hide exact dates", complete=None)

    texts, _, _ = asked(Engine(POLICY, state=state), complete=None)

    assert not re.search("arlsson|2020", str(texts))


def test_a_model_is_asked_what_a_limit_left_out(state):
    """What was not asked about counts as not looked for."""
    limited = {**POLICY, "disclosure": LIMITS}
    asked(Engine(limited, state=state, llm=Model(str)), question="Hide exact dates")

    _, prompts, _ = asked(Engine(POLICY, state=state, llm=Model(str)))

    assert any("[names]" in prompt for prompt in prompts)
    assert not any("[dates]" in prompt for prompt in prompts)
