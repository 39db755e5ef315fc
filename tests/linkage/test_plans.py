"""Every plan meets every ceiling, checked by a literal reading that shares no code."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.linkage import plan as plan_module
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.policy import LinkageSection

from .literal import Corpus, Literal

relevances = st.sampled_from([0.2, 0.5, 0.7, 0.9, 1.0])
entities = st.sampled_from([f"e{number}" for number in range(7)])
corpora = st.lists(
    st.dictionaries(entities, relevances, min_size=1, max_size=5),
    min_size=2,
    max_size=6,
).map(lambda held: {f"d{number}": one for number, one in enumerate(held)})
weightings = st.fixed_dictionaries(
    {f"e{n}": st.sampled_from([0.35, 0.6, 0.85, 1.0]) for n in range(7)}
)
sections = st.builds(
    LinkageSection,
    chain_length=st.sampled_from([2, 2, 3, 4]),
    edge_threshold=st.sampled_from([0.2, 0.5]),
    max_document_risk=st.sampled_from([0.8, 0.95]),
    max_chain_risk=st.sampled_from([0.3, 0.5, 0.9]),
    select=st.sampled_from(["greedy", "knapsack"]),
)


def planned(
    corpus: Corpus,
    weights: dict[str, float],
    section: LinkageSection,
    unmaskable: frozenset[str] = frozenset(),
) -> tuple[Plan, set[str]]:
    rows = [
        (number, entity, relevance)
        for number, held in enumerate(corpus.values())
        for entity, relevance in held.items()
    ]
    incidence = Incidence.of(list(corpus), rows, weights, unmaskable)
    plan = plan_masking(incidence, section)
    names = incidence.entity_ids
    return plan, {names[n] for n, masked in enumerate(plan.masked.tolist()) if masked}


def why(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by names what is masked, and what for."""
    documents, names = plan.corpus.document_ids, plan.corpus.entity_ids
    return {names[e]: tuple(documents[d] for d in ds) for e, ds in plan.why.items()}


def compare(corpus, weights, section, block=2048):
    """Compare a plan with the literal reading: what is masked, why, and the risks."""
    literal = Literal(corpus, weights, section)
    first = literal.document_level()
    ceilings = literal.ceilings({*first})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_module, "_BLOCK", block)
        plan, masked = planned(corpus, weights, section)
        documents = section.model_copy(update={"select": "document"})
        coarse, _ = planned(corpus, weights, documents)

    assert why(plan) == literal.chain_level(first)
    assert why(coarse) == first
    assert literal.meets(masked, ceilings)
    left = [literal.chain_risk(chain, masked) for chain in ceilings]
    assert plan.chain_risk.tolist() == pytest.approx(left, abs=1e-9)


@given(corpora, weightings, sections, st.sampled_from([1, 2048]))
def test_a_plan_is_the_thesis_read_literally(corpus, weights, section, block):
    """The same entities for the same documents and chains, wherever blocks end."""
    compare(corpus, weights, section, block)


def dense(seed):
    """Make documents that many small entities link."""
    rng = Random(seed)
    corpus = {
        f"d{number}": {
            f"e{entity}": rng.choice([0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
            for entity in rng.sample(range(9), 7)
        }
        for number in range(3)
    }
    return corpus, {f"e{number}": rng.choice([0.2, 0.35, 0.6]) for number in range(9)}


BOTH = {"e0": 0.9, "e1": 0.9}
TIED = {"d0": BOTH, "d1": BOTH, "d2": {"e1": 1.0}, "d3": {"e0": 0.9}}


@pytest.mark.parametrize("select", ["greedy", "knapsack"])
@pytest.mark.parametrize(
    ("corpus", "weights"),
    [
        *map(dense, (11, 101, 110)),  # where the strategies part
        (TIED, BOTH),
    ],
)
def test_a_strategy_is_the_thesis_read_literally(corpus, weights, select):
    """Also where more than one entity has to go, and where two are as good."""
    section = LinkageSection(
        chain_length=3, edge_threshold=0.1, max_document_risk=1.0, select=select
    )
    for most in (0.1, 0.3, 0.5):
        compare(corpus, weights, section.model_copy(update={"max_chain_risk": most}))


def test_the_report_proves_what_is_impossible():
    """The chain rests on an entity that may not be masked; nothing else is lost."""
    corpus = {
        "d0": {"e0": 1.0, "e1": 0.5},
        "d1": {"e0": 1.0, "e2": 0.5},
        "d2": {"e3": 0.9},
    }
    weights = dict.fromkeys((f"e{n}" for n in range(4)), 1.0)
    section = LinkageSection(edge_threshold=0.3, max_chain_risk=0.2)
    plan, masked = planned(corpus, weights, section, frozenset({"e0"}))
    assert "e0" not in masked
    assert plan.impossible_chains.tolist() == [0]
    assert plan.impossible_documents.tolist() == []


@given(corpora, weightings, sections, st.sets(entities, max_size=3))
def test_the_rest_is_met_all_the_same(corpus, weights, section, kept):
    """A chain over its ceiling is over it with all that may be masked masked."""
    literal = Literal(corpus, weights, section)
    plan, masked = planned(corpus, weights, section, frozenset(kept))
    assert not masked & kept
    everything = set(literal.frequency) - kept
    for document in corpus:
        floor = literal.document_risk(document, everything)
        ceiling = max(section.max_document_risk, floor)
        assert literal.document_risk(document, masked) <= ceiling + 1e-9
    over = plan.chain_risk[plan.impossible_chains]
    assert (over > plan.chains.ceiling[plan.impossible_chains]).all()


def test_a_certain_identifier_is_always_masked():
    """A contribution of one has no logarithm, and no ceiling lets it pass."""
    section = LinkageSection(max_document_risk=1.0, max_chain_risk=1.0)
    corpus = {"d0": {"e0": 1.0}, "d1": {"e1": 0.5}}
    assert planned(corpus, {"e0": 1.0, "e1": 1.0}, section)[1] == {"e0"}


def test_an_entity_is_masked_only_where_a_ceiling_asks_for_it():
    """The one that lowers the risk most goes, and no more than is needed."""
    corpus = {"d0": {"e0": 1.0, "e1": 0.2}, "d1": {"e0": 1.0, "e1": 0.2}, "d2": {}}
    weights = {"e0": 0.9, "e1": 0.9}
    section = LinkageSection(edge_threshold=0.1, max_chain_risk=0.3)
    plan, masked = planned(corpus, weights, section)
    assert masked == {"e0"}
    assert plan.why == {0: (0, 1)}
    assert len(plan.before) == 1
    assert len(plan.after) == 0
    assert plan.chain_risk.max() < 0.3 < np.max(plan.chains.risk_before)
    # What an earlier plan masked stays masked.
    again = plan_masking(plan.corpus, section, already=[1])
    assert why(again) == {"e0": ("d0", "d1"), "e1": ("d0",)}
