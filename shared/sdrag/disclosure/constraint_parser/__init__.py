"""
What each constraint of a policy is understood as, and whether it is.

`parser` makes a `parsed_constraint` of a text, by `wording` (orders, permissions,
audiences), `types_and_topics` and `names`; `words` knows words. Their tables are in
`tables`.
"""

from __future__ import annotations

from sdrag.disclosure.constraint_parser.parsed_constraint import (
    PATTERN,
    Kind,
    ParsedConstraint,
    Status,
    Topic,
)
from sdrag.disclosure.constraint_parser.parser import parse

__all__ = ["PATTERN", "Kind", "ParsedConstraint", "Status", "Topic", "parse"]
