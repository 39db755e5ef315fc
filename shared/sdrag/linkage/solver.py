"""The covering problem as HiGHS solves it, through scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sdrag.extras import require_extra
from sdrag.linkage.incidence import Floats
from sdrag.linkage.relaxing import Row

__all__ = ["cheapest"]

_INTEGRAL = 1e-6
_NEAR = 0.02
"""How near to the least a proposal is, while rows are still being found."""


def cheapest(
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
