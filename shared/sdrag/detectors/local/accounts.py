"""
Numbers of bank accounts and addresses of wallets.

An IBAN is read by its country's length over single spaces and hyphens, in any case.
With its check digits (ISO 13616) it is certain. Without them the country and the length
still tell, since people mistype. Wallets: Bitcoin and its relatives, Ethereum, Tron,
Ripple, Monero.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.check_digits import base58_holds, iban_holds
from sdrag.detectors.local.lexicon import cased
from sdrag.detectors.local.tokens import Candidate, Tokens, cued, matches

__all__ = ["bank_accounts", "wallets"]


# The lengths of the SWIFT registry, by country.
_IBAN_LENGTHS = {
    country: int(row[:2])
    for row in (
        "15NO 16BE 18DKFIFKFOGLNLSD 19MKSI 20ATBAEEKZLTLUMNXK 21CHHRLILV",
        "22BGBHCRDEGBGEIEMERSVA 23AEGIILIQOMSOTL 24ADCZESMDPKROSASESKTNVG",
        "25LYPTST 26ISTR 27BIDJFRGRITMCMRSM 28ALAZBYCYDOGTHULBNIPLSV",
        "29BREGPSQAUA 30JOKWMUYE 31MTSC 32LC 33RU",
    )
    for row in row.split()
    for country in re.findall("[A-Z]{2}", row[2:])
}
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})[ -]?\d{2}(?=[ -]?[A-Za-z0-9])")
_CUED_IBAN = re.compile(
    r"(?i:(?: (?:number|no|code))?(?: is| was)?[.:#]? ?)"
    r"([A-Za-z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}(?![a-z])){2,8})(?!\w)"
)
_BANK = re.compile(
    r"(?:[ /-](?:[Cc]ode|BIC|SWIFT)){0,2}(?: is| was)?:? ?"
    r"([A-Z]{4} ?[A-Z]{2} ?[A-Z0-9]{2}(?: ?[A-Z0-9]{3})?)(?!\w)"
)
_SORT = re.compile(r"(?i:[ -]?code(?: is| was)?:? ?)(\d\d[ -]?\d\d[ -]?\d\d)(?!\w)")
_SORT_AND_ACCOUNT = re.compile(r"(?<![\w-])\d\d-\d\d-\d\d[ ,/]{1,2}\d{7,8}(?![\w-])")
_CUED_PATTERNS = {
    cased(("iban",)): (_CUED_IBAN, "IBAN_CODE"),
    cased(("swift", "bic")): (_BANK, "CODE"),
    cased(("sort", "sortcode")): (_SORT, "CODE"),
}
# Without check digits only the usual groups are taken.
_IBAN_FORM = re.compile(
    r"[A-Z]{2}\d{2}(?:[A-Z\d]{8,30}|(?:[ -][A-Z\d]{4}){2,7}(?:[ -][A-Z\d]{1,3})?)"
    r"|[a-z]{2}\d{2}(?:[a-z\d]{8,30}|(?:[ -](?=[A-Za-z]{0,3}\d)[A-Za-z\d]{4}){2,7}"
    r"(?:[ -][A-Za-z\d]{1,3})?)"
)


def bank_accounts(tokens: Tokens, positions: list[int]) -> Iterator[Candidate]:
    """Yield IBANs, bank codes and sort codes."""
    text = tokens.text
    for match in matches(_IBAN_START, text, positions):
        end = _iban_end(text, match.start(), _IBAN_LENGTHS.get(match[1].upper(), 0))
        if end is None:
            continue
        value = text[match.start() : end].replace(" ", "").replace("-", "")
        if iban_holds(value):
            yield Candidate(match.start(), end, "IBAN_CODE", 1.0, "check-digits")
        elif _IBAN_FORM.fullmatch(text, match.start(), end):
            yield Candidate(match.start(), end, "IBAN_CODE", 0.85, "length")
    starts = [tokens.starts[index] for index in tokens.numbers]
    for match in matches(_SORT_AND_ACCOUNT, text, starts):
        yield Candidate(*match.span(), "CODE", 0.96, "form")
    for words, (pattern, type_) in _CUED_PATTERNS.items():
        for match in cued(pattern, tokens, words):
            yield Candidate(*match.span(1), type_, 0.96, "cue")


def _iban_end(text: str, start: int, length: int) -> int | None:
    """Return where so many letters and figures end, over single marks between them."""
    position = start
    while length and position < len(text):
        if text[position].isascii() and text[position].isalnum():
            length -= 1
        elif text[position] not in " -" or text[position - 1] in " -":
            return None
        position += 1
    if length or position == start or text[position : position + 1].isalnum():
        return None
    return position


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


def wallets(tokens: Tokens) -> Iterator[Candidate]:
    """Yield addresses of wallets."""
    for match in matches(_WALLET, tokens.text, _long_runs(tokens)):
        value = match.group()
        if match.lastgroup == "base58" and base58_holds(value):
            yield Candidate(*match.span(), "CODE", 1.0, "check-digits")
        elif match.lastgroup in {"segwit", "hex"}:
            yield Candidate(*match.span(), "CODE", 0.95, "wallet")
        elif _MIXED.match(value):
            yield Candidate(*match.span(), "CODE", 0.8, "wallet")


def _long_runs(tokens: Tokens) -> list[int]:
    """Return where long runs of letters and figures begin."""
    text, positions, done = tokens.text, [], 0
    for index in tokens.numbers:
        position = tokens.starts[index]
        if position < done or not (
            text[position - 1 : position].isalpha()
            or text[tokens.ends[index] : tokens.ends[index] + 1].isalpha()
        ):
            continue
        while position > done and text[position - 1].isalnum():
            position -= 1
        run = _RUN.match(text, position)
        done = run.end() if run else done
        if run and run.end() - position >= _SHORTEST:
            positions.append(position)
    return positions
