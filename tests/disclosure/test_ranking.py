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

from dataclasses import fields, replace

import numpy as np
import pytest

from sdrag.disclosure.ranking import STRATEGIES, Similarities, rank
from sdrag.errors import UsageError

CONSTRAINTS = np.array([[0.6, 0.8], [1, 0], [0, 1]], dtype=np.float32)
CHUNKS = np.array([[1, 0], [0, 1]], dtype=np.float32)
QUERY = np.array([1, 0], dtype=np.float32)
WORKED = Similarities(
    chunks=CONSTRAINTS @ CHUNKS.T,
    query=CONSTRAINTS @ QUERY,
    concatenated=CONSTRAINTS @ np.array([0.8, 0.6], dtype=np.float32),
    chunk_query=CHUNKS @ QUERY,
)


@pytest.mark.parametrize(
    ("strategy", "scores", "order"),
    [
        ("concatenated", [0.96, 0.8, 0.6], "abc"),
        ("query", [0.6, 1.0, 0.0], "bac"),
        ("maximum", [0.8, 1.0, 1.0], "bca"),
        ("average", [0.7, 0.5, 0.5], "abc"),
        ("weighted_average", [0.3, 0.5, 0.0], "bac"),
    ],
)
def test_the_five_formulas(strategy, scores, order):
    """Each gives the paper's values, and equal scores keep the policy's order."""
    found = STRATEGIES[strategy].score(WORKED)

    assert found.tolist() == pytest.approx(scores)
    assert "".join(name for name, _ in rank(found, ("a", "b", "c"))) == order


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_reads_what_it_says(strategy):
    """Whatever else is unknown changes nothing, so it need not be computed."""
    chosen = STRATEGIES[strategy]
    unread = {field.name for field in fields(WORKED)} - chosen.reads
    unknown = {name: getattr(WORKED, name) * np.nan for name in unread}

    found = chosen.score(replace(WORKED, **unknown))

    assert found.tolist() == chosen.score(WORKED).tolist()


def test_shapes_must_fit():
    """Similarities to nothing, or of different chunks, rank nothing."""
    one = np.zeros(1, dtype=np.float32)
    with pytest.raises(UsageError):
        Similarities(np.zeros((1, 0), dtype=np.float32), one, one, one)
    with pytest.raises(UsageError):
        Similarities(np.zeros((1, 2), dtype=np.float32), one, one, one)


@pytest.mark.parametrize("noise", [0.0, 1e-7, -1e-7, 3e-6, -3e-6])
@pytest.mark.parametrize("place", range(3))
def test_noise_of_a_processor_ranks_nothing(noise, place):
    """Scores that are equal but for it keep the policy's order."""
    scores = np.full(3, 0.5, dtype=np.float32)
    scores[place] += noise

    assert rank(scores, ("a", "b", "c")) == (("a", 0.5), ("b", 0.5), ("c", 0.5))
