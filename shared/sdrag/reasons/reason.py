"""What a code says."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LOOK_AT_MODEL", "NOTHING_TO_DO", "Reason"]

NOTHING_TO_DO = "Nothing: this is what the policy asks for."
LOOK_AT_MODEL = "Look at the model and its provider, then ask again."


class Reason(NamedTuple):
    """
    What a code says.

    Args:
        happened: What happened, in one sentence.
        mend: What to do about it, in one or two.
    """

    happened: str
    mend: str
