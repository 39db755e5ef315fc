"""Every plan meets every ceiling, checked by a literal reading that shares no code."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from literal import Corpus, Literal

from sdrag.linkage.incidence import Incidence
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.policy import LinkageSection

STRATEGIES = ("greedy", "knapsack")
QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
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
    minimise=st.sampled_from(["entities", "mentions"]),
    edge_threshold=st.sampled_from([0.2, 0.5]),
    max_document_risk=st.sampled_from([0.8, 0.95]),
    max_chain_risk=st.sampled_from([0.3, 0.5]),
)


def planned(
    corpus: Corpus,
    weights: dict[str, float],
    section: LinkageSection,
    select: str,
    unmaskable: frozenset[str] = frozenset(),
) -> tuple[Plan, set[str]]:
    rows = [
        (number, entity, relevance)
        for number, held in enumerate(corpus.values())
        for entity, relevance in held.items()
    ]
    incidence = Incidence.build(list(corpus), rows, weights, unmaskable)
    plan = plan_masking(incidence, section.model_copy(update={"select": select}))
    names = incidence.entity_ids
    return plan, {names[n] for n, masked in enumerate(plan.masked.tolist()) if masked}


class TestCeilings:
    """No document and no chain is left over its ceiling."""

    @QUICK
    @given(corpora, weightings, sections, st.sampled_from(STRATEGIES))
    def test_an_independent_checker_agrees(
        self,
        corpus: Corpus,
        weights: dict[str, float],
        section: LinkageSection,
        select: str,
    ) -> None:
        """Documents, frozen chains and chains of the output, for every strategy."""
        literal = Literal(corpus, weights, section)
        _, masked = planned(corpus, weights, section, select)
        assert literal.meets(masked, literal.ceilings(literal.document_level()))

    @QUICK
    @given(corpora, weightings, sections)
    def test_the_first_stage_is_the_thesis_read_literally(
        self, corpus: Corpus, weights: dict[str, float], section: LinkageSection
    ) -> None:
        """Document-level masking picks the same entities and ceilings."""
        literal = Literal(corpus, weights, section)
        plan, masked = planned(corpus, weights, section, "document")
        assert masked == literal.document_level()
        ceilings = literal.ceilings(masked)
        assert sorted(plan.chains.ceiling.tolist()) == pytest.approx(
            sorted(ceilings.values()), abs=1e-9
        )

    @QUICK
    @given(corpora, weightings, sections, st.data())
    def test_masking_more_never_raises_a_risk(
        self,
        corpus: Corpus,
        weights: dict[str, float],
        section: LinkageSection,
        data: st.DataObject,
    ) -> None:
        """Every risk is monotone in what is masked."""
        literal = Literal(corpus, weights, section)
        less = data.draw(st.sets(st.sampled_from(sorted(literal.frequency))))
        more = less | data.draw(st.sets(st.sampled_from(sorted(literal.frequency))))
        for document in corpus:
            assert (
                literal.document_risk(document, more)
                <= literal.document_risk(document, less) + 1e-12
            )
        for chain in literal.chains(set()):
            assert (
                literal.chain_risk(chain, more)
                <= literal.chain_risk(chain, less) + 1e-12
            )


class TestUnmaskable:
    """Only what the policy declares unmaskable can make a ceiling impossible."""

    @pytest.mark.parametrize("select", STRATEGIES)
    def test_the_report_proves_what_is_impossible(self, select: str) -> None:
        """The chain rests on an entity that may not be masked; nothing else is lost."""
        corpus = {
            "d0": {"e0": 1.0, "e1": 0.5},
            "d1": {"e0": 1.0, "e2": 0.5},
            "d2": {"e3": 0.9},
        }
        weights = dict.fromkeys((f"e{n}" for n in range(4)), 1.0)
        section = LinkageSection(edge_threshold=0.3, max_chain_risk=0.2)
        plan, masked = planned(corpus, weights, section, select, frozenset({"e0"}))
        assert "e0" not in masked
        assert plan.impossible_chains.tolist() == [0]
        assert plan.impossible_documents.tolist() == []

    @QUICK
    @given(
        corpora,
        weightings,
        sections,
        st.sets(entities, max_size=3),
        st.sampled_from(STRATEGIES),
    )
    def test_the_rest_is_met_all_the_same(
        self,
        corpus: Corpus,
        weights: dict[str, float],
        section: LinkageSection,
        kept: set[str],
        select: str,
    ) -> None:
        """A chain over its ceiling is over it with all that may be masked masked."""
        literal = Literal(corpus, weights, section)
        plan, masked = planned(corpus, weights, section, select, frozenset(kept))
        assert not masked & kept
        everything = set(literal.frequency) - kept
        for document in corpus:
            floor = literal.document_risk(document, everything)
            ceiling = max(section.max_document_risk, floor)
            assert literal.document_risk(document, masked) <= ceiling + 1e-9
        over = plan.chain_risk[plan.impossible_chains]
        assert (over > plan.chains.ceiling[plan.impossible_chains]).all()


def test_a_certain_identifier_is_always_masked() -> None:
    """A contribution of one has no logarithm, and no ceiling lets it pass."""
    section = LinkageSection(max_document_risk=1.0, max_chain_risk=1.0)
    corpus = {"d0": {"e0": 1.0}, "d1": {"e1": 0.5}}
    for select in ("document", *STRATEGIES):
        _, masked = planned(corpus, {"e0": 1.0, "e1": 1.0}, section, select)
        assert masked == {"e0"}
