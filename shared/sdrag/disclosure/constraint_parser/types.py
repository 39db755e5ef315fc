"""
The types that a constraint's words name, by closed tables.

A row is a pattern of words and the types of mentions that they stand for. What names
only types that a detector knows in part must be understood besides.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sdrag.disclosure.constraint_parser.groups import GROUPS

__all__ = ["NamedTypes", "named_types"]

_TYPES: dict[str, tuple[str, ...]] = {
    r"identifying (?:details|information|data|facts|features|particulars|words)\b"
    r"|(?:could|can|may|might|would|that|anything|everything|whatever)"
    r" (?:\w+ ){0,2}identif(?:y|ies)\b|PII\b|PHI\b|protected health information"
    r"|de-?identif|identifiable (?:data|information)"
    r"|personal (?:data|details|information|particulars|identifiers)\b"
    r"|anonymi[sz]e (?:(?:the|this|all|every) )?(?:text|document|passage|answer|report"
    r"|case|record|file|letter|note|data)s?\b": GROUPS["personal"],
    r"dos(?:e|es|age|ages|ing)\b": ("DOSE", "QUANTITY"),
    r"(?:tele)?phones?\b|mobile numbers?\b|contact numbers?|fax": ("PHONE_NUMBER",),
    r"e-?mails?\b|mail address": ("EMAIL_ADDRESS",),
    r"contact (?:details|information|data)": GROUPS["contacts"],
    r"user ?names?\b|screen names?\b|handles\.?$": ("USERNAME",),
    r"post(?:al )?codes?\b": ("ZIP_CODE", "CODE", "ADDRESS"),
    r"(?:bank(?:ing)?|account|card|payment|passport|licen[cs]e) (?:details|data|inform)"
    r"|IBANs?\b|SSNs?\b|(?:credit|debit|bank|payment) cards?\b": GROUPS["codes"],
    r"GPS\b": ("COORDINATES", "CODE"),
    r"dates?\b|(?:which|what) (?:day|month|year)s?\b|birthdays?\b|when\b"
    r"|DOBs?\b|anniversar|deadlines?\b|years? of (?:birth|death)|days of\b": ("DATE",),
    r"(?:hours?|times?)\b(?! (?:off|being))|clock|when\b": ("TIME",),
    r"how long|durations?\b|lengths? of": ("DURATION",),
    r"ages?\b|how old": ("AGE", "YEARS"),
    r"sums?\b|amounts?\b|prices?\b|costs?\b|worth|values? of the|paid|pay(?:s|ing)?\b"
    r"|payments?\b|salar|wages?\b|fees?\b|financ|figures\b|how much|money|revenue"
    r"|turnover|profits?\b|debts?\b|ow(?:es?|ed|ing)\b|budget|rewards?\b|fines?\b"
    r"|settlement|compensation|quota|charged\b|charges? for|earn|income|bills?\b"
    r"|rents?\b|deposits?\b|losses\b|bribes?\b|bids?\b|stakes?\b|donations?\b"
    r"|pensions?\b|loans?\b|taxe?s?\b|invoices?\b": GROUPS["money"],
    r"how (?:many|often|far|big|large|high|deep|heavy|tall|fast)|quantit|weights?\b"
    r"|heights?\b|sizes?\b|percent|per cent|rates?\b|number of|numbers of (?!the\b)"
    r"|temperatures?\b|distances?\b|speeds?\b|volumes?\b|counts\b": GROUPS["counts"],
    r"(?:drug|medicine|substance|poison|tablet)s?\b.* (?:amounts?|how much)\b": (
        "DOSE",
        "QUANTITY",
    ),
    r"plates?\b|registration|call signs?\b|frequenc|combinations?\b": ("CODE",),
    r"codes?\b|\w+(?<!phone)(?<!mobile)(?<!contact) numbers\b(?! of)|numbers of the"
    r"|(?:account|staff|sample|case|reference|serial|id|file|card|passport|identity"
    r"|personal|licen[cs]e|insurance|social security|patient|badge|ticket|employee"
    r"|member(?:ship)?|chip|ring|lot|batch|order|invoice|claim|policy|inventory|catalogue"
    r"|flight|room|bed|title|payroll|locker|tag|seal|hull|engine|grant|docket|permit"
    r"|tax) number\b"
    r"|identifiers?\b|numbered|\bIDs?\b": GROUPS["codes"],
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
    r"|homes?\b|whereabouts|residences?\b": (*GROUPS["places"], "ORGANIZATION", "CODE"),
    r"places?\b|locations?\b|towns?\b|villages?\b|cit(?:y|ies)\b|countr(?:y|ies)\b"
    r"|where\b|venues?\b|destinations?\b|streets?\b|islands?\b|harbours?\b": GROUPS[
        "places"
    ],
    r"coordinates|positions? of the|latitude|longitude": ("COORDINATES",),
    r"which (?:\w+ )?(?:compan(?:y|ies)|firms?|hospitals?|clinics?|schools?|banks?"
    r"|universit(?:y|ies)|hotels?|clubs?|branches|agenc(?:y|ies))\b|employers?\b": (
        "ORGANIZATION",
        "LOCATION",
        "ADDRESS",
    ),
    r"marks?\b|scores?\b|grades?\b|values\b|results\b|limits\b|readings?\b|measure": (
        "NUMBER",
        "QUANTITY",
    ),
    r"nationalit|citizenship|ethnic|origin": ("NATIONALITY",),
    r"for a living|occupations?\b|profession|jobs?\b|posts?\b|job titles?|trades\b": (
        "JOB_TITLE",
    ),
    r"relig|faith|denominat": ("RELIGION",),
    r"urls?\b|links?\b|web ?sites?|domains?\b": ("URL", "DOMAIN_NAME"),
}
_IN_PART: dict[str, tuple[str, ...]] = {
    r"diagnos|illness|disease|conditions?\b|ailment|injur|symptom|allerg|suffer": (
        "CONDITION",
    ),
    r"(?:health|medical|clinical) (?:inform|data|details|records?|histor|status)": (
        *("CONDITION", "TREATMENT", "SUBSTANCE", "DOSE"),
    ),
    r"marital|family (?:status|members|relations)": ("RELATION",),
    r"prescri|treat|therap|medicines?\b|medications?\b|drugs?\b|surger|operations?\b": (
        "TREATMENT",
        "SUBSTANCE",
    ),
    r"substances?\b|poison|chemicals?\b|ingredients?\b": ("SUBSTANCE",),
    r"weapons?\b|guns?\b|arms\b": ("WEAPON",),
    r"educat|degrees?\b|qualification|studie[sd]": ("EDUCATION",),
    r"appearance|looks?\b|hair\b|description of": ("APPEARANCE",),
    r"orientation|sexual": ("ORIENTATION",),
}
"""Types that a detector knows in part: what names them must be understood besides."""
_NAMES = re.compile(
    r"\bnam(?:e|es|ed|ing|eless)\b|\b(?:sur|first|nick|maiden|user)names?\b|\banonym"
    r"|\bidentit|\bidentif|\bunnamed|\bwho\b|\bwhom\b|\bincognito|\binitials\b"
    r"|\bpseudonym",
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
    r"|what was done|(?:by|in|with|through) what|tricks?|what (?:moved|drove|made|led)"
    r"|content of|contents|subject of|outcome|findings?|found (?:out|in)|discovered"
    r"|where|whereabouts|hiding|hidden|passwords?|passphrases?)\b",
    re.IGNORECASE,
)
_RULES, _PARTIAL_RULES = (
    tuple(
        (re.compile(rf"\b(?:{words})", re.IGNORECASE), types)
        for words, types in table.items()
    )
    for table in (_TYPES, _IN_PART)
)


class NamedTypes(NamedTuple):
    """
    What a wording names.

    Args:
        types: Types of mentions.
        people: It asks for names.
        known: A type that a detector knows whole is among them.
        meaning: It must be understood besides.
    """

    types: frozenset[str]
    people: bool
    known: bool
    meaning: bool


def named_types(text: str) -> NamedTypes:
    """Return the types that a wording names."""
    types = {type_ for rule, found in _RULES if rule.search(text) for type_ in found}
    people = _NAMES.search(text) is not None
    if people:
        types.add("PERSON")
        if _ORGANISATIONS.search(text):
            types |= {"ORGANIZATION", "LOCATION"}
        if _ALIASES.search(text):
            types.add("TERM")
    known = bool(types)
    types |= {t for rule, found in _PARTIAL_RULES if rule.search(text) for t in found}
    meaning = not known or _MEANING.search(text) is not None
    return NamedTypes(frozenset(types), people, known, meaning)
