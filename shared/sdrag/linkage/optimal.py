"""
The cheapest plan, with a proof or a gap.

A covering problem for HiGHS: each round solves the rows known so far, checks the
proposal with the exact formulas, and adds cuts for whatever is still over its ceiling.
A relaxation that meets everything is optimal. Requirements that share no entity are
solved apart. Chains that a proposal revives are requirements too; so no chain of the
masked corpus is over `theta_chain`.

The best of the strategies, with all that it does not need taken back, is the plan to
beat. Proposals are made plans in the same way: what they lack is masked, and what that
makes needless is taken back. When the time is over the best plan stands, with the
bound reached.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.linkage.incidence import Floats
from sdrag.linkage.problem import Ground, Problem
from sdrag.linkage.relaxing import Row
from sdrag.linkage.requirements import Requirement, cuts
from sdrag.linkage.risk_state import Mask
from sdrag.linkage.selection import Selected
from sdrag.linkage.solver import cheapest

__all__ = ["Solution", "optimise"]

_INTEGRAL = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution:
    """
    The plan and how good it can be shown to be.

    Args:
        selected: What is masked.
        cost: Of the plan, in entities or mentions.
        bound: No plan costs less.
        seconds: That the search took.
    """

    selected: Selected
    cost: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary; 0 is optimal."""
        return 0.0 if not self.cost else max(0.0, (self.cost - self.bound) / self.cost)


def optimise(ground: Ground, starts: Sequence[Selected], costs: Floats) -> Solution:
    """
    Search for the cheapest plan.

    Args:
        ground: What it is made on.
        starts: Plans of the other strategies; the best is the one to beat.
        costs: (entities,) what masking each costs.

    Raises:
        MissingExtraError: The extra `linkage` is not installed.
    """
    began = time.monotonic()
    seconds = ground.settings.solver_seconds
    problem = Problem(ground, costs)
    plans = [problem.trimmed(start.masked, began + seconds / 4) for start in starts]
    search = _Search(
        problem,
        min(plans, key=lambda one: problem.rank(_numbers(one))),
        began + seconds,
    )
    bound = search.run()
    cost = problem.cost(search.best)
    return Solution(
        _explained(search.best, starts, problem),
        cost,
        min(bound, cost),
        time.monotonic() - began,
    )


def _explained(best: Mask, starts: Sequence[Selected], problem: Problem) -> Selected:
    """Give each masked entity a document or a chain that holds it."""
    selected = Selected(best)
    for entity in np.flatnonzero(best).tolist():
        for start in starts:
            if entity in start.for_document:
                selected.for_document[entity] = start.for_document[entity]
                break
            if entity in start.for_chain:
                selected.for_chain[entity] = start.for_chain[entity]
                break
        else:
            row = problem.corpus.rows_of(entity)[0]
            selected.for_document[entity] = int(problem.corpus.document[row])
    return selected


class _Search:
    """
    Solves the parts of a problem, and keeps what was learnt of each.

    Args:
        problem: What a plan must meet.
        best: A plan to beat; the best found so far, in the end.
        deadline: When to stop, on the monotonic clock.
    """

    def __init__(self, problem: Problem, best: Mask, deadline: float) -> None:
        self._problem, self.best, self._deadline = problem, best, deadline
        self._rows: dict[int, list[Row]] = {}

    def run(self) -> float:
        """Search until the best is proven or the time is over; return the bound."""
        problem = self._problem
        solved: dict[frozenset[int], tuple[set[int], float]] = {}
        highest = 0.0
        while True:
            masked = problem.certain.copy()
            bound = problem.cost(masked)
            for part in sorted(problem.parts(), key=lambda one: (len(one), min(one))):
                if part not in solved:
                    solved[part] = self._solve(part)
                chosen, reached = solved[part]
                bound += reached
                masked[sorted(chosen)] = True
            highest = max(highest, bound)
            revived = problem.revived(masked)
            self._offer(masked)
            late = time.monotonic() > self._deadline
            if not revived or late or problem.cost(self.best) <= highest + _INTEGRAL:
                return highest
            problem.requirements.extend(revived)

    def _offer(self, proposal: Mask) -> None:
        """Make a plan of a proposal, and keep it where it is the best."""
        problem = self._problem
        spare = max(self._deadline - time.monotonic(), 0.0) / 4
        plan = problem.completed(proposal)
        if problem.cost(plan) > problem.cost(proposal):
            plan = problem.trimmed(plan, time.monotonic() + max(spare, 1.0))
        self.best = min(self.best, plan, key=lambda one: problem.rank(_numbers(one)))

    def _solve(self, part: frozenset[int]) -> tuple[set[int], float]:
        """Return the cheapest way found to meet one part, and the bound on any."""
        problem, numbers = self._problem, sorted(part)
        requirements = [problem.requirements[number] for number in numbers]
        held = {entity for one in requirements for entity in one.entities}
        best = {entity for entity in held if self.best[entity]}
        for number, requirement in zip(numbers, requirements, strict=True):
            if number not in self._rows:
                self._rows[number] = list(requirement.rows())
        bound, exact = 0.0, False
        while (left := self._deadline - time.monotonic()) > 0:
            known = [row for number in numbers for row in self._rows[number]]
            chosen, reached = cheapest(known, problem.costs, left, exact=exact)
            bound = max(bound, reached)
            if chosen is None:
                break
            unmet = [n for n in numbers if problem.requirements[n].unmet(chosen)]
            repaired = self._repaired(requirements, chosen)
            best = min(best, repaired, key=problem.rank)
            if problem.rank(best)[0] <= bound + _INTEGRAL or (exact and not unmet):
                break
            exact = not unmet
            for number in unmet:
                requirement = problem.requirements[number]
                self._rows[number].extend(cuts(requirement, chosen, problem.gains))
        return best, bound

    def _repaired(
        self, requirements: Sequence[Requirement], chosen: set[int]
    ) -> set[int]:
        """Mask what a proposal lacks, and take back what it does not need."""
        problem, masked = self._problem, set(chosen)
        for requirement in requirements:
            problem.meet(requirement, masked)
        if masked == chosen:
            return masked
        held: dict[int, list[Requirement]] = {}
        for requirement in requirements:
            for entity in requirement.entities:
                held.setdefault(entity, []).append(requirement)
        for entity in problem.dearest(masked):
            rest = masked - {entity}
            if not any(requirement.unmet(rest) for requirement in held[entity]):
                masked = rest
        return masked


def _numbers(masked: Mask) -> set[int]:
    return set(np.flatnonzero(masked).tolist())
