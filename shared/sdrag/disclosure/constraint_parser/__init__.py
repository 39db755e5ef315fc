"""
What each constraint of a policy is understood as, and whether it is.

`parser` reads a constraint, by `wording` (orders, permissions, audiences), `asked`
(types and topics) and `names`; `words` knows words. Their tables are
in `tables`.
"""

from __future__ import annotations

from sdrag.disclosure.constraint_parser.asked import Topic
from sdrag.disclosure.constraint_parser.parser import (
    Kind,
    ParsedConstraint,
    Status,
    parse,
)

__all__ = ["Kind", "ParsedConstraint", "Status", "Topic", "parse"]
