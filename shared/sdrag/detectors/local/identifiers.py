"""
Identifiers: what is built by a rule and can often be checked by one.

Addresses on networks, credentials and keys are found by their marks; everything with a
digit is taken as the run of characters around it and judged as a whole. Check digits
(Luhn, ISO 7064 mod 97) raise the confidence; nothing that looks like a number of
somebody's is let go because its check digit is wrong, since people mistype.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found

__all__ = ["identifiers"]

_MAIL = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_HANDLE = re.compile(r"(?<![\w@/.])@([A-Za-z_][\w.]{1,38}\w)")
_LINK = re.compile(
    r"\b(?:https?|ftp|ssh|s3|postgres(?:ql)?|mysql|mongodb|redis)"
    r"(?:\+\w{1,10})?://[^\s<>\"')\]]{3,2000}|\bwww\.[^\s<>\"')\]]{3,500}"
)
_DOMAIN = re.compile(
    r"\b(?:[a-zA-Z0-9][a-zA-Z0-9-]{0,62}\.){1,5}(?:com|org|net|edu|gov|mil|int|info|biz"
    r"|name|io|ai|co|uk|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|pl|cz|hu|ro|bg|gr|tr|ru|ua"
    r"|pt|ie|eu|us|ca|au|nz|in|cn|jp|kr|br|mx|ar|za|me|tv|internal|local|lan|corp|test"
    r"|example|invalid|localhost)\b(?![@\w-])"
)
_SECRET = re.compile(
    r"\b(?:password|passphrase|passwd|pwd|passcode|pin|secret|token|api[ _-]?key|code"
    r"|credential|login)s?(?: is| was|:|=| for [\w' ]{1,40} (?:is|was))[ \t]*[\"']?"
    r"(?!(?:the|a|an|not|in|on|to|of|that|this|very|still|being|never|kept|also)\b)"
    r"([^\s\"',;]{3,200})",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|xox[abprs]|AKIA|ASIA|AIza|glpat|hf|npm|pypi)[-_]?"
    r"[A-Za-z0-9_-]{16,200}\b"
    r"|\beyJ[\w-]{8,2000}\.[\w-]{8,2000}\.[\w-]{8,2000}"
    r"|-----BEGIN [A-Z ]{3,40}-----[^-]{20,8000}-----END [A-Z ]{3,40}-----"
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(
    r"(?<![\w.])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w])"
    r"|(?<![\w.])3\d{3}[ -]?\d{6}[ -]?\d{5}(?!\w)"
)
_COORDINATES = re.compile(
    r"(?<![\w.])-?\d{1,3}\.\d{3,8}(?:\s?[NS])?,\s?-?\d{1,3}\.\d{3,8}(?:\s?[EW])?"
    r"|\b\d{1,3}[\u00b0-]\s?\d{1,2}(?:\.\d{1,4})?['\u2032]?(?:\s?\d{1,2}(?:\.\d{1,3})?"
    r"[\"\u2033])?\s?[NSEW]\b"
)
_PHONE = re.compile(
    r"(?<![\w.,/:$\u20ac\u00a3-])(?:\+|\(\+?|00)?\d(?:[ ().-]{0,2}\d){6,14}"
    r"(?:\s?(?:x|ext\.?)\s?\d{1,6})?(?![\w])"
)
_DIGIT = re.compile(r"\d")
_CHUNK_LEFT = re.compile(r"[\w#/.:@+-]{0,60}$")
_CHUNK = re.compile(r"[\w#/.:@+-]{1,200}")
_TRIM = "#.:@-/,"


def identifiers(text: str) -> Iterator[Found]:
    """Yield identifiers; the same characters may be found as several types."""
    if "@" in text:
        yield from _each(_MAIL, text, "EMAIL_ADDRESS")
        for match in _HANDLE.finditer(text):
            yield Found(*match.span(1), "USERNAME", 0.9, "handle")
    if "://" in text or "www." in text:
        yield from _each(_LINK, text, "URL")
    yield from _each(_DOMAIN, text, "DOMAIN_NAME", 0.8)
    for match in _SECRET.finditer(text):
        if any(not c.isalpha() for c in match.group(1)) or ":" in match.group():
            start, end = match.span(1)
            while end - start > 1 and text[end - 1] in ".!?)":
                end -= 1
            yield Found(start, end, "CREDENTIAL", 0.8, "context")
    yield from _each(_KEY, text, "CREDENTIAL")
    for match in _IBAN.finditer(text):
        if iban_holds(match.group()):
            yield Found(*match.span(), "IBAN_CODE", 1.0, "check-digits")
    for match in _CARD.finditer(text):
        sure = luhn_holds(match.group())
        yield Found(*match.span(), "CREDIT_CARD", 1.0 if sure else 0.6, "digits")
    yield from _each(_COORDINATES, text, "COORDINATES")
    yield from _phones(text)
    yield from _codes(text)


def luhn_holds(number: str) -> bool:
    """Check a card number's last digit (ISO/IEC 7812-1)."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = (sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return len(digits) > 11 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def iban_holds(code: str) -> bool:
    """Check an IBAN's check digits (ISO 13616, mod 97)."""
    plain = code.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return len(plain) > 14 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _each(
    pattern: re.Pattern[str], text: str, type_: str, confidence: float = 1.0
) -> Iterator[Found]:
    for match in pattern.finditer(text):
        end = match.end()
        while text[end - 1] in ".,;:!?":
            end -= 1
        yield Found(match.start(), end, type_, confidence, "pattern")


