"""
What of a constraint the tables of trades are asked about.

Its order is no topic. Nor is what only says whose names, dates or numbers it asks for:
a detector finds those, whatever trade they are of. In a clause ("what the girl told the
psychologist") an ordinary word is no term of a trade, and the scorer reads the rest.
"""

from __future__ import annotations

import re

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser.folded_wording import subject_of
from sdrag.text.folding import fold_text

__all__ = ["asks_for_names", "is_clause", "is_ordinary", "topic_of"]

_HEAD = (
    r"(?:(?:sur|first|nick|given )?names?|identit(?:y|ies)|dates?|ages|address(?:es)?"
    r"|numbers?|codes?|amounts?|sums?|prices?|initials|plates?|registration marks?"
    r"|coordinates|fees|bills|doses?|days|payments|percentages|e-?mails?)"
)
_OWNER = r"(?:(?!(?:and|or|nor|any|all|in|of|to|gender|sexual)\b)[\w'-]+ ){0,3}"
_TYPED = re.compile(
    rf"(?<![\w-]){_OWNER}(?<!gender )(?<!sexual ){_HEAD}\b"
    r"(?! of (?:the )?(?:knowledge|board|data|account))"
    rf"(?:(?:,| and| or|, and) {_OWNER}{_HEAD}\b)*"
    r"(?: (?:of|for|under|on|to|from|at|in|with|who|that|which|whose|are|were|may|must"
    r"|made|paid|agreed|offered|owed|given)\b"
    r"[^,;]*?)?(?=,|;| and | or |$)"
)
_CLAUSE = re.compile(
    r"\b(?:how|why|what|whatever|where|when|whether|which|who|whom|whose|that|those)\b"
)
_NAMING = re.compile(
    r"\b(?:named|nameless|unnamed|anonym\w+|identifi(?:ed|able)|recogni[sz]\w+)\b"
    r"|^(?:do not|don't|never) (?:name|identify)\b"
)
_ORDINARY = 10_000


def topic_of(text: str) -> str:
    """Return the topic of a constraint, folded; what it leaves out is a comma."""
    return _TYPED.sub(",", fold_text(subject_of(text)))


def is_clause(topic: str) -> bool:
    """Say whether a topic tells something that happened."""
    return _CLAUSE.search(topic) is not None


def asks_for_names(text: str) -> bool:
    """Say whether somebody must not be named, whoever that is."""
    return _NAMING.search(fold_text(text)) is not None


def is_ordinary(phrase: str) -> bool:
    """Say whether everybody uses all words of a phrase."""
    ranks = common_words()
    return all(
        ranks.get(word, _ORDINARY) < _ORDINARY for word in re.findall(r"\w+", phrase)
    )
