"""
What each constraint of a policy is understood as, and whether it is.

`parser` reads a constraint, by `wording` (orders, permissions, audiences),
`types_and_topics` and `names`; `words` knows words. Their tables are in `tables`.
"""

from __future__ import annotations

from sdrag.disclosure.constraint_parser.parser import (
    Kind,
    ParsedConstraint,
    Status,
    parse,
)
from sdrag.disclosure.constraint_parser.types_and_topics import Topic

__all__ = ["Kind", "ParsedConstraint", "Status", "Topic", "parse"]
