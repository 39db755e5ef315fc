"""
Work on a corpus placed on Ray, with the result that one process would give.

The rules stay where they are: `linkage` and `disclosure` decide. Here
texts are sent to workers, and what they find is sent back. One process, the caller's,
makes the plan and writes the state. Read `session`, then `workers`, then
`masking` and `binding`.
"""

from __future__ import annotations

from sdrag.distributed.binding import bind_corpus
from sdrag.distributed.masking import RayPlacement, mask_corpus
from sdrag.distributed.session import RayOptions, ray_session

__all__ = [
    "RayOptions",
    "RayPlacement",
    "bind_corpus",
    "mask_corpus",
    "ray_session",
]
