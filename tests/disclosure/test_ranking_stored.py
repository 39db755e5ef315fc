"""
A ranking looks up what binding has compared, and embeds what nobody has.

A world of eight constraints and five chunks in two documents and none. Its vectors are
drawn by the texts, so they are as far apart as chance leaves them; subjects of
constraints, which the hybrid strategy compares too, are texts of their own.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from hashlib import blake2b
from importlib import import_module

import numpy as np
import pytest

from sdrag.disclosure.candidates import candidates, ranking
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.ranking import STRATEGIES, Similarities, rank
from sdrag.engine.steps import Compute, Embed, run
from sdrag.pipeline import Engine, Request, attach, bind, disclose
from sdrag.state import open_state
from sdrag.testing import Scripted
from sdrag.vocabulary import Constraint, Passage

TOPICS = ("harbour", "mill", "bridge", "tower", "quarry", "orchard", "ferry", "dam")
RULES = [
    Constraint(f"c{n}", f"Conceal what is told of the {topic}")
    for n, topic in enumerate(TOPICS)
]
CHUNKS = [
    Passage(f"p{n}", f"A sentence about the {topic}.", document_id=document)
    for n, (topic, document) in enumerate(
        [("mill", "d1"), ("weir", "d1"), ("dam", "d2"), ("quay", "d2"), ("inn", None)]
    )
]
FOUND = CHUNKS[:4]
QUESTION = "What was told?"
TOP = {"apply": "top_k", "top_k": 3}
TEXTS = {rule.text for rule in RULES}
SUBJECTS = {parse(rule).subject for rule in RULES}
NEW = Constraint("c0", "Conceal what is told of the lighthouse")


def drawn(texts, seed=b"", size=64):
    """Draw a vector for each text, the same for the same text."""
    return [
        np.random.default_rng(list(blake2b(text.encode(), key=seed).digest()))
        .normal(size=size)
        .tolist()
        for text in texts
    ]


def unit(texts, seed=b""):
    vectors = np.array(drawn(texts, seed), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def engine(state, rules=RULES, **section):
    constraints = [{"id": rule.id, "text": rule.text} for rule in rules]
    policy = {"constraints": constraints, "disclosure": section}
    return Engine.build(policy, state=state)


@pytest.fixture(params=["memory", "file"])
def bound(request, tmp_path):
    """Bind, and return a state or a path that another wrapper opens."""
    state = None if request.param == "memory" else tmp_path / "state.sqlite"
    state = open_state() if state is None else state
    run(attach(CHUNKS, engine(state)), Scripted(embed=drawn))
    return state


def asked(built):
    """Choose the constraints of a question, and return what was embedded for it."""
    world, setup = Scripted(embed=drawn), built.disclosure
    section = setup.policy.disclosure
    run(candidates(FOUND, QUESTION, setup.rules, setup.state, section), world)
    return embedded(world)


def embedded(world):
    return [item for e in world.effects if isinstance(e, Embed) for item in e.items]


def ranked(built, strategy, passages=FOUND, embed=drawn):
    """Rank, and return the scores by id and what was embedded."""
    world, setup = Scripted(embed=embed), built.disclosure
    steps = ranking(setup.rules, passages, QUESTION, setup.state, strategy)
    return run(steps, world), embedded(world)


def by_vectors(strategy, rules=RULES, passages=FOUND, seed=b""):
    """Rank as the paper prints it, everything embedded."""
    texts = [passage.text for passage in passages]
    constraints = unit([rule.text for rule in rules], seed)
    chunks = unit(texts, seed)
    (query,) = unit([QUESTION], seed)
    (concatenated,) = unit(["\n".join(texts)], seed)
    similarities = Similarities(
        chunks=constraints @ chunks.T,
        query=constraints @ query,
        concatenated=constraints @ concatenated,
        chunk_query=chunks @ query,
    )
    scores = STRATEGIES[strategy].score(similarities)
    return rank(scores, tuple(rule.id for rule in rules))


def same(one, other):
    """Say whether ids stand in the same order, and scores differ by rounding alone."""
    return [name for name, _ in one] == [name for name, _ in other] and dict(
        one
    ) == pytest.approx(dict(other), abs=2e-3)


@pytest.mark.parametrize(
    ("section", "first", "later"),
    [
        ({**TOP, "rank_by": "maximum"}, 0, 0),
        ({**TOP, "rank_by": "average"}, 0, 0),
        ({**TOP, "rank_by": "hybrid"}, 0, 0),
        ({**TOP, "rank_by": "query"}, len(RULES) + 1, 1),
        ({**TOP, "rank_by": "concatenated"}, len(RULES) + 1, 1),
        ({**TOP, "rank_by": "weighted_average"}, len(FOUND) + 1, 1),
        ({}, 0, 0),
    ],
)
def test_what_a_question_embeds(bound, section, first, later):
    """The question or what it retrieved as one text; constraints and chunks once."""
    built = engine(bound, **section)

    counts = [len(asked(built)) for _ in range(3)]

    assert counts == [first, later, later]


def test_a_wrapper_remembers_from_question_to_question(tmp_path):
    """Through the whole pipeline, over a state that another wrapper has bound."""
    path = tmp_path / "state.sqlite"
    run(bind(CHUNKS, engine(path)), Scripted(embed=drawn))
    built, counts = engine(path, **TOP, rank_by="query"), []
    for _ in range(2):
        world = Scripted(embed=drawn)
        run(disclose(FOUND, Request(QUESTION), built), world)
        counts.append(len(embedded(world)))

    assert counts == [len(RULES) + 1, 1]


def test_a_question_is_embedded_and_never_remembered(bound):
    """Nor is what it retrieved as one text: what belongs to one question goes."""
    for strategy, text in [
        ("query", QUESTION),
        ("weighted_average", QUESTION),
        ("concatenated", "\n".join(passage.text for passage in FOUND)),
    ]:
        built = engine(bound, **TOP, rank_by=strategy)

        assert asked(built).count(text) == 1
        assert asked(built) == [text]


@pytest.mark.parametrize("passages", [FOUND, CHUNKS, CHUNKS[4:]])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_looked_up_is_what_the_vectors_give(bound, strategy, passages):
    """A chunk of no document included; the second question as the first."""
    built = engine(bound)

    for _ in range(2):
        found, _ = ranked(built, strategy, passages)
        assert same(found, by_vectors(strategy, passages=passages))


@pytest.mark.parametrize("passages", [FOUND[:3], CHUNKS])
def test_hybrid_looked_up_is_hybrid_computed(bound, passages, monkeypatch):
    """It ranks as it would if no chunk's own closeness had been kept."""
    found, nothing = ranked(engine(bound), "hybrid", passages)

    def unknown(self, passages, constraints):
        gaps = np.full((len(constraints), len(passages)), np.nan, np.float32)
        return module.Closeness(gaps, gaps)

    module = import_module("sdrag.state.affinities")
    monkeypatch.setattr(module.DocumentAffinities, "known", unknown)
    computed, everything = ranked(engine(bound), "hybrid", passages)

    assert [name for name, _ in found] == [name for name, _ in computed]
    assert dict(found) == pytest.approx(dict(computed), abs=5e-2)
    assert not nothing
    assert set(everything) == TEXTS | SUBJECTS | {one.text for one in passages}


