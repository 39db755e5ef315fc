"""
Check digits: what makes a number of somebody's certain.

python-stdnum computes them. Its validators also turn down impossible dates and unused
prefixes, which people mistype; so, where a scheme has such rules, only its check digit
is asked. No check turns a number down: a check that holds raises the confidence.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from hashlib import sha256

from stdnum import luhn, verhoeff
from stdnum.au import abn, acn, tfn
from stdnum.br import cpf
from stdnum.es import dni, nie
from stdnum.gb import nhs
from stdnum.iso7064 import mod_11_10, mod_97_10
from stdnum.kr import rrn
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.th import pin
from stdnum.tr import tckimlik
from stdnum.us import rtn

__all__ = [
    "base58_holds",
    "finnish_holds",
    "holds",
    "iban_holds",
    "is_network_address",
    "luhn_holds",
    "permit_holds",
    "spanish_holds",
]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_FINNISH = "0123456789ABCDEFHJKLMNPRSTUVWXY"


def holds(scheme: str, number: str) -> bool:
    """
    Say whether the figures of a number fit its scheme's check digits.

    Args:
        scheme: A key of the table of checks, such as `nhs`; no other scheme holds.
        number: With any marks between its figures.
    """
    digits = _digits(number)
    length, check = _CHECKS.get(scheme, (0, luhn.is_valid))
    if scheme in _TEN_OF_TWELVE:
        digits = digits[-length:]
    return len(digits) == length > 0 and check(digits)


def luhn_holds(number: str) -> bool:
    """Check a card number's last digit (ISO/IEC 7812-1)."""
    digits = _digits(number)
    return len(digits) > 11 and luhn.is_valid(digits)


def iban_holds(code: str) -> bool:
    """Check an IBAN's check digits (ISO 13616, mod 97)."""
    plain = code.replace(" ", "")
    return len(plain) > 14 and mod_97_10.is_valid(plain[4:] + plain[:4])


def is_network_address(value: str) -> bool:
    """Say whether it is an address of a host or a network, with or without a port."""
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


def spanish_holds(number: str) -> bool:
    """Check the letter of a Spanish DNI or NIE."""
    body, letter = _split(number)
    scheme = nie if body[0] in "XYZ" else dni
    return body[1:].isdecimal() and scheme.calc_check_digit(body) == letter


def finnish_holds(code: str) -> bool:
    """Check the last character of a Finnish personal identity code."""
    return _FINNISH[int(_digits(code[:-1])) % 31] == code[-1].upper()


def permit_holds(number: str) -> bool:
    """Check the letter of a Singaporean identity card of the series S and T."""
    body, letter = _split(number)
    digits = zip(map(int, body[1:]), (2, 7, 6, 5, 4, 3, 2), strict=False)
    total = sum(d * w for d, w in digits) + (4 if body[0] == "T" else 0)
    return body[0] in "ST" and "JZIHGFEDCBA"[total % 11] == letter


def base58_holds(value: str) -> bool:
    """Check the four bytes at the end, a hash of what comes before."""
    number = 0
    for character in value:
        number = number * 58 + _BASE58.index(character)
    if number.bit_length() > 25 * 8:
        return False
    whole = number.to_bytes(25, "big")
    return sha256(sha256(whole[:-4]).digest()).digest()[:4] == whole[-4:]


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdecimal())


def _split(number: str) -> tuple[str, str]:
    """Return the letters and figures of a number, in capitals, and the last of them."""
    plain = "".join(c for c in number.upper() if c.isalnum())
    return plain[:-1], plain[-1]


def _completed(check_digit: Callable[[str], str]) -> Callable[[str], bool]:
    """Return the check that the last digit is the one that completes the others."""
    return lambda digits: check_digit(digits[:-1]) == digits[-1]


def _provider_holds(digits: str) -> bool:
    """Check an American provider by Luhn behind the issuer's prefix."""
    return luhn.is_valid(f"80840{digits}")


def _medicare_holds(digits: str) -> bool:
    """Check the ninth digit of an Australian Medicare card."""
    weights = zip(map(int, digits[:8]), (1, 3, 7, 9, 1, 3, 7, 9), strict=True)
    return sum(d * w for d, w in weights) % 10 == int(digits[8])


_TEN_OF_TWELVE = frozenset(("personnummer", "samordningsnummer"))
"""Ten digits, or twelve of which the first two, the century, are not checked."""
_CHECKS: dict[str, tuple[int, Callable[[str], bool]]] = {
    "aadhaar": (12, verhoeff.is_valid),
    "aba": (9, rtn.is_valid),
    "abn": (11, abn.is_valid),
    "acn": (9, acn.is_valid),
    "bsn": (9, bsn.is_valid),
    "cpf": (11, cpf.is_valid),
    "kimlik": (11, tckimlik.is_valid),
    "medicare": (10, _medicare_holds),
    "nhs": (10, nhs.is_valid),
    "npi": (10, _provider_holds),
    "oib": (11, mod_11_10.is_valid),
    "personnummer": (10, luhn.is_valid),
    "pesel": (11, _completed(pesel.calc_check_digit)),
    "routing": (9, rtn.is_valid),
    "rrn": (13, _completed(rrn.calc_check_digit)),
    "samordningsnummer": (10, luhn.is_valid),
    "sin": (9, luhn.is_valid),
    "steuer": (11, mod_11_10.is_valid),
    "tckn": (11, tckimlik.is_valid),
    "tfn": (9, tfn.is_valid),
    "tnin": (13, _completed(pin.calc_check_digit)),
}
