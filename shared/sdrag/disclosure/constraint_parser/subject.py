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
from sdrag.disclosure.constraint_parser.dictionary import word_set
from sdrag.text.folding import fold_text

__all__ = [
    "asks_for_names",
    "is_clause",
    "is_ordinary",
    "statement_of",
    "subject_of",
    "topic_of",
    "without_audience",
]

_STATED = re.compile(
    r"\bthe fact that\b|^(?:that|whether)\b|\b(?:reveal|say|disclose|mention|learn|know"
    r"|known|tell|told|hint|admit|state|suggest|hide|conceal|withhold|secret|public"
    r"|find out|explain|discuss|come out|get out|emerge|transpire)(?:ing|s|e?d)?"
    r"(?: (?:it|at|to|anyone|anybody|him|her|them|us)){0,2} (?:that|whether)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:please |you must |it is forbidden to |nothing (?:may|must|should) be said "
    r"|it (?:is|(?:must|should|shall|has to|is to) (?:be|be kept|stay|remain)) "
    r"(?:private|secret|confidential|hidden|undisclosed|untold) (?=how|why|wh[aeo]))?"
    r"(?:(?:do not|don't|never|refuse to|avoid|no) )?"
    r"(?:(?:remove|mask|reveal|withhold|keep(?: back| out| secret| quiet)?|disclose"
    r"|hide|leave out|leave unmentioned|suppress|conceal|say(?: anything)?"
    r"|explain|omit|name|speak|talk|refer to"
    r"|strike out|give out|give away|give|hold back|tell|print|mention|bring up|quote"
    r"|protect|blank out|identify|redact|describe|state|show|share|cut|delete|drop"
    r"|release|discuss|hint at|let out|use)(?:ing)? )?(?:about |of |the fact )?",
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
    r"|numbers?|(?<!source )codes?|amounts?|sums?|prices?|initials|plates?"
    r"|registration marks?|coordinates|fees|bills|doses?|days|payments|percentages"
    r"|e-?mails?)"
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
    r"\b(?:named|nameless|unnamed|by name|anonym\w+|identifi(?:ed|able)"
    r"|recogni[sz]\w+)\b|^(?:do not|don't|never) (?:name|identify)\b"
)

_READERS = "|".join(word_set("audience"))
_READER = (
    rf"(?:(?:the|our|any|an?|all|other|another|external|outside|outsiders|prospective"
    rf"|former|current|future|local|opposing|trial|general|wider|their|his|her|its"
    rf"|business|insurance|press|client|human resources|hr) )*(?:{_READERS})\b"
    r"(?: (?:in|of|at|outside|from) (?:the |our |any )?(?!names|dates)\w+"
    rf"(?= (?:or|and|may|must|shall|should|can|are|is|about|of|that)\b|$|[,.;]))?"
)
_ALL_READERS = rf"{_READER}(?:,? (?:and|or|nor) (?:to |with |from )?{_READER})*"
_LEARN = (
    r"(?:learn|know|hear|see|discover|find out|read|get to know|be (?:told|informed"
    r"|shown|aware|given|sent)|have access|guess)"
)
_MUST = (
    r"(?:may|must|should|shall|can|could|is to|are to|needs? to|has to|have to|will)"
)
_AUDIENCE = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rf"^{_ALL_READERS} {_MUST}(?: ever| not| never)* {_LEARN}\b(?: about| of| to)?",
        (
            rf"\b(?:tell|inform|notify|let|brief|remind|warn|show|give|send)(?:ing)?"
            rf" {_ALL_READERS}(?: (?:know|see|learn|hear|find out))?(?: about| of)?\b"
        ),
        (
            rf"(?<= )(?:to|from|among|outside|beyond|in front of|shared with)"
            rf" {_ALL_READERS}(?=$|[,.;]| (?:without|before|until|unless|in|at|during"
            r"|for|by|under)\b)"
        ),
        (
            r"(?<= )(?:before|when|once|after|prior to) (?:[\w']+ ){0,7}(?:publication"
            r"|published|publishing|release|released|releasing|sent|shared|leaves?|leaving"
            r"|placed|circulated|passed on|handed (?:over|down|out)|submitted|announced"
            r"|announcement)\b[^,;]*$"
        ),
        (
            r"(?:^|(?<= ))(?:under|pursuant to|in accordance with|in line with"
            r"|as (?:required|set out|laid down) (?:by|in)|within the meaning of"
            r"|according to) (?:[\w'().]+ ){0,5}?(?:act|sections?|articles?"
            r"|regulations?|rules?|policy|policies|directions?|directives?|gdpr|laws?|code)\b[^,;]*"
        ),
        (
            r"(?<= )(?:without|subject to) (?:\w+ ){0,3}(?:consent|agreement"
            r"|permission)\b.*$"
        ),
        r"(?<= )for (?:\w+ ){1,2}purposes\b",
    )
)
"""Whom something is kept from, on which occasion, and on which grounds."""


def topic_of(text: str) -> str:
    """Return a constraint, folded, with all blanked out that is not its topic."""
    subject = subject_of(text)
    start = text.find(subject)
    folded = "".join(_fold_letter(character) for character in subject)
    return " " * start + _TYPED.sub(_blank, folded)


def _fold_letter(character: str) -> str:
    folded = fold_text(character) if character.isalpha() else character
    return folded if len(folded) == 1 else character


def _blank(match: re.Match[str]) -> str:
    """Return a comma and blanks, so that offsets stay."""
    return ",".ljust(len(match.group()))


def without_audience(text: str) -> str:
    """
    Return a constraint with its audience blanked out, and its occasion and grounds.

    To whom, when and by which law something must not be said is no topic.
    """
    for rule in _AUDIENCE:
        text = rule.sub(_blank, text)
    return text


def is_clause(topic: str) -> bool:
    """Say whether a topic tells something that happened."""
    return _TOPIC_CLAUSE.search(topic) is not None


def asks_for_names(text: str) -> bool:
    """Say whether somebody must not be named, whoever that is."""
    return _NAMING.search(fold_text(text)) is not None


def is_ordinary(phrase: str, rank: int) -> bool:
    """Say whether a phrase is one word that is more frequent than a rank says."""
    return common_words().get(phrase, rank) < rank
