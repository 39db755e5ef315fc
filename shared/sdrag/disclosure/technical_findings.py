"""
What touches a technical value of the metadata: what asks for it, and what is checked.

The scorer marks digits of a UUID under nearly every constraint, for it knows texts and
no identifiers. So of what the local engine finds in a technical value only this counts:

- all of it where the constraint asks for such values, or where the value can hold what
  it asks for; a value that is asked for by its kind goes whole;
- what is known by its form alone, such as an e-mail address in a URL, and the names
  that the constraint itself gives.

What a model quotes counts always. So does what the register of the document knows,
which is looked for after this: a name that was located in any text is no chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.decoded import ENCODED, Decoded
from sdrag.disclosure.reading_unseen import EngineFindings
from sdrag.disclosure.registering import IN_PLACE
from sdrag.disclosure.stored_findings import Lookup
from sdrag.disclosure.technical import (
    TECHNICAL_WORDS,
    Technical,
    is_coded,
    technical,
    words_of,
)
from sdrag.vocabulary import Confidential, Finding, Span

__all__ = [
    "Extent",
    "asked",
    "has_coordinates",
    "has_long_number",
    "has_mail_address",
    "has_phone_number",
    "has_random_code",
    "has_year",
    "without_chance",
]

_LOOSE = IN_PLACE | {"type"}
_CODES = frozenset({"CODE", "CREDENTIAL"})
_DATES = frozenset({"DATE", "TIME"})
_AGES = frozenset({"AGE", "YEARS"})
_LINKS = frozenset({"URL", "DOMAIN_NAME"})
_CHECKED = frozenset(
    {"CREDENTIAL", "CREDIT_CARD", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "US_SSN"}
)
_NEVER_CODES = frozenset(
    {"DATE", "TIME", "DURATION", "AGE", "YEARS", "EMAIL_ADDRESS", "PHONE_NUMBER"}
    | {"PERSON", "URL", "DOMAIN_NAME", "IP_ADDRESS", "NATIONALITY", "RELIGION"}
)
"""Types of which no short code is one; a number plate could tell where somebody is."""

_CODE_WORDS = re.compile(
    r"\b(?:codes?|identifiers?|ids?|[gu]uids?|uuids?|hash(?:es)?|digests?|checksums?"
    r"|fingerprints?|keys?|tokens?|credentials?|secrets?|passwords?|references?"
    r"|(?:serial|reference) numbers?)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = re.compile(
    r"(?<!phone )(?<!mobile )(?<!contact )(?<!fax )\bnumber(?:s|ed)?\b|\baccounts?\b"
    r"|\bcards?\b|\bpassports?\b|\blicen[cs]es?\b|\bbadges?\b|\bregistration",
    re.IGNORECASE,
)
_DATE_WORDS = re.compile(
    r"\b(?:dates?|dated|times?|timestamps?|when|days?|months?|years?|birth\w*|born|dobs?"
    r"|deadlines?|annivers\w+|hours?|clock|schedul\w+)\b",
    re.IGNORECASE,
)
_PATH_WORDS = re.compile(
    r"\b(?:paths?|file ?names?|folders?|director(?:y|ies))\b", re.IGNORECASE
)

_OPAQUE = frozenset({Technical.UUID, Technical.HASH, Technical.TIMESTAMP})
"""Kinds in which nothing is: what looks like a number there is none."""

_WITH_PARTS = frozenset(Technical) - _OPAQUE


class Extent(Enum):
    """How much of a technical value a constraint asks for."""

    WHOLE = "the value itself"
    PARTS = "what the local engine finds in it"
    NOTHING = "only what is checked"


def without_chance(
    lookup: Lookup, reading: EngineFindings, local: Mapping[int, Sequence[str]]
) -> EngineFindings:
    """
    Leave out what was found by chance in technical values, and add what is asked for.

    Args:
        lookup: The texts.
        reading: What was found in them.
        local: The ids of the constraints that the local engine looked for.
    """
    texts = lookup.texts
    kinds = {
        text_index: kind for text_index in local if (kind := texts.kind_of(text_index))
    }
    if not kinds:
        return reading
    parsed = {rule.id: parse(rule) for rule in texts.constraints}
    found = dict(reading.found)
    decoded = {one.text_index: one for one in reading.decoded}
    for text_index, kind in kinds.items():
        value = texts.all[text_index].text
        asking = {
            lookup.rules[name]: _Asking(
                value, kind, parsed[name], asked(value, kind, parsed[name])
            )
            for name in local[text_index]
        }
        if text_index in decoded:
            decoded[text_index] = _sure_of(decoded[text_index], asking)
        encoded = decoded[text_index].found if text_index in decoded else {}
        found[text_index] = {
            rule: [
                *one.kept(
                    found.get(text_index, {}).get(rule, ()),
                    value,
                    encoded.get(rule, ()),
                ),
                *one.added(),
            ]
            for rule, one in asking.items()
        }
    return replace(reading, found=found, decoded=tuple(decoded.values()))


def _sure_of(decoded: Decoded, asking: Mapping[bytes, _Asking]) -> Decoded:
    """Leave out what was found by chance in what a technical value decodes to."""
    found = {
        rule: asking[rule].kept(own, decoded.text)
        for rule, own in decoded.found.items()
        if rule in asking
    }
    return replace(decoded, found=found)


def asked(value: str, kind: Technical, parsed: ParsedConstraint) -> Extent:
    """
    Say how much of a technical value a constraint asks for.

    Args:
        value: As it is in the metadata.
        kind: Of the value.
        parsed: The constraint.
    """
    every = parsed.kind in {"everything", "only"}
    if not every and _is_asked_for(value, kind, parsed):
        return Extent.WHOLE
    if every or parsed.identifying or _can_hold(value, kind, parsed):
        return Extent.PARTS
    return Extent.NOTHING


def _is_asked_for(value: str, kind: Technical, parsed: ParsedConstraint) -> bool:
    """Say whether a constraint names the kind of a value, or a number that is in it."""
    if kind not in _OPAQUE and any(
        type_ in parsed.types and holds(value) for type_, holds in _HELD
    ):
        return True
    if kind is Technical.TIMESTAMP:
        return _wants_dates(parsed)
    if kind is Technical.URL:
        return not (parsed.identifying or parsed.types.isdisjoint(_LINKS))
    if kind is Technical.PATH:
        return _PATH_WORDS.search(parsed.constraint.text) is not None
    return _names_codes(value, kind, parsed)


def _names_codes(value: str, kind: Technical, parsed: ParsedConstraint) -> bool:
    """Say whether a constraint is on codes, or on ids with the word of this one."""
    said = parsed.constraint.text
    if parsed.types.isdisjoint(_CODES):
        return False
    own = TECHNICAL_WORDS.intersection(words_of(value))
    named = kind is Technical.ID and not own.isdisjoint(words_of(said))
    return named or _CODE_WORDS.search(said) is not None


def _can_hold(value: str, kind: Technical, parsed: ParsedConstraint) -> bool:
    """Say whether a value may hold what a constraint asks for."""
    if kind is Technical.TIMESTAMP:
        return not parsed.types.isdisjoint(_AGES)
    if kind in _OPAQUE:
        return False
    if kind is Technical.CODE and not _wants_no_code(parsed):
        return True
    if _wants_dates(parsed) and has_year(value):
        return True
    if parsed.types.isdisjoint(_CODES):
        return False
    said = parsed.constraint.text
    codes, numbers = _CODE_WORDS.search(said), _NUMBER_WORDS.search(said)
    holds_code = codes is not None and has_random_code(value)
    return holds_code or bool((codes or numbers) and has_long_number(value))


def _wants_dates(parsed: ParsedConstraint) -> bool:
    if parsed.types.isdisjoint(_DATES):
        return False
    return _DATE_WORDS.search(parsed.constraint.text) is not None


def _wants_no_code(parsed: ParsedConstraint) -> bool:
    """Say whether nothing that a constraint asks for is ever written as a code."""
    if parsed.meaning or parsed.kind not in {"types", "people", "named"}:
        return False
    return parsed.types <= _NEVER_CODES


@dataclass(frozen=True, slots=True, repr=False)
class _Asking(Confidential):
    """
    One constraint and one technical value.

    Args:
        value: As written in the metadata.
        kind: Of the value.
        parsed: The constraint.
        extent: How much of the value the constraint asks for.
    """

    value: str
    kind: Technical
    parsed: ParsedConstraint
    extent: Extent

    def kept(
        self,
        findings: Iterable[Finding],
        text: str,
        decoded: Sequence[Finding] = (),
    ) -> list[Finding]:
        """
        Return the findings that count.

        Args:
            findings: Of the constraint.
            text: What they point into: the value, or what it decodes to.
            decoded: What counts in what the value decodes to. Where it is nothing, so
                is what was found there.
        """
        if self.extent is not Extent.NOTHING:
            return list(findings)
        return [
            one
            for one in findings
            if self._is_sure(one, text) and (one.reason != ENCODED or decoded)
        ]

    def added(self) -> list[Finding]:
        """Return the whole value where it is asked for."""
        if self.extent is not Extent.WHOLE:
            return []
        whole = Span(0, len(self.value))
        return [Finding(whole, self.parsed.constraint.id, "type")]

    def _is_sure(self, finding: Finding, text: str) -> bool:
        """Say whether a finding is no chance."""
        if finding.reason in _LOOSE:
            return False
        if finding.reason != "checked":
            return True
        if self.kind not in _WITH_PARTS or technical(finding.span.of(text)) in _OPAQUE:
            return False
        inside = finding.span.end - finding.span.start < len(text)
        return inside or not self.parsed.types.isdisjoint(_CHECKED)


_TOKEN = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"(?<!\d)\+?\(?\d(?:[-._ ()]{0,2}\d){5,}+")
_DATED = re.compile(
    r"(?:19|20)\d\d[-._]?(?:0[1-9]|1[0-2])"
    r"(?:[-._]?(?:0[1-9]|[12]\d|3[01])(?:[-._]?\d\d){0,3})?"
)
_CALLED = re.compile(
    r"(?i:tel|phone|mobile|cell|fax|whats ?app|sms|call|dial|wa\.me)[^\d]{0,12}\+?\d{5}"
)
_DIALLED = re.compile(r"\+\(?[1-9]|0[1-9]\d{7}|00[1-9]\d{7}|[1-9]\d{8}")
_GROUPS = re.compile(r"\d+(?:[-_ ()]+\d+)+|\d+(?:\.\d+){2,}")
_LEAST_LONG, _LEAST_PHONE, _MOST_PHONE = 6, 7, 15
_MAIL = re.compile(r"[\w.+-](?:@|%40)\w")
_COORDINATE = re.compile(r"\d{1,3}\.\d{3}")
_YEAR = re.compile(r"(?:19|20)\d\d")


def has_long_number(value: str) -> bool:
    """Say whether a number in a value is as long as that of an account."""
    return any(len(_digits(one)) >= _LEAST_LONG for one in _numbers(value))


def has_random_code(value: str) -> bool:
    """Say whether a token in a value is as random as a key."""
    return any(map(is_coded, _TOKEN.findall(value)))


def has_phone_number(value: str) -> bool:
    """Say whether a number in a value may be one to call; zeros in front fill an id."""
    return _CALLED.search(value) is not None or any(map(_is_phone, _numbers(value)))


def has_mail_address(value: str) -> bool:
    """Say whether an e-mail address may be in a value."""
    return _MAIL.search(value) is not None


def has_coordinates(value: str) -> bool:
    """Say whether a number in a value may be a degree of latitude or longitude."""
    return _COORDINATE.search(value) is not None


def has_year(value: str) -> bool:
    """Say whether a number in a value may be a year, so that it may be a date."""
    return _YEAR.search(value) is not None


def _numbers(value: str) -> Iterator[str]:
    """Yield long numbers, in groups or not, that are no dates and no part of a hash."""
    plain = _TOKEN.sub(_without_hashes, value)
    for match in _NUMBER.finditer(plain):
        if not _DATED.fullmatch(match.group()):
            yield match.group()


def _without_hashes(match: re.Match[str]) -> str:
    token = match.group()
    return token if token.isdigit() or not is_coded(token) else "x"


def _is_phone(number: str) -> bool:
    if not _LEAST_PHONE <= len(_digits(number)) <= _MOST_PHONE:
        return False
    if _DIALLED.match(number):
        return True
    return not number.startswith("00") and _GROUPS.fullmatch(number) is not None


def _digits(number: str) -> str:
    return "".join(filter(str.isdigit, number))


_HELD: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("PHONE_NUMBER", has_phone_number),
    ("EMAIL_ADDRESS", has_mail_address),
    ("COORDINATES", has_coordinates),
)
"""What of a type may be in a value, where no detector need find it."""
