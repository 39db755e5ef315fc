"""
Work on a corpus placed on Ray, with the result that one process would give.

The rules stay where they are: `linkage`, `disclosure` and `explanation` decide. Here
texts are sent to workers, and what they find is sent back. One process, the caller's,
makes the plan and writes the state. Read `session`, then `workers`, then the three
commands: `masking`, `binding` and `previewing`.
"""

from __future__ import annotations

from sdrag.distributed.binding import bind_corpus
from sdrag.distributed.masking import RayPlacement, mask_corpus
from sdrag.distributed.previewing import preview_corpus
from sdrag.distributed.session import RayOptions, ray_session

__all__ = [
    "RayOptions",
    "RayPlacement",
    "bind_corpus",
    "mask_corpus",
    "preview_corpus",
    "ray_session",
]
