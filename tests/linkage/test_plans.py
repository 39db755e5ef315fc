"""Every plan meets every ceiling, checked by a literal reading that shares no code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from literal import Corpus, Literal

from benchmarks.linkage_experiments.generated import zipf_corpus
from sdrag.linkage import chain_ceilings
from sdrag.linkage import linked_pairs as candidates
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.planning import Plan, plan_masking
from sdrag.linkage.problem import PlanningInput, Problem
from sdrag.linkage.selection import certain
from sdrag.policy import LinkageSection

STRATEGIES = ("greedy", "knapsack", "optimal")
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


class TestOptimal:
    """The optimal plan is the smallest there is."""

    @QUICK
    @given(corpora, weightings, sections)
    def test_it_equals_brute_force(
        self, corpus: Corpus, weights: dict[str, float], section: LinkageSection
    ) -> None:
        """No smaller set of entities meets every ceiling."""
        literal = Literal(corpus, weights, section)
        ceilings = literal.ceilings(literal.document_level())
        plan, masked = planned(corpus, weights, section, "optimal")
        names = sorted(literal.frequency)
        smallest = next(
            size
            for size in range(len(names) + 1)
            for chosen in itertools.combinations(names, size)
            if literal.meets(set(chosen), ceilings)
        )
        assert len(masked) == smallest
        assert plan.solution is not None
        assert plan.solution.bound == pytest.approx(smallest)
        assert plan.solution.gap == 0.0

    @QUICK
    @given(corpora, weightings, sections, st.sampled_from(["entities", "mentions"]))
    def test_it_never_costs_more_than_a_strategy(
        self,
        corpus: Corpus,
        weights: dict[str, float],
        section: LinkageSection,
        minimise: str,
    ) -> None:
        """Counted in entities or in places, as the policy says."""
        section = section.model_copy(update={"minimise": minimise})
        literal = Literal(corpus, weights, section)

        def cost(masked: set[str]) -> int:
            places = minimise == "mentions"
            return sum(literal.frequency[e] if places else 1 for e in masked)

        best = cost(planned(corpus, weights, section, "optimal")[1])
        assert best <= cost(planned(corpus, weights, section, "greedy")[1])
        assert best <= cost(planned(corpus, weights, section, "knapsack")[1])


def test_a_dense_component_is_proven() -> None:
    """Eighty documents in one component: the least plan, and no gap."""
    corpus = zipf_corpus(80)
    section = LinkageSection(select="optimal", solver_seconds=60)
    solution = plan_masking(corpus, section).solution
    assert solution is not None
    assert solution.gap < 0.02
    knapsack = plan_masking(corpus, LinkageSection()).masked.sum()
    assert solution.cost < 0.9 * knapsack


def test_without_time_a_strategy_stands() -> None:
    """The plan meets every ceiling, and the bound is still one."""
    corpus = zipf_corpus(60)
    section = LinkageSection(select="optimal", solver_seconds=1e-9)
    plan = plan_masking(corpus, section)
    assert plan.solution is not None
    assert 0 <= plan.solution.bound <= plan.solution.cost
    assert plan.impossible_chains.size == plan.impossible_documents.size == 0
    ceiling = section.max_document_risk
    assert plan.document_risk.max() <= ceiling + 1e-9


@QUICK
@given(corpora, weightings, sections, st.integers(0, 2**7 - 1))
def test_every_row_holds_for_every_plan_that_meets_its_requirement(
    corpus: Corpus, weights: dict[str, float], section: LinkageSection, chosen: int
) -> None:
    """A bound that cuts off a good plan would prove a falsehood."""
    plan, _ = planned(corpus, weights, section, "document")
    incidence = plan.corpus
    nothing = certain(incidence)
    graph = plan.before.expanded().without(nothing, section.edge_threshold)
    planning = PlanningInput(
        incidence, section, nothing, graph, plan.edges, plan.chains
    )
    problem = Problem(planning, np.ones(len(incidence.entity_ids)))
    masked = {n for n in range(len(incidence.entity_ids)) if chosen >> n & 1}
    for requirement in problem.requirements:
        if not requirement.unmet(masked):
            for row in requirement.rows():
                assert sum(row.gains.get(n, 0.0) for n in masked) >= row.need - 1e-9


class TestHubs:
    """Links are looked at in blocks; chains that need nothing are not held."""

    @QUICK
    @given(corpora, weightings, sections, st.sampled_from(["greedy", "knapsack"]))
    def test_the_plan_is_the_same_where_few_chains_are_held(
        self,
        corpus: Corpus,
        weights: dict[str, float],
        section: LinkageSection,
        select: str,
    ) -> None:
        """And each chain that is not held is counted under its category."""
        section = section.model_copy(update={"chain_length": 2})
        whole, masked = planned(corpus, weights, section, select)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chain_ceilings, "_MOST_KEPT", 0)
            patch.setattr(candidates, "_BLOCK", 2)
            few, again = planned(corpus, weights, section, select)
        assert again == masked
        assert few.links_before == whole.links_before
        assert few.links_after == whole.links_after
        assert len(few.chains) + sum(few.chains.spared.values()) == len(whole.chains)
        assert (few.chains.risk_before > few.chains.ceiling).all()

    def test_a_hub_is_not_expanded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two hundred documents around one value: 19,900 links, none of them held."""
        monkeypatch.setattr(chain_ceilings, "_MOST_KEPT", 0)
        corpus = {f"d{n:04}": {f"x{n}": 0.1} for n in range(2000)}
        for held in list(corpus.values())[:200]:
            held["e0"] = 1.0
        weights = {"e0": 1.0} | {f"x{n}": 0.1 for n in range(2000)}
        section = LinkageSection(edge_threshold=0.1)
        plan, _ = planned(corpus, weights, section, "knapsack")
        assert plan.links_before == 19_900
        assert len(plan.edges) == 0
        assert plan.chains.spared["LOW"] == 19_900


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


class TestLongChains:
    """Chains of three and four documents, bounded."""

    def ring(self) -> tuple[Corpus, dict[str, float]]:
        corpus = {
            f"d{n:02}": {f"e{n}": 0.9, f"e{(n + 1) % 12}": 0.9} for n in range(12)
        }
        return corpus, dict.fromkeys((f"e{n}" for n in range(12)), 1.0)

    @pytest.mark.parametrize(("length", "count"), [(2, 12), (3, 24), (4, 36)])
    def test_all_simple_paths_are_enumerated(self, length: int, count: int) -> None:
        """A ring of twelve has twelve paths of each length."""
        corpus, weights = self.ring()
        section = LinkageSection(chain_length=length, max_document_risk=0.99)
        plan, _ = planned(corpus, weights, section, "knapsack")
        assert len(plan.chains) == count
        assert plan.chains.left_out == {}

    @pytest.mark.parametrize("bound", [12, 18, 30])
    def test_what_is_not_enumerated_is_reported(self, bound: int) -> None:
        """The count left out is never too low."""
        corpus, weights = self.ring()
        section = LinkageSection(
            chain_length=4, max_document_risk=0.99, max_chains=bound
        )
        plan, _ = planned(corpus, weights, section, "knapsack")
        assert 12 <= len(plan.chains) <= max(bound, 12)
        assert len(plan.chains) + sum(plan.chains.left_out.values()) >= 36
