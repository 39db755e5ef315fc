"""
Dates and times: the stretch from one to another, and all that a pattern recognizes.

The patterns are in `tables/patterns.toml`: in English, in other languages, and as
machines write them. No calendar library validates them: people write impossible dates
(31 June, 5 December 20040), and these identify all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.detectors.local.tokens import Candidate

_JOINED = re.compile(
    r",? (?:and|to|until|till|or)(?: on| from| of| in)? |, (?:on |in )?|-| - "
)
_BETWEEN = re.compile(r"\b(?:[Bb]etween|[Ff]rom) $")
_YEARED = re.compile(r"\d{4}$")
_JOINABLE = 0.7


def join_dates(text: str, dates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield neighbours as a whole: 1 March and 31 December 1998."""
    sure = [date for date in dates if date.confidence >= _JOINABLE]
    by_start = {date.start: date for date in sure}
    for date in sure:
        join = _JOINED.match(text, date.end)
        after = by_start.get(join.end()) if join else None
        if join is None or after is None:
            continue
        between = _BETWEEN.search(text, max(0, date.start - 8), date.start)
        two_dates = "and" in join.group() and _YEARED.search(text[: date.end][-4:])
        if between or not two_dates:
            whole = between and between.group()[1] == "e"
            start = between.start() if between and whole else date.start
            yield Candidate(start, after.end, "DATE", 0.9, "stretch")
