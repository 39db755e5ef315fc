"""
What a constraint asks for, read from its own words.

A constraint names types ("exact doses of medicine"), people by role ("names of
witnesses"), or something that needs understanding ("how the safe was opened"). The
words decide, by closed tables; a constraint that names no type is one to understand,
so a wording nobody foresaw withholds by meaning instead of passing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdrag.vocabulary import Confidential, Constraint

__all__ = ["Reading", "read"]

_MONEY = ("MONEY", "NUMBER")
_CODES = ("CODE", "IBAN_CODE", "CREDIT_CARD", "US_SSN", "NUMBER", "ZIP_CODE")
_PLACES = ("ADDRESS", "LOCATION", "ZIP_CODE", "COORDINATES")
_TYPES: dict[str, tuple[str, ...]] = {
    r"dos(?:e|es|age|ages|ing)\b": ("DOSE", "QUANTITY"),
    r"(?:tele)?phones?\b|mobile numbers?\b|contact numbers?|fax": ("PHONE_NUMBER",),
    r"e-?mails?\b|mail address": ("EMAIL_ADDRESS",),
    r"contact details": ("PHONE_NUMBER", "EMAIL_ADDRESS", "ADDRESS"),
    r"dates?\b|days? on which|birthdays?\b|when\b": ("DATE",),
    r"(?:hours?|times?)\b(?! (?:off|being))|clock|when\b": ("TIME",),
    r"how long|durations?\b|lengths? of": ("DURATION",),
    r"ages?\b|how old": ("AGE", "YEARS"),
    r"sums?\b|amounts?\b|prices?\b|costs?\b|worth|values? of the|paid|payments?\b|salar"
    r"|wages?\b|fees?\b|financ|figures\b|how much|money|revenue|turnover|debts?\b"
    r"|budget|rewards?\b|fines?\b|settlement|compensation|quota": _MONEY,
    r"plates?\b|registration": ("CODE",),
    r"codes?\b|(?:account|staff|sample|case|reference|serial|id|file|card|passport"
    r"|identity|personal|licen[cs]e|insurance|social security|patient|badge|ticket"
    r"|employee|member(?:ship)?) numbers?|identifiers?\b|numbered|\bIDs?\b": _CODES,
    r"passwords?|credentials?|keys?\b|tokens?\b|pins?\b|logins?\b|passphrases?": (
        "CREDENTIAL",
        "CODE",
    ),
    r"(?:network|ip|internal|server|host) .{0,12}(?:address|names?)|hosts?\b": (
        "IP_ADDRESS",
        "DOMAIN_NAME",
        "URL",
    ),
    r"(?<!network )address(?:es)?\b|where .{0,40}(?:liv|lodg|stay|resid|hid|work)"
    r"|homes?\b|whereabouts|residences?\b": (*_PLACES, "ORGANIZATION", "CODE"),
    r"places?\b|locations?\b|towns?\b|cit(?:y|ies)\b|where\b|venues?\b": _PLACES,
    r"coordinates|positions? of the|latitude|longitude": ("COORDINATES",),
    r"marks\b|scores?\b|grades?\b|values\b|results\b|limits\b|readings?\b|measure": (
        "NUMBER",
        "QUANTITY",
    ),
    r"nationalit|citizenship|ethnic|origin": ("NATIONALITY",),
    r"for a living|occupations?\b|profession|jobs?\b|posts?\b|job titles?|trades?\b": (
        "JOB_TITLE",
    ),
    r"relig|faith|denominat": ("RELIGION",),
    r"diagnos|illness|disease|condition": ("CONDITION",),
    r"urls?\b|links?\b|web ?sites?|domains?\b": ("URL", "DOMAIN_NAME"),
}
_NAMES = re.compile(
    r"\bnam(?:e|es|ed|ing)\b|\banonym|\bidentit|\bidentif|\bunnamed|\bwho\b|\bnicknames?\b",
    re.IGNORECASE,
)
_ORGANISATIONS = re.compile(
    r"\b(?:customer|client|compan|supplier|firm|organi[sz]ation|business|bank|employer"
    r"|sponsor|partner|vendor|institution|school|hospital|university|competitor|investor)",
    re.IGNORECASE,
)
_ALIASES = re.compile(r"\bcover|\bnick|\balias|\bcode ?names?", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:what|that|whether)\b", re.IGNORECASE)
_MEANING = re.compile(
    r"\b(?:how(?! (?:old|much|many|long))|why|reasons?|causes?|motives?|manner|nature"
    r"|circumstances|brought about|background|which|true|method|explanation"
    r"|grounds?|ways?|means|occasions?|what (?:really|actually|exactly|did|do)"
    r"|what was done)\b",
    re.IGNORECASE,
)
_FEW = 3
_LEAD = re.compile(
    r"^(?:please |you must |it is forbidden to |nothing (?:may|must|should) be said )?"
    r"(?:(?:do not|don't|never|refuse to|avoid|no) )?"
    r"(?:(?:remove|mask|reveal|withhold|keep(?: back| out| secret| quiet)?|disclose"
    r"|hide|leave out|leave unmentioned|suppress|conceal|say(?: anything)?"
    r"|explain|omit|name"
    r"|strike out|give out|give away|give|hold back|tell|print|mention|bring up|quote"
    r"|protect|blank out|identify|redact|describe|state|show|share|cut|delete|drop"
    r"|release|discuss|hint at|let out)(?:ing)? )?(?:about |of |the fact )?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:(?:must|shall|should|may|can|is to|are to|has to|have to) .*"
    r"|(?:is|are|stays?|remains?) (?:protected|sealed|secret|confidential|private"
    r"|not for|internal|out).*|stays? out|out(?: of the answers?)?|secret"
    r"|confidential)\.?$",
    re.IGNORECASE,
)
_RULES = tuple(
    (re.compile(rf"\b(?:{words})", re.IGNORECASE), types)
    for words, types in _TYPES.items()
)


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Confidential):
    """
    A constraint, read.

    Args:
        constraint: What was read.
        types: Types of mentions it names.
        people: It asks for names.
        meaning: It must be understood.
        plain: It names types and next to nothing besides.
        subject: The constraint without the order it gives.
    """

    constraint: Constraint
    types: frozenset[str]
    people: bool
    meaning: bool
    plain: bool
    subject: str


def read(constraint: Constraint) -> Reading:
    """Read a constraint."""
    text = constraint.text
    types = {type_ for rule, found in _RULES if rule.search(text) for type_ in found}
    people = _NAMES.search(text) is not None
    if people:
        types.add("PERSON")
        if _ORGANISATIONS.search(text):
            types |= {"ORGANIZATION", "LOCATION"}
        if _ALIASES.search(text):
            types.add("TERM")
    understood = bool(types)
    meaning = not understood or _MEANING.search(text) is not None
    subject = _subject(text)
    return Reading(
        constraint,
        frozenset(types),
        people,
        meaning,
        understood and not meaning and _few_words(subject),
        subject,
    )


def _few_words(subject: str) -> bool:
    return len(subject.split()) <= _FEW


def _subject(text: str) -> str:
    subject = _TAIL.sub("", _LEAD.sub("", text.strip(), count=1), count=1).strip(" .,")
    return subject or text
