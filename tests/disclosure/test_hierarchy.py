"""Hierarchical summaries: a tree over each document, flattened into the index."""

import uuid

import numpy as np
import pytest

from sdrag.disclosure import ingest
from sdrag.disclosure.hierarchy import (
    SOURCES_KEY,
    HierarchySettings,
    add_summaries,
    cluster_to_fit,
    in_layers,
)
from sdrag.effects.steps import Complete, Embed, run
from sdrag.errors import ModelError, ModelReplyError, ModelTimeoutError
from sdrag.pipeline import Engine
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted


def leaves(count, document="d", **metadata):
    return tuple(
        Passage(f"{document}{n}", f"Fact {n} of {document}.", metadata, None, document)
        for n in range(count)
    )


ONE_RULE = {"constraints": [{"id": "names", "text": "Remove names of witnesses"}]}
STATE = open_state()


def grown(passages, settings=None, complete=lambda _: "A summary.", policy=ONE_RULE):
    runner = Scripted(complete=complete)
    steps = add_summaries(passages, Policy.read(policy), STATE, settings)
    return run(steps, runner)[0], runner


def test_summaries_are_known_by_their_sources():
    """The id is a UUID that tells nothing, and is the same for the same key."""
    settings = HierarchySettings(depth=2)
    (one,), (again,) = (grown(leaves(3), settings)[0] for _ in range(2))
    steps = add_summaries(leaves(3), Policy.read(ONE_RULE), open_state(), settings)
    (other,), _ = run(steps, Scripted(complete=lambda _: "S."))

    assert uuid.UUID(one.id)
    assert one.id == again.id
    assert one.id != other.id


@pytest.mark.parametrize(
    ("layers", "count"), [((0,), 3), ((1, 2), 1), (None, 4), ((2,), 0)]
)
def test_retrieval_is_held_to_layers(layers, count):
    """[0] is the chunks, [1, 2] the summaries, all is both."""
    chunks = leaves(3)
    summaries, _ = grown(chunks)

    assert len(in_layers((*chunks, *summaries), layers)) == count


def test_documents_and_audiences_stay_apart():
    """No summary joins two documents, or two audiences of one."""
    chunks = (*leaves(2, "a"), *leaves(2, "b", roles="x"))
    chunks += tuple(
        Passage(f"b9{n}", "Other.", {"roles": "y"}, None, "b") for n in range(2)
    )
    summaries, _ = grown(chunks, HierarchySettings(depth=2))

    assert [s.metadata[SOURCES_KEY] for s in summaries] == [
        "a0\na1",
        "b0\nb1",
        "b90\nb91",
    ]
    assert [s.metadata.get("roles") for s in summaries] == [None, "x", "y"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelError("down"), "model-failed"),
        (ModelTimeoutError("late"), "model-timeout"),
        ("  ", "model-failed"),
    ],
)
def test_failed_summary_is_told(reply, reason):
    """A cluster without a summary has none, and the audit says why."""

    def complete(prompt):
        if "of a" not in prompt.messages[-1].content.text:
            return "A summary."
        if isinstance(reply, Exception):
            raise reply
        return reply

    chunks = (*leaves(3, "a"), *leaves(3, "b"))
    settings, policy = HierarchySettings(depth=2), Policy.read(ONE_RULE)
    summaries, (decision,) = run(
        add_summaries(chunks, policy, STATE, settings), Scripted(complete=complete)
    )

    assert [one.document_id for one in summaries] == ["b"]
    assert (decision.action, decision.rule, decision.reason) == (
        "dropped",
        "hierarchy",
        reason,
    )
    assert uuid.UUID(decision.subject)


@pytest.mark.parametrize(
    ("reply", "error"), [(ModelError("down"), ModelError), ("", ModelReplyError)]
)
def test_no_summary_at_all_is_an_error(reply, error):
    """A model that is down does not pass for a corpus without summaries."""

    def complete(_):
        if isinstance(reply, Exception):
            raise reply
        return reply

    with pytest.raises(error):
        grown(leaves(3), complete=complete)


def test_documents_are_summarized_side_by_side():
    """All documents of a layer are embedded, and asked about, in one go."""
    chunks = tuple(leaf for name in "abcdef" for leaf in leaves(3, name))
    _, runner = grown(chunks, HierarchySettings(depth=2))

    asked = [len(e.items) for e in runner.effects if isinstance(e, Complete)]
    embedded = [len(e.items) for e in runner.effects if isinstance(e, Embed)]
    assert asked == [6]
    assert embedded == [18]


@pytest.mark.parametrize(
    ("limit", "groups"),
    [
        (100, [(0, 1, 2, 3)]),
        (25, [(0, 1), (2, 3)]),
        (10, [(0,), (1,), (2,), (3,)]),
        (1, [(0,), (1,), (2,), (3,)]),
    ],
)
def test_a_cluster_that_is_too_long_is_parted(limit, groups):
    """Until each part fits one prompt; one chunk alone may be longer."""
    vectors = np.eye(4, dtype=np.float32)
    settings = HierarchySettings(characters=limit)

    assert cluster_to_fit(vectors, [10] * 4, settings) == groups


def test_prompts_hold_whole_chunks():
    """What a prompt has room for is cut off nowhere."""
    texts = ["long " * 30, "short", "brief", "last"]
    chunks = [Passage(f"p{n}", text) for n, text in enumerate(texts)]
    _, runner = grown(chunks, HierarchySettings(characters=200, depth=2))
    asked = [
        prompt.messages[-1].content.text
        for effect in runner.effects
        if isinstance(effect, Complete)
        for prompt in effect.items
    ]

    assert len(asked) == 1
    assert all(text in asked[0] for text in texts)


def test_a_summary_is_unbound():
    """It may say what any chunk says, so every constraint may hold for it."""
    chunks, state, policy = leaves(3), open_state(), Policy.read(ONE_RULE)
    runner = Scripted(complete=lambda _: "Nothing.")
    summaries, _ = run(add_summaries(chunks, policy, state), runner)
    setup = Engine(policy, state=state).disclosure

    run(ingest([*chunks, *summaries], setup), runner)

    assert state.bindings.read(summaries, policy.rules) == [None]
    assert state.bindings.read(chunks, policy.rules) != [None] * 3


@pytest.mark.parametrize(
    "policy",
    [
        {**ONE_RULE, "access": {"roles_key": "teams"}},
        {"constraints": [{"text": "Hide salaries", "where": {"teams": ["a"]}}]},
    ],
    ids=["access", "where"],
)
def test_what_a_policy_looks_at_stays_apart(policy):
    """A summary that lost such a key would escape the rule that looks at it."""
    chunks = [
        Passage(f"{team}{n}", f"Fact {n}.", {"teams": team}, None, "d")
        for team in "ab"
        for n in range(2)
    ]
    summaries, _ = grown(chunks, policy=policy)

    assert [one.metadata["teams"] for one in summaries] == ["a", "b"]
