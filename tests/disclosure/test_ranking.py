"""
The five strategies of SD-RAG, section IV-C2, against values worked by hand.

Vectors in the plane, each of length 1, by (cosine, sine):

    q  = (1, 0)        the query
    d1 = (1, 0)        a chunk like the query
    d2 = (0, 1)        a chunk unlike it
    D  = (0.8, 0.6)    both chunks as one text, as a model might embed them
    a  = (0.6, 0.8)    a constraint
    b  = (1, 0)        another
    c  = (0, 1)        a third

Similarities (dot products): sim(a,d1)=0.6, sim(a,d2)=0.8; sim(b,d1)=1, sim(b,d2)=0;
sim(c,d1)=0, sim(c,d2)=1; sim(d1,q)=1, sim(d2,q)=0.

    concatenated  sim(x,D):  a: 0.6*0.8+0.8*0.6 = 0.96; b: 0.8; c: 0.6
    query         sim(x,q):  a: 0.6; b: 1; c: 0
    maximum       a: max(0.6,0.8) = 0.8; b: 1; c: 1
    average       a: (0.6+0.8)/2 = 0.7; b: (1+0)/2 = 0.5; c: (0+1)/2 = 0.5
    weighted      a: (1*0.6+0*0.8)/2 = 0.3; b: (1*1+0*0)/2 = 0.5; c: (1*0+0*1)/2 = 0

The weighted average divides by |D| = 2 as printed; by the sum of the weights, which is
1, it would give 0.6, 1 and 0.
"""

from __future__ import annotations

import pytest

from sdrag.disclosure.binding import rank
from sdrag.effects.steps import Embed, run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted
from ..support.tables import each_row

VECTORS = {
    "q": (1.0, 0.0),
    "d1": (1.0, 0.0),
    "d2": (0.0, 1.0),
    "d1\nd2": (0.8, 0.6),
    "a": (0.6, 0.8),
    "b": (1.0, 0.0),
    "c": (0.0, 1.0),
}
RULES = [Constraint(name, name) for name in "abc"]
CHUNKS = [Passage("p1", "d1"), Passage("p2", "d2")]
POLICY = {
    "constraints": [
        {"id": f"c{n}", "text": f"Conceal what is told of the {topic}"}
        for n, topic in enumerate(("harbour", "mill", "bridge"))
    ],
    "disclosure": {"top_k": 1},
}


def embed(texts):
    return [VECTORS[text] for text in texts]


def ranked(strategy, state=None, rules=RULES, vectors=embed):
    """Rank, and return the scores by id and what was embedded."""
    world = Scripted(embed=vectors)
    found = run(rank(rules, CHUNKS, "q", state or open_state(), strategy), world)
    return found, embedded(world)


def embedded(world):
    return [item for e in world.effects if isinstance(e, Embed) for item in e.items]


@each_row(
    "strategy, scores, order",
    [
        ("concatenated", [0.96, 0.8, 0.6], "abc"),
        ("query", [1.0, 0.6, 0.0], "bac"),
        ("maximum", [1.0, 1.0, 0.8], "bca"),
        ("average", [0.7, 0.5, 0.5], "abc"),
        ("weighted_average", [0.5, 0.3, 0.0], "bac"),
    ],
)
def test_the_five_formulas(strategy, scores, order):
    """Each gives the paper's values, and equal scores keep the policy's order."""
    found, _ = ranked(strategy)

    assert [score for _, score in found] == pytest.approx(scores)
    assert "".join(name for name, _ in found) == order


@pytest.mark.parametrize("noise", [1e-7, -1e-7, 3e-6, -3e-6])
@each_row("place", range(3))
def test_noise_of_a_processor_ranks_nothing(noise, place):
    """Scores that are equal but for it keep the policy's order."""
    vectors = {**VECTORS, **dict.fromkeys("abc", (0.6, 0.8))}
    vectors["abc"[place]] = (0.6 + noise, 0.8)

    found, _ = ranked("query", vectors=lambda texts: [vectors[one] for one in texts])

    assert found == (("a", 0.6), ("b", 0.6), ("c", 0.6))


@each_row(
    "strategy, first, later",
    [
        ("concatenated", ["a", "b", "c", "d1\nd2"], ["d1\nd2"]),
        ("query", ["a", "b", "c", "q"], ["q"]),
        ("maximum", ["a", "b", "c", "d1", "d2"], []),
        ("average", ["a", "b", "c", "d1", "d2"], []),
        ("weighted_average", ["a", "b", "c", "d1", "d2", "q"], ["q"]),
    ],
)
def test_what_a_question_embeds(strategy, first, later):
    """
    What belongs to one question each time; constraints and chunks once.

    Three never embed the question, whose words move no constraint out of their top K.
    """
    state = open_state().remembering()

    counts = [sorted(ranked(strategy, state)[1]) for _ in range(3)]

    assert counts == [first, later, later]


def test_a_state_that_no_wrapper_took_remembers_no_vector():
    """It cannot know whose model made them, so vectors of two models never meet."""
    state = open_state()

    assert [len(ranked("query", state)[1]) for _ in range(2)] == [4, 4]


def test_a_wrapper_remembers_from_question_to_question(tmp_path):
    """Through the whole pipeline, over a state that another wrapper has bound."""
    path, chunks = tmp_path / "state.sqlite", [Passage("p", "The mill was sold.")]
    run(bind(chunks, Engine(POLICY, state=path)), Scripted())
    engine, counts = Engine(POLICY, state=path), []
    for _ in range(2):
        world = Scripted()
        run(disclose(chunks, Request("Who?"), engine), world)
        counts.append(len(embedded(world)))

    assert counts[1] == 1 < counts[0]
