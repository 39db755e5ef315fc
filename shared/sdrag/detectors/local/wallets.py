"""Addresses of wallets: Bitcoin and its relatives, Ethereum, Tron, Ripple, Monero."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from sdrag.detectors.local.anchors import matches
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["wallets"]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WALLET = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<base58>[13LMDTXmn2][1-9A-HJ-NP-Za-km-z]{25,34})"
    r"|(?P<segwit>(?i:bc1|tb1|ltc1|addr1|cosmos1)[02-9a-zA-Z]{25,100})"
    r"|(?P<hex>0x[0-9A-Fa-f]{40}(?:[0-9A-Fa-f]{24})?)"
    r"|(?P<ripple>r[1-9A-HJ-NP-Za-km-z]{24,34})"
    r"|(?P<monero>[48][0-9AB][1-9A-HJ-NP-Za-km-z]{93,104})"
    r")(?![A-Za-z0-9])"
)
_RUN = re.compile(r"\w{1,128}")
_SHORTEST = 25
_MIXED = re.compile(r"(?=.{0,110}\d)(?=.{0,110}[A-Z])(?=.{0,110}[a-z])")


def wallets(tokens: Tokens) -> Iterator[Found]:
    """Yield addresses of wallets."""
    for match in matches(_WALLET, tokens.text, _long(tokens)):
        value = match.group()
        if match.lastgroup == "base58" and base58_holds(value):
            yield Found(*match.span(), "CODE", 1.0, "check-digits")
        elif match.lastgroup in {"segwit", "hex"}:
            yield Found(*match.span(), "CODE", 0.95, "wallet")
        elif _MIXED.match(value):
            yield Found(*match.span(), "CODE", 0.8, "wallet")


def _long(tokens: Tokens) -> list[int]:
    """Return where long runs of letters and figures begin."""
    text, places, done = tokens.text, [], 0
    for index in tokens.numbers:
        place = tokens.starts[index]
        if place < done or not (
            text[place - 1 : place].isalpha()
            or text[tokens.ends[index] : tokens.ends[index] + 1].isalpha()
        ):
            continue
        while place > done and text[place - 1].isalnum():
            place -= 1
        run = _RUN.match(text, place)
        done = run.end() if run else done
        if run and run.end() - place >= _SHORTEST:
            places.append(place)
    return places


def base58_holds(value: str) -> bool:
    """Check the four bytes at the end, a hash of what comes before."""
    number = 0
    for character in value:
        number = number * 58 + _BASE58.index(character)
    if number.bit_length() > 25 * 8:
        return False
    whole = number.to_bytes(25, "big")
    return sha256(sha256(whole[:-4]).digest()).digest()[:4] == whole[-4:]
