"""
What a constraint is about: its words without the order they give, and its topic.

The tables of trades are asked about the topic. A constraint's order is no topic. Nor is
what only says whose names, dates or numbers it asks for: a detector finds those,
whatever trade they are of. In a clause ("what the girl told the psychologist") an
ordinary word is no term of a trade, and the scorer reads the rest.
"""

from __future__ import annotations

import re

from sdrag.detectors.local.tables import common_words
from sdrag.text.folding import fold_text

__all__ = [
    "asks_for_names",
    "is_clause",
    "is_ordinary",
    "statement_of",
    "subject_of",
    "topic_of",
]

_STATED = re.compile(
    r"\bthe fact that\b|^(?:that|whether)\b|\b(?:reveal|say|disclose|mention|learn|know"
    r"|known|tell|told|hint|admit|state|suggest|hide|conceal|withhold|secret|public"
    r"|find out|explain|discuss)(?:ing|s|ed)?"
    r"(?: (?:it|at|to|anyone|anybody|him|her|them|us)){0,2} (?:that|whether)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:please |you must |it is forbidden to |nothing (?:may|must|should) be said )?"
    r"(?:(?:do not|don't|never|refuse to|avoid|no) )?"
    r"(?:(?:remove|mask|reveal|withhold|keep(?: back| out| secret| quiet)?|disclose"
    r"|hide|leave out|leave unmentioned|suppress|conceal|say(?: anything)?"
    r"|explain|omit|name|speak|talk|refer to"
    r"|strike out|give out|give away|give|hold back|tell|print|mention|bring up|quote"
    r"|protect|blank out|identify|redact|describe|state|show|share|cut|delete|drop"
    r"|release|discuss|hint at|let out)(?:ing)? )?(?:about |of |the fact )?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:(?:must|shall|should|may|can|is to|are to"
    r"|has to|have to|ought to|needs? to)"
    r"(?: not| never| no longer| still| always)?"
    r" (?:be|stay|remain|appear|come|leave|go|become)(?: \w+){0,5}"
    r"|(?:is|are|stays?|remains?) (?:protected|sealed|secret|confidential|private"
    r"|not for|internal|out).*|stays? out|out(?: of the answers?)?|secret"
    r"|confidential)\.?$",
    re.IGNORECASE,
)
"""An order at the end. What comes after many words is content: "must not learn where
the hives stand" gives no order that could be left out."""


def subject_of(text: str) -> str:
    """Return a constraint without the order it gives; all of it, if nothing is left."""
    subject = _TAIL.sub("", _LEAD.sub("", text.strip(), count=1), count=1).strip(" .,")
    return subject or text


def statement_of(text: str) -> str:
    """Return what a constraint itself says that must not be said; empty for nothing."""
    begun = _STATED.search(text)
    return text[begun.end() :] if begun else ""


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
_TOPIC_CLAUSE = re.compile(
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
    return _TOPIC_CLAUSE.search(topic) is not None


def asks_for_names(text: str) -> bool:
    """Say whether somebody must not be named, whoever that is."""
    return _NAMING.search(fold_text(text)) is not None


def is_ordinary(phrase: str) -> bool:
    """Say whether everybody uses all words of a phrase."""
    ranks = common_words()
    return all(
        ranks.get(word, _ORDINARY) < _ORDINARY for word in re.findall(r"\w+", phrase)
    )
