"""
The cheapest plan, with a proof or a gap.

A covering problem for HiGHS, solved by cutting planes. Each round solves the rows known
so far and checks the proposal with the exact formulas. What is still over its ceiling
adds cuts; so do chains that the proposal revives, and no chain of the masked corpus is
over `theta_chain`. A relaxation that meets everything is optimal.

The plan to beat is the best of the other strategies, with all that it does not need
taken back. A proposal becomes a plan in the same way: what it lacks is masked, and what
that makes needless is taken back. When the time is over the best plan is returned, with
the bound reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.extras import require_extra
from sdrag.linkage.incidence import Floats
from sdrag.linkage.problem import PlanningInput, Problem
from sdrag.linkage.requirements import Row, cuts
from sdrag.linkage.risk_state import Mask
from sdrag.linkage.selection import Selection

__all__ = ["Solution", "optimise"]

_INTEGRAL = 1e-6
_NEAR = 0.02
"""How near to the least a proposal is, while rows are still being found."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution:
    """
    The plan and how good it can be shown to be.

    Args:
        selection: What is masked.
        cost: Of the plan, in entities or mentions.
        bound: No plan costs less.
        seconds: That the search took.
    """

    selection: Selection
    cost: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary; 0 is optimal."""
        return 0.0 if not self.cost else max(0.0, (self.cost - self.bound) / self.cost)


def optimise(
    planning: PlanningInput, starts: Sequence[Selection], costs: Floats
) -> Solution:
    """
    Search for the cheapest plan.

    Args:
        planning: What it is made on.
        starts: Plans of the other strategies; the best is the one to beat.
        costs: (entities,) what masking each costs.

    Raises:
        MissingExtraError: The extra `linkage` is not installed.
    """
    began = time.monotonic()
    seconds = planning.settings.solver_seconds
    problem = Problem(planning, costs)
    plans = [problem.trimmed(start.masked, began + seconds / 4) for start in starts]
    best, bound = _searched(problem, min(plans, key=problem.rank), began + seconds)
    cost = problem.cost(best)
    return Solution(
        _explained(best, starts, problem),
        cost,
        min(bound, cost),
        time.monotonic() - began,
    )


def _explained(best: Mask, starts: Sequence[Selection], problem: Problem) -> Selection:
    """Give each masked entity a document or a chain that holds it."""
    selection = Selection(best)
    for entity in np.flatnonzero(best).tolist():
        for start in starts:
            if entity in start.for_document:
                selection.for_document[entity] = start.for_document[entity]
                break
            if entity in start.for_chain:
                selection.for_chain[entity] = start.for_chain[entity]
                break
        else:
            row = problem.corpus.rows_of(entity)[0]
            selection.for_document[entity] = int(problem.corpus.document[row])
    return selection


def _searched(problem: Problem, best: Mask, deadline: float) -> tuple[Mask, float]:
    """
    Search until the best plan is proven or the time is over.

    Args:
        problem: What a plan must meet; what proposals show to be needed is added.
        best: A plan to beat.
        deadline: When to stop, on the monotonic clock.

    Returns:
        The best plan found, and a bound on the cost of any plan.
    """
    certain = problem.cost(problem.certain)
    rows = [row for requirement in problem.requirements for row in requirement.rows()]
    proposal, bound, exact = problem.certain, certain, False
    while (left := deadline - time.monotonic()) > 0:
        chosen, reached = _cheapest(rows, problem.costs, left, exact=exact)
        bound = max(bound, certain + reached)
        if chosen is None:
            break
        proposal = problem.certain.copy()
        proposal[sorted(chosen)] = True
        unmet = [item for item in problem.requirements if item.unmet(chosen)]
        if not unmet:
            best = _better(problem, best, proposal, deadline)
            if problem.cost(best) <= bound + _INTEGRAL:
                return best, bound
            unmet = problem.revived(proposal)
            if exact and not unmet:
                return best, bound
            problem.requirements.extend(unmet)
            rows.extend(row for requirement in unmet for row in requirement.rows())
        for requirement in unmet:
            rows.extend(cuts(requirement, chosen, problem.gains))
        exact = not unmet
    return _better(problem, best, proposal, deadline), bound


def _better(problem: Problem, best: Mask, proposal: Mask, deadline: float) -> Mask:
    """Make a plan of a proposal, and return the better of two plans."""
    plan = problem.completed(proposal)
    if problem.cost(plan) > problem.cost(proposal):
        spare = max(deadline - time.monotonic(), 0.0) / 4
        plan = problem.trimmed(plan, time.monotonic() + max(spare, 1.0))
    return min(best, plan, key=problem.rank)


def _cheapest(
    rows: Sequence[Row], costs: Floats, seconds: float, *, exact: bool
) -> tuple[set[int] | None, float]:
    """
    Meet rows at little cost; return what to mask, if time sufficed, and the bound.

    Args:
        rows: What is known to be needed.
        costs: (entities,) what masking each costs.
        seconds: The time that is left.
        exact: Prove the cost the least. While rows are still being found, a proposal
            near the least shows as well where more are needed.

    Raises:
        MissingExtraError: The extra `linkage` is not installed.
    """
    with require_extra("linkage", "The optimal plan"):
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415
        from scipy.sparse import csr_array  # noqa: PLC0415
    if not rows:
        return set(), 0.0
    names = sorted({entity for row in rows for entity in row.gains})
    column = {entity: index for index, entity in enumerate(names)}
    data = [gain for row in rows for gain in row.gains.values()]
    index = [column[entity] for row in rows for entity in row.gains]
    starts = np.cumsum([0, *(len(row.gains) for row in rows)])
    matrix = csr_array((data, index, starts), shape=(len(rows), len(names)))
    result = milp(
        costs[names],
        integrality=np.ones(len(names)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lb=[row.need for row in rows]),
        options={
            "time_limit": seconds if exact else max(seconds / 8, 1.0),
            "mip_rel_gap": 0.0 if exact else _NEAR,
        },
    )
    bound = _bound(result.mip_dual_bound, costs[names])
    if result.x is None:
        return None, bound
    return {names[i] for i in np.flatnonzero(result.x > 0.5).tolist()}, bound


def _bound(reached: float | None, costs: Floats) -> float:
    """Return the bound, rounded up where every cost is whole."""
    if reached is None or not math.isfinite(reached):
        return 0.0
    whole = bool(np.all(costs == np.round(costs)))
    return float(math.ceil(reached - _INTEGRAL)) if whole else float(reached)
