"""What a URL, a path or an id may hold that a constraint asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.disclosure.technical import is_coded

__all__ = [
    "has_coordinates",
    "has_long_number",
    "has_mail_address",
    "has_phone_number",
    "has_random_code",
    "has_year",
]

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
    """Say whether an e-mail address may stand in a value."""
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