EDITED = replace(CHUNKS[1], text="Another sentence about the weir.")
LATE = Passage("p9", "A sentence about the toll.", document_id="d9")
GAPS = [
    ("an edited chunk", RULES, [CHUNKS[0], EDITED], TEXTS | {EDITED.text}),
    ("an unbound chunk", RULES, [*FOUND, LATE], TEXTS | {LATE.text}),
    (
        "a reworded constraint",
        [NEW, *RULES[1:]],
        FOUND,
        {NEW.text, *(one.text for one in FOUND)},
    ),
    (
        "an added constraint",
        [*RULES, replace(NEW, id="c8")],
        FOUND[:1],
        {NEW.text, FOUND[0].text},
    ),
    ("a removed constraint", RULES[1:], FOUND, set()),
    ("another order", RULES[::-1], FOUND[::-1], set()),
]


@pytest.mark.parametrize("strategy", ["maximum", "average", "weighted_average"])
@pytest.mark.parametrize(
    ("rules", "passages", "missing"),
    [gap[1:] for gap in GAPS],
    ids=[gap[0] for gap in GAPS],
)
def test_only_what_is_missing_is_embedded(bound, strategy, rules, passages, missing):
    """What nobody has compared, and once; the ranking is that of the vectors."""
    built = engine(bound, rules)
    weighing = strategy == "weighted_average"
    beside = {QUESTION, *(one.text for one in passages)} if weighing else set()

    found, made = ranked(built, strategy, passages)
    again, later = ranked(built, strategy, passages)

    assert sorted(made) == sorted(missing | beside)
    assert later == ([QUESTION] if weighing else [])
    assert found == again
    assert same(found, by_vectors(strategy, rules, passages))