def _phones(text: str) -> Iterator[Found]:
    for match in _PHONE.finditer(text):
        value = match.group()
        digits = sum(map(str.isdigit, value))
        if not 7 <= digits <= 18 or _DATED.fullmatch(value):
            continue
        marked = value[0] in "+(0" or any(c in value for c in " -.(x")
        yield Found(*match.span(), "PHONE_NUMBER", 0.8 if marked else 0.5, "digits")


_DATED = re.compile(
    r"\d{4}[-.]\d{1,2}[-.]\d{1,2}|\d{1,2}[-.]\d{1,2}[-.]\d{4}|\d{4}-\d{2}-\d{2} \d{1,2}"
    r"|\d{4}\s?-\s?\d{4}|\d{1,3}(?:[ .]000)+"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")
_PLAIN_NUMBER = re.compile(
    r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:[.,]\d+)?"
    r"|\d{1,2}(?:st|nd|rd|th|s)|\d{1,4}(?:st|nd|rd|th)|\d{4}s"
    r"|\d{1,2}[:.]\d{2}(?::\d{2})?(?:[ap]m|h|hrs)?|\d{1,2}(?:[ap]m|h)"
    r"|\d+(?:[.,]\d+)?[a-z]{1,5}|\d{4}-\d{2,4}|\d{1,3}-\d{1,3}|\d+/\d"
    r"|\d{4}-\d{2}-\d{2}(?:T[\d:.+Z-]+)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
    r"|\d+(?:-[a-z]{1,20}){1,4}|[a-z]{1,20}-\d{1,2}|\d{1,3}-[A-Z][a-z]+"
)
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}")


def _codes(text: str) -> Iterator[Found]:
    """Yield what mixes digits with letters or marks, by the characters around it."""
    done = 0
    for digit in _DIGIT.finditer(text):
        if digit.start() < done:
            continue
        left = _CHUNK_LEFT.search(text, max(done, digit.start() - 60), digit.start())
        chunk = _CHUNK.match(text, left.start() if left else digit.start())
        if chunk is None:
            continue
        done = chunk.end()
        value = chunk.group().rstrip(_TRIM)
        start = chunk.start() + len(value) - len(value.lstrip(_TRIM))
        value = value.lstrip(_TRIM)
        found = _code(value)
        if found:
            yield Found(start, start + len(value), *found)


def _code(value: str) -> tuple[str, float, str] | None:
    """Return type, confidence and reason of a run of characters with a digit."""
    if _PLAIN_NUMBER.fullmatch(value):
        return ("CODE", 0.5, "long-number") if _long(value) else None
    if _SSN.fullmatch(value):
        return "US_SSN", 0.9, "pattern"
    if _address(value):
        return "IP_ADDRESS", 1.0, "address"
    if _UUID.fullmatch(value) or _MAC.fullmatch(value):
        return "CODE", 1.0, "pattern"
    return "CODE", 0.7, "mixed"


def _long(value: str) -> bool:
    return len(value) >= 6 and value.isdigit()


def _address(value: str) -> bool:
    if "." not in value and value.count(":") < 2:
        return False
    bare = value.partition("/")[0]
    if "." in bare:
        bare = bare.partition(":")[0]
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return False
    return True
