"""No wording of a question decides which constraints are enforced, unless asked for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.disclosure import bind
from sdrag.disclosure.binding import choose
from sdrag.effects.steps import Complete, Embed, Score, Search, run
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted

TOPICS = ["names", "dates", "doses", "sums", "towns", "codes", "dogs", "ships"]
RULES = tuple(
    Constraint(f"c{n}", f"Hide the {TOPICS[n % 8]} of group {n}") for n in range(60)
)
CHUNKS = tuple(
    Passage(f"p{n}", f"The {topic} of group {n} were told.", document_id=f"d{n}")
    for n, topic in enumerate(TOPICS)
)
STATE = open_state()
NARROW = DisclosureSection(bind_top_n=2, similarity_floor=0.9)
run(bind(CHUNKS, RULES, STATE, NARROW), Scripted())

questions = st.text(max_size=60) | st.sampled_from([rule.text for rule in RULES])
retrieved = st.lists(
    st.sampled_from(CHUNKS), min_size=1, max_size=5, unique_by=lambda chunk: chunk.id
)


def chosen(passages, query, **section):
    world = Scripted()
    section = NARROW.model_copy(update=section)
    found = run(choose(passages, query, RULES, STATE, section), world)
    return found, world.effects


def asked_with(effects):
    """Everything that left the rules: what models, stores and embeddings were asked."""
    kinds = (Embed, Complete, Score, Search)
    return [effect.items for effect in effects if isinstance(effect, kinds)]


@given(retrieved, questions, questions)
@settings(max_examples=60, deadline=None)
def test_all_candidates_depend_on_the_chunks_alone(passages, one, other):
    """Two questions with the same chunks: the same constraints, the same effects."""
    first, trace = chosen(passages, one)
    second, same = chosen(passages, other)

    assert first == second
    assert not first.dropped
    assert asked_with(trace) == asked_with(same)


@given(retrieved, questions, questions, st.sampled_from(["maximum", "average"]))
@settings(max_examples=30, deadline=None)
def test_a_top_k_of_a_ranking_without_the_question_depends_on_the_chunks_alone(
    passages, one, other, rank_by
):
    """No wording pushes a constraint out."""
    limits = {"top_k": 5, "rank_by": rank_by}

    first, _ = chosen(passages, one, **limits)
    second, _ = chosen(passages, other, **limits)

    assert first == second
    assert len(first.applied) <= 5


@given(retrieved, questions, st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_every_candidate_is_applied_or_reported(passages, query, top_k):
    """Nothing is lost between all candidates and the top K."""
    everything, _ = chosen(passages, query)

    found, _ = chosen(passages, query, top_k=top_k)

    parts = [rule.id for rule in found.applied + found.dropped]
    assert sorted(parts) == sorted(everything.asked)
    assert len(found.applied) <= top_k
