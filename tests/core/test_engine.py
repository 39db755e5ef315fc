"""An engine without a framework: models are functions, options are checked at once."""

from __future__ import annotations

import asyncio

import pytest

from sdrag import Engine, Options, Passage, UsageError
from sdrag.pipeline import Request, disclose

from ..support.scripted import canary, toy_vectors

SECRET = canary("options")
POLICY = {"constraints": [{"id": "codes", "text": f'Remove "{SECRET}"'}]}
PASSAGES = [Passage("p", f"The code {SECRET} opens it.")]


def test_functions_are_models():
    """Sync and async release the same, and each request is audited once."""
    events, texts = [], []

    def embed(batch):
        texts.extend(batch)
        return toy_vectors(batch)

    policy = {**POLICY, "relevance": {"min_score": 0.01}}
    options = Options(audit=[events.append])
    engine = Engine(policy, embeddings=embed, options=options)
    steps = (disclose(PASSAGES, Request("Which code?"), engine) for _ in range(2))

    first, event = engine.run(next(steps))
    second, _ = asyncio.run(engine.arun(next(steps)))

    assert first.passages[0].text == second.passages[0].text
    assert SECRET not in first.passages[0].text
    assert "Which code?" in texts
    assert (events[0], len(events)) == (event, 2)


def test_another_policy_keeps_the_other_arguments():
    engine = Engine(POLICY, options=Options(audit=print))
    other = engine.replace(policy={"constraints": ["Remove names"]})

    assert other.policy_hash != engine.policy_hash
    assert (other.options, other.stage) == (engine.options, engine.stage)


def test_what_cannot_do_its_work_is_refused():
    """When it is passed, by its type and without its content."""
    for name in ("llm", "embeddings", "options"):
        with pytest.raises(UsageError) as caught:
            Engine(POLICY, **{name: SECRET})
        assert SECRET not in str(caught.value)

    assert repr(Options(authorize=print)) == "Options(authorize, audit)"
    assert SECRET not in repr(Engine(POLICY))
