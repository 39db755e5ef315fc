"""Once withheld, always withheld: no question shows what another one withheld."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdrag.engine.steps import Reply, run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import open_state
from sdrag.testing import Scripted, canary
from sdrag.vocabulary import Finding, Passage, Principal, Span

WORDS = [canary(f"word {number}") for number in range(3)]
RULES = [
    {"id": f"c{n}", "text": f"Conceal topic {n}", "unless": {"roles": [f"r{n}"]}}
    for n in range(3)
]
TOP_ONE = {"apply": "top_k", "top_k": 1, "rank_by": "query", "monotone": True}
LIMITED = {"constraints": RULES, "disclosure": TOP_ONE}
FORGETFUL = {**LIMITED, "disclosure": {**TOP_ONE, "monotone": False}}
UNLIMITED = {"constraints": RULES}
CHUNK = Passage("p", " and ".join(WORDS), document_id="d")
OTHERS = [
    Passage("q", f"A title: {WORDS[0]}", document_id="d"),
    Passage("r", "Nothing of interest.", document_id="d"),
    Passage("s", f"{WORDS[1]} elsewhere", document_id="other"),
]
QUESTIONS = st.sampled_from([f"Conceal topic {n}" for n in range(3)])


class Topics:
    """A locator that finds one word for each topic."""

    identity = "topics"

    def locate(self, passages, constraints):
        yield from ()
        return [Reply(tuple(self._found(p.text, constraints))) for p in passages]

    def _found(self, text, constraints):
        for rule in constraints:
            word = WORDS[int(rule.text[-1])]
            if word in text:
                start = text.index(word)
                yield Finding(Span(start, start + len(word)), rule.id, "named")


@pytest.fixture(params=["memory", "file"])
def state(request, tmp_path):
    return open_state(None if request.param == "memory" else tmp_path / "state.db")


def engine(policy, state=None):
    return Engine.build(policy, locator=Topics(), state=state)


def gone(built, question, principal=None, passages=(CHUNK,)):
    """Return which words the chunk does not show."""
    steps = disclose(passages, Request(question, principal), built)
    (text,) = [p.text for p in run(steps, Scripted()).passages if p.id == "p"]
    return {word for word in WORDS if word not in text}


def test_subtraction_works_without(state):
    """Two questions, two answers, and each shows what the other hides: the leak."""
    built = engine(FORGETFUL, state)

    assert gone(built, "Conceal topic 0") == {WORDS[0]}
    assert gone(built, "Conceal topic 1") == {WORDS[1]}


def test_what_was_taken_once_is_taken_from_then_on(state):
    """Whatever later questions choose."""
    built = engine(LIMITED, state)

    assert gone(built, "Conceal topic 0") == {WORDS[0]}
    assert gone(built, "Conceal topic 1") == {WORDS[0], WORDS[1]}
    assert gone(built, "Conceal topic 0") == {WORDS[0], WORDS[1]}


@given(st.lists(QUESTIONS, min_size=2, max_size=8), st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_is_asked_nothing_comes_back(questions, data):
    """Over any questions and neighbours, what is withheld of a chunk only grows."""
    built, before = engine(LIMITED), set()
    for question in questions:
        beside = data.draw(st.lists(st.sampled_from(OTHERS), unique_by=lambda p: p.id))
        now = gone(built, question, passages=(CHUNK, *beside))
        assert before <= now
        before = now


@given(st.lists(QUESTIONS, min_size=2, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_without_limits_no_question_changes_a_release(questions, data):
    """The same chunk always leaves the same, whatever is asked and stands beside it."""
    built = engine(UNLIMITED)
    for question in questions:
        beside = data.draw(st.lists(st.sampled_from(OTHERS), unique_by=lambda p: p.id))
        assert gone(built, question, passages=(CHUNK, *beside)) == set(WORDS)


def test_two_audiences_are_apart(state):
    """What was taken for one says nothing of what another may read."""
    built = engine(LIMITED, state)
    first = Principal("ann", roles=frozenset({"r2"}))
    second = Principal("ben", roles=frozenset({"r0", "r1"}))

    assert gone(built, "Conceal topic 0", first) == {WORDS[0]}
    assert gone(built, "Conceal topic 0", second) == {WORDS[2]}
    assert gone(built, "Conceal topic 1", first) == {WORDS[0], WORDS[1]}
    assert gone(built, "Conceal topic 1", second) == {WORDS[2]}


def test_an_audience_shares_what_was_taken(state):
    """All whom the same constraints bind learn no more together than one of them."""
    built = engine(LIMITED, state)
    ann, ben = Principal("ann", tenant="a"), Principal("ben", tenant="b", level=2)

    gone(built, "Conceal topic 0", ann)

    assert gone(built, "Conceal topic 1", ben) == {WORDS[0], WORDS[1]}


@pytest.mark.parametrize(
    "changed",
    [
        Passage("p", f"{CHUNK.text} and more", document_id="d"),
        Passage("p", CHUNK.text, document_id="e"),
    ],
    ids=["another text", "another document"],
)
def test_another_chunk_is_another_one(changed, state):
    """What a chunk withheld is kept of that chunk."""
    built = engine(LIMITED, state)
    gone(built, "Conceal topic 0")

    assert gone(built, "Conceal topic 1", passages=(changed,)) == {WORDS[1]}


def test_metadata_and_ids_are_held_to_it():
    """A title and an id stay withheld like the text."""
    built = engine({**LIMITED, "metadata": {"allow": ["title"]}})
    chunk = Passage(f"id-{WORDS[0]}", f"see {WORDS[0]}", {"title": f"see {WORDS[0]}"})

    for question in ("Conceal topic 0", "Conceal topic 1"):
        (one,) = run(disclose([chunk], Request(question), built), Scripted()).passages
        assert WORDS[0] not in f"{one.id} {one.text} {dict(one.metadata)}"


def test_a_file_joins_processes(tmp_path):
    """Wrappers of one state share what was taken, and the file holds no text."""
    path = tmp_path / "state.db"

    assert gone(engine(LIMITED, path), "Conceal topic 0") == {WORDS[0]}
    assert gone(engine(LIMITED, path), "Conceal topic 1") == {WORDS[0], WORDS[1]}
    for file in tmp_path.iterdir():
        assert not any(word.encode() in file.read_bytes() for word in WORDS)
        assert not file.stat().st_mode & 0o077


@settings(
    max_examples=3, deadline=None, suppress_health_check=list(HealthCheck)
)  # each makes threads
@given(st.permutations(range(12)))
def test_questions_side_by_side_take_nothing_back(order):
    """Whoever answers first: in the end all that was ever taken is taken."""
    built = engine(LIMITED)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: gone(built, f"Conceal topic {n % 3}"), order))

    assert gone(built, "Conceal topic 0") == set(WORDS)


def test_a_state_that_fails_releases_nothing(monkeypatch, state):
    """What cannot be kept does not leave."""
    built = engine(LIMITED, state)

    def fail(*_):
        raise OSError(WORDS[0])

    monkeypatch.setattr(type(state.enforced), "add", fail)
    done = run(disclose([CHUNK], Request("Conceal topic 0"), built), Scripted())

    assert done.passages == ()
    assert not any(word in repr(done.decisions) for word in WORDS)


def test_a_reworded_constraint_is_another_one(state):
    """What the old words took, the new ones need not take."""
    first, *others = RULES
    reworded = {**first, "text": "Please conceal topic 0"}
    gone(engine(LIMITED, state), "Conceal topic 0")

    built = engine({**LIMITED, "constraints": [reworded, *others]}, state)

    assert gone(built, "Conceal topic 1") == {WORDS[1]}