def test_hybrid_embeds_only_what_is_missing(bound):
    """Of an unbound chunk beside bound ones, and of a reworded constraint."""
    built, reworded = engine(bound), engine(bound, [NEW, *RULES[1:]])

    _, late = ranked(built, "hybrid", [*FOUND, LATE])
    _, later = ranked(built, "hybrid", [*FOUND, LATE])
    _, new = ranked(reworded, "hybrid", FOUND[:1])

    assert set(late) == TEXTS | SUBJECTS | {LATE.text}
    assert not later
    assert set(new) == {NEW.text, parse(NEW).subject, FOUND[0].text}


def test_forgotten_chunks_are_embedded(bound):
    """What left the index is not known any more, should it come back."""
    built = engine(bound)
    built.disclosure.state.bindings.forget([FOUND[0].id])

    _, made = ranked(built, "maximum", FOUND)

    assert set(made) == TEXTS | {FOUND[0].text}


@pytest.mark.parametrize("strategy", ["query", "concatenated", "weighted_average"])
def test_wrappers_of_one_state_do_not_share_vectors(strategy):
    """Each embeds with its own model, and vectors of two models never meet."""
    state = open_state()
    one, other = engine(state), engine(state)

    def another(texts):
        return drawn(texts, b"another")

    first, _ = ranked(one, strategy)
    second, made = ranked(other, strategy, embed=another)

    assert same(first, by_vectors(strategy))
    assert same(second, by_vectors(strategy, seed=b"another"))
    assert set(made) - {QUESTION}


def test_a_state_that_no_wrapper_took_remembers_no_vector():
    """It cannot know whose model made them."""
    state = open_state()

    for _ in range(2):
        world = Scripted(embed=drawn)
        run(ranking(RULES, FOUND, QUESTION, state, "query"), world)
        assert len(embedded(world)) == len(RULES) + 1


def test_the_store_is_read_off_the_event_loop(bound):
    """As everything that waits for a disk."""
    world, setup = Scripted(embed=drawn), engine(bound).disclosure
    steps = ranking(setup.rules, FOUND, QUESTION, setup.state, "maximum")
    run(steps, world)

    assert [type(effect) for effect in world.effects] == [Compute]


def test_the_file_holds_similarities_and_no_vector(tmp_path):
    """Four bytes for each constraint and chunk, however long vectors are."""
    size, counts, pages = 1024, (100, 500), []
    rules = [
        Constraint(f"c{n}", f"Conceal what is told of group {n}") for n in range(100)
    ]
    chunks = [Passage(f"p{n}", f"A sentence about {n}.") for n in range(counts[-1])]

    def embed(texts):
        return drawn(texts, size=size)

    for count in counts:
        path = tmp_path / f"{count}.sqlite"
        built = engine(path, rules, similarity_floor=1.0)
        run(attach(chunks[:count], built), Scripted(embed=embed))
        with sqlite3.connect(path) as connection:
            (held,) = connection.execute("SELECT count(*) FROM affinity").fetchone()
            pages.append(connection.execute("PRAGMA page_count").fetchone()[0])
        assert held == count

    # The bindings take what they took: each constraint keeps its fifty best chunks.
    each = (pages[1] - pages[0]) * 4096 / (counts[1] - counts[0])
    assert 4 * len(rules) < each < 4 * len(rules) + 300 < size
    vector = np.array(embed([chunks[0].text])[0], dtype=np.float32)
    for unit_length in (vector, vector / np.linalg.norm(vector)):
        for kind in ("<f2", "<f4", "<f8"):
            part = unit_length[:4].astype(kind).tobytes()
            assert not any(part in one.read_bytes() for one in tmp_path.iterdir())
