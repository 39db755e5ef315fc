"""What each constraint of a policy is understood as, and whether it is."""

from __future__ import annotations

from sdrag.disclosure.constraint_parser.parse import parse
from sdrag.disclosure.constraint_parser.parsed import (
    Kind,
    ParsedConstraint,
    Status,
    Topic,
)

__all__ = ["Kind", "ParsedConstraint", "Status", "Topic", "parse"]
