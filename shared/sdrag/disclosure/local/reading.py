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

_TYPES: dict[str, tuple[str, ...]] = {
    r"dos(?:e|es|age|ages|ing)\b": ("DOSE", "QUANTITY"),
    r"(?:tele)?phone|mobile numbers?\b|fax": ("PHONE_NUMBER",),
    r"e-?mails?\b|mail address": ("EMAIL_ADDRESS",),
    r"dates?\b|day on which|birthdays?\b": ("DATE",),
    r"hours?\b|times? (?:of|at|when)|clock": ("TIME",),
    r"ages?\b|how old": ("AGE",),
    r"sums?\b|amounts?\b|prices?\b|cost|worth|value|paid|payments?\b|salar|wage|fees?\b"
    r"|financial|figures\b|how much|money|revenue|transferred|budget|reward": (
        "MONEY",
        "QUANTITY",
        "NUMBER",
    ),
    r"plates?\b|registration": ("CODE",),
    r"codes?\b|account numbers?|staff numbers?|sample numbers?|serial|identif(?:ier|ication)"
    r"|numbered|case numbers?|reference numbers?|id numbers?|passport|licen[cs]e": (
        "CODE",
        "IBAN_CODE",
        "CREDIT_CARD",
        "US_SSN",
        "PHONE_NUMBER",
    ),
    r"passwords?|credential|secrets? keys?|tokens?\b|pins?\b|access codes?": (
        "CREDENTIAL",
        "CODE",
    ),
    r"(?:network|ip|internal) (?:network )?address": ("IP_ADDRESS", "DOMAIN_NAME"),
    r"addresse?s?\b|where .{0,40}(?:liv|lodg|stay|resid)|home\b|whereabouts": (
        "ADDRESS",
        "LOCATION",
    ),
    r"places?\b|locations?\b|towns?\b|cit(?:y|ies)\b": ("LOCATION", "ADDRESS"),
    r"coordinates|positions? of the|latitude": ("COORDINATES",),
    r"marks\b|scores?\b|grades?\b|values\b|results\b|limits\b": ("NUMBER", "QUANTITY"),
    r"nationalit|citizenship|ethnic": ("NATIONALITY",),
}
_NAMES = re.compile(
    r"\bnames?\b|\bnamed\b|\bname\b|\banonymous|\bidentit|\bidentif|\bunnamed|\bwho\b"
    r"|\bby name\b",
    re.IGNORECASE,
)
_MEANING = re.compile(
    r"\b(?:how|why|what|reasons?|cause|motive|manner|nature|that|whether|circumstances"
    r"|which|brought about|background)\b",
    re.IGNORECASE,
)
_RULES = tuple((re.compile(rf"\b(?:{k})", re.IGNORECASE), v) for k, v in _TYPES.items())


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Confidential):
    """
    A constraint, read.

    Args:
        constraint: What was read.
        types: Types of mentions it names.
        people: It asks for names.
        meaning: It must be understood.
    """

    constraint: Constraint
    types: frozenset[str]
    people: bool
    meaning: bool


def read(constraint: Constraint) -> Reading:
    """Read a constraint."""
    text = constraint.text
    types = frozenset(
        type_ for pattern, found in _RULES if pattern.search(text) for type_ in found
    )
    people = _NAMES.search(text) is not None
    understood = bool(types) or people
    return Reading(
        constraint, types, people, not understood or bool(_MEANING.search(text))
    )
