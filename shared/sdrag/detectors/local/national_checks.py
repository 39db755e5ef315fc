"""
Check digits of national numbers, one function for a family of schemes.

Each says whether the last figures of a number fit the rest. None of them is asked to
turn a number down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdrag.detectors.local.checks import luhn_holds

__all__ = ["finnish_holds", "holds", "permit_holds", "spanish_holds"]

_Digits = list[int]
_SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"
_FINNISH = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_DIHEDRAL = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_PERMUTED = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def holds(scheme: str, number: str) -> bool:
    """Say whether the figures of a number fit its scheme's check."""
    digits = [int(c) for c in number if c.isdecimal()]
    length, check = _CHECKS.get(scheme, (0, _luhn))
    if scheme in _TEN_OF_TWELVE and len(digits) > length:
        digits = digits[-length:]
    return len(digits) == length > 0 and check(digits)


def spanish_holds(number: str) -> bool:
    """Check the letter of a Spanish DNI or NIE."""
    plain = "".join(c for c in number.upper() if c.isalnum())
    turned = (
        str("XYZ".find(plain[0])) + plain[1:-1] if plain[0] in "XYZ" else plain[:-1]
    )
    return turned.isdecimal() and _SPANISH[int(turned) % 23] == plain[-1]


def finnish_holds(code: str) -> bool:
    """Check the last character of a Finnish personal identity code."""
    digits = "".join(c for c in code[:-1] if c.isdecimal())
    return _FINNISH[int(digits) % 31] == code[-1].upper()


def permit_holds(number: str) -> bool:
    """Check the letter of a Singaporean identity card of the series S and T."""
    plain = "".join(c for c in number.upper() if c.isalnum())
    digits = [int(c) for c in plain[1:-1]]
    total = _sum(digits, (2, 7, 6, 5, 4, 3, 2)) + (4 if plain[0] == "T" else 0)
    return plain[0] in "ST" and "JZIHGFEDCBA"[total % 11] == plain[-1]


def _sum(digits: Iterable[int], weights: Iterable[int]) -> int:
    return sum(d * w for d, w in zip(digits, weights, strict=False))


def _luhn(digits: _Digits) -> bool:
    """Check by Luhn, filled up to the length of a card."""
    return luhn_holds("".join(map(str, digits)).zfill(16))


def _provider(digits: _Digits) -> bool:
    """Check an American provider by Luhn behind the issuer's prefix."""
    return _luhn([8, 0, 8, 4, 0, *digits])


def _verhoeff(digits: _Digits) -> bool:
    """Check in the dihedral group of ten."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        turned = digit
        for _ in range(place % 8):
            turned = _PERMUTED[turned]
        check = int(_DIHEDRAL[check][turned])
    return check == 0


def _eleven_ten(digits: _Digits) -> bool:
    """Check by ISO 7064 mod 11,10."""
    rest = 10
    for digit in digits[:-1]:
        rest = ((rest + digit) % 10 or 10) * 2 % 11
    return (11 - rest) % 10 == digits[-1]


def _turkish(digits: _Digits) -> bool:
    odd, even = sum(digits[0:9:2]), sum(digits[1:8:2])
    return (7 * odd - even) % 10 == digits[9] and sum(digits[:10]) % 10 == digits[10]


def _brazilian(digits: _Digits) -> bool:
    return all(
        _sum(digits[:end], range(end + 1, 1, -1)) * 10 % 11 % 10 == digits[end]
        for end in (9, 10)
    )


def _business(digits: _Digits) -> bool:
    weights = (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
    return (_sum(digits, weights) - weights[0]) % 89 == 0


def _medicare(digits: _Digits) -> bool:
    return _sum(digits[:8], (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == digits[8]


def _health(digits: _Digits) -> bool:
    return (11 - _sum(digits[:9], range(10, 1, -1)) % 11) % 11 == digits[9]


def _dutch(digits: _Digits) -> bool:
    return (_sum(digits[:8], range(9, 1, -1)) - digits[8]) % 11 == 0


def _completed(weights: Iterable[int], modulus: int) -> Callable[[_Digits], bool]:
    """Return the check whose last digit completes the weighted sum."""
    fixed = tuple(weights)
    return lambda digits: (
        (modulus - _sum(digits[:-1], fixed) % modulus) % 10 == digits[-1]
    )


def _even(weights: Iterable[int], modulus: int) -> Callable[[_Digits], bool]:
    """Return the check that the weighted sum of all digits leaves nothing."""
    fixed = tuple(weights)
    return lambda digits: _sum(digits, fixed) % modulus == 0


_ROUTING = _even((3, 7, 1) * 3, 10)
_TEN_OF_TWELVE = frozenset(("personnummer", "samordningsnummer"))
_CHECKS: dict[str, tuple[int, Callable[[_Digits], bool]]] = {
    "aadhaar": (12, _verhoeff),
    "aba": (9, _ROUTING),
    "abn": (11, _business),
    "acn": (9, _completed(range(8, 0, -1), 10)),
    "bsn": (9, _dutch),
    "cpf": (11, _brazilian),
    "kimlik": (11, _turkish),
    "medicare": (10, _medicare),
    "nhs": (10, _health),
    "npi": (10, _provider),
    "oib": (11, _eleven_ten),
    "personnummer": (10, _luhn),
    "pesel": (11, _completed((1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10)),
    "routing": (9, _ROUTING),
    "rrn": (13, _completed((2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), 11)),
    "samordningsnummer": (10, _luhn),
    "sin": (9, _luhn),
    "steuer": (11, _eleven_ten),
    "tckn": (11, _turkish),
    "tfn": (9, _even((1, 4, 3, 7, 5, 8, 6, 9, 10), 11)),
    "tnin": (13, _completed(range(13, 1, -1), 11)),
}
