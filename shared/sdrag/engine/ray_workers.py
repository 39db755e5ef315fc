"""
Workers of Ray, which are handed a corpus in batches.

What is right only for a whole corpus cannot tell a batch from one. So it asks here
where it works. Ray is not loaded to find out.
"""

from __future__ import annotations

import sys
from typing import Any

from sdrag.errors import UsageError

__all__ = ["refuse_in_ray_worker"]


def refuse_in_ray_worker(name: str, hint: str) -> None:
    """
    Refuse to work in a task or an actor of Ray.

    Args:
        name: What cannot work on a batch.
        hint: What to do.

    Raises:
        UsageError: This process is a worker.
    """
    if _is_ray_worker():
        raise UsageError(
            f"{name} is in a Ray worker, which is given batches of a corpus.", hint=hint
        )


def _is_ray_worker() -> bool:
    ray: Any = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    return bool(ray.get_runtime_context().worker.mode == ray.WORKER_MODE)
