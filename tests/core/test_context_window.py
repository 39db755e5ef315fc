"""A prompt holds no more text than its model takes in."""

from __future__ import annotations

from sdrag.effects.steps import run
from sdrag.framework import Model
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from ..support.doubles import verdicts
from ..support.scripted import Scripted
from ..support.tables import each_row

POLICY = {
    "constraints": [{"id": "c1", "text": "Remove call signs"}],
    "disclosure": {"token_budget": 1000},
}


def asked(window):
    """Return the prompts that a document of some 1000 tokens is asked about in."""
    prompts = []

    def reply(prompt):
        text = "\n".join(message.content.text for message in prompt.messages)
        prompts.append(prompt)
        return verdicts(c1=[])(text)

    engine = Engine(POLICY, llm=Model(str, window=window), stage="bind")
    text = "The ship was late again. " * 156
    run(bind([Passage("p", text, document_id="d")], engine), Scripted(complete=reply))
    return [prompt for prompt in prompts if prompt.name == "disclosure.extract"]


@each_row("window, prompts", [(None, 1), (100_000, 1), (2000, 1), (1000, 2), (500, 4)])
def test_half_of_a_window_is_for_the_text(window, prompts):
    """The policy's budget where that is less, or where nobody knows the window."""
    assert len(asked(window)) == prompts


@each_row("tokens, budget", [(1, 64), (64, 64), (500, 500), (1000, 1000), (5000, 1000)])
def test_a_fitted_policy_says_the_same(tokens, budget):
    """Only its budget is less, never below what a policy may say; its hash stays."""
    policy = Policy.read(POLICY)

    limited = policy.limit_tokens(tokens)

    assert limited.disclosure.token_budget == budget
    assert limited.hash == policy.hash
    assert limited.rules == policy.rules
    assert policy.disclosure.token_budget == 1000
