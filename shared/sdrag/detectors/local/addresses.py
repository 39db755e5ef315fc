"""
Postal addresses, grown from a kernel.

A kernel is what only an address has: a house number beside a street, a flat, a post
box. From there the address grows over numbers, capitalised words, postal codes and line
breaks, as long as nothing interrupts it. Formats of many countries share that shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import MONTHS, STREET_HEADS, WEEKDAYS, listed
from sdrag.detectors.local.postal import laid_out
from sdrag.detectors.local.runs import is_common
from sdrag.detectors.local.words import Tokens

__all__ = ["addresses"]

_UNITS = listed("apt apartment suite unit flat room box floor psc apo fpo dpo hse blk")
# Endings of street names in Germanic, Slavic, Romance, Baltic and Finnic languages.
_STREETISH = re.compile(
    r".{2,}(?:stra(?:ss|\u00df)e|str|gasse|weg|platz|allee|gade|gate|gatan|gaten|vej|vegen"
    r"|veien|v\u00e4gen|v\u00e6nget|braut|gata|hamar|katu|kuja|tie|straat|laan|plein|dijk"
    r"|kade|utca|utja)$",
    re.IGNORECASE,
)
_STREET_WORDS = listed("""
        rue via viale piazza calle avenida av plaza rua ul ulica al os nab nam u ut
        trg cesta chemin boulevard avenue street road lane drive terrace highway
        turnpike throughway crescent parkway route piazzale corso largo travessa
        estrada carrera paseo strada stradale strasse stra\u00dfe terrasse t\u00e9r
        utca kapu rkp str baan gate
        """)
# Words for a street that are no English words, so that lower case is telling too.
_FOREIGN = listed("""
        rue utca t\u00e9r \u00fat \u00fatja trg ul ulica avenida viale calle strasse
        stra\u00dfe kapu rkp piazza plaza pla\u00e7a rua gasse allee
        """)
_TELLING = _UNITS | _FOREIGN
_POSTS = listed("fpo apo dpo")
_FORCES = listed("AA AE AP")
_SMALL = listed("""
        de da do du des del della dei di la le el les los las y a e of the and van
        von der den am im zum zur u ul os al aux sur st nad pri pod po na nan corner
        str ap
        """)
_GAP = re.compile(r"[ \t>,.\-/'&\u00b7|?]{0,8}(?:\n[ \t>]{0,4}){0,2}[ \t>,]{0,3}$")
_REACH = 14
_HOUSE = 4
_CUE = re.compile(
    r"\b(?:(?:lives?|lived|living|located|station is|side of|house is|office is|stop"
    r"|shop) (?:at|on|in|of)|address(?: is)?:?|corner of|return to|resid\w+ at) $"
)


def addresses(tokens: Tokens) -> Iterator[Found]:
    """Yield addresses."""
    done = -1
    for index, start in sorted({**_numbered(tokens), **_kernels(tokens)}.items()):
        if index <= done:
            continue
        first = _grown(tokens, index, -1, done) if start is None else start
        if tokens.words[index].lower() in _POSTS:
            first = _vessel(tokens, index, max(first - 4, done + 1))
        last = _grown(tokens, index, 1, done)
        if last > first and any(w[0].isdigit() for w in tokens.words[first : last + 1]):
            done = last
            yield from laid_out(tokens, first, last)


def _vessel(tokens: Tokens, index: int, least: int) -> int:
    """Return the first token of what stands before a military post: USS Lorenzen."""
    first = index
    while (
        first > least
        and tokens.words[first - 1][0].isalnum()
        and not tokens.words[first - 1].islower()
        and _GAP.match(tokens.gap(first))
    ):
        first -= 1
    return first


def _kernels(tokens: Tokens) -> dict[int, int | None]:
    """Return the tokens that only an address has there."""
    return {i: None for i in _candidates(tokens) if _kernel(tokens, i)}


def _numbered(tokens: Tokens) -> dict[int, int | None]:
    """Return names with a number behind, and where they start: on Dunajska 56."""
    found: dict[int, int | None] = {}
    for index in tokens.numbers:
        if index and len(tokens.words[index]) <= _HOUSE and tokens.gap(index) == " ":
            start = _street_before(tokens, index)
            if start is not None:
                found[index - 1] = start
    return found


def _street_before(tokens: Tokens, index: int) -> int | None:
    """Return the first token of a street's name that ends before the number."""
    words = tokens.words
    if is_common(words[index - 1]) or not words[index - 1][0].isupper():
        return None
    for place in range(index - 1, max(-1, index - 6), -1):
        word = words[place]
        if word[0].isdigit():
            return place
        if word[0].islower() and _cued(tokens.text, tokens.starts[place + 1]):
            return place + 1
        joined = place == index - 1 or tokens.gap(place + 1) in (" ", ". ")
        named = word[0].isupper() and word not in MONTHS and word not in WEEKDAYS
        if not joined or not (named or word in _SMALL):
            break
    return None


def _cued(text: str, start: int) -> bool:
    return _CUE.search(text, max(0, start - 24), start) is not None


def _candidates(tokens: Tokens) -> list[int]:
    """Return the tokens that only an address may have, in order."""
    telling = [
        word
        for word in tokens.where
        if word.lower() in _TELLING
        or (
            word[0].isupper()
            and (
                word in STREET_HEADS
                or word.lower() in _STREET_WORDS
                or _STREETISH.match(word)
            )
        )
    ]
    return sorted(tokens.places(telling))


def _kernel(tokens: Tokens, index: int) -> bool:
    """Say whether the token is one that only an address has there."""
    words = tokens.words
    word = words[index]
    lower = word.lower()
    numbered_after = index + 1 < len(words) and words[index + 1][0].isdigit()
    if lower in _POSTS:
        return index + 1 < len(words) and words[index + 1].upper() in _FORCES
    if lower in _FOREIGN and not word[0].isupper():
        return numbered_after or _numbered_before(words, index)
    if lower in _UNITS and numbered_after:
        return tokens.gap(index + 1) in (" ", ". ", ".", " #")
    if _STREETISH.match(word) or lower in _STREET_WORDS:
        near = words[max(0, index - 2) : index] + words[index + 1 : index + 6]
        return word[0].isupper() and any(w[0].isdigit() for w in near)
    return word in STREET_HEADS and _house_number(tokens, index)


def _numbered_before(words: list[str], index: int) -> bool:
    return any(word[0].isdigit() for word in words[max(0, index - 3) : index])


def _house_number(tokens: Tokens, index: int) -> bool:
    """Say whether capitalised words and a number lead to the token: 12 Canal Street."""
    words = tokens.words
    for place in range(index - 1, max(-1, index - 6), -1):
        word = words[place]
        if word[0].isdigit():
            return tokens.gap(place + 1) in (" ", ", ", "-")
        if not word[0].isupper() or word in MONTHS or tokens.gap(place + 1) != " ":
            return False
    return False


def _grown(tokens: Tokens, index: int, step: int, done: int) -> int:
    """Return the last token that belongs, going left or right."""
    place = edge = index
    for _ in range(_REACH):
        ahead = place + step
        if not done < ahead < len(tokens.words):
            break
        gap = tokens.gap(max(ahead, place))
        if not _GAP.match(gap) or _ends(tokens, min(ahead, place), gap):
            break
        word = tokens.words[ahead]
        if word in MONTHS or word in WEEKDAYS:
            break
        if word[0].isdigit():
            if step > 0 and any(c in word for c in ":"):
                break
            edge = ahead
        elif word[0].isupper():
            if step < 0 and not _street_left(tokens, ahead):
                break
            edge = ahead
        elif word.lower() not in _SMALL and not (step > 0 and len(word) == 1):
            break
        place = ahead
    return edge


def _street_left(tokens: Tokens, index: int) -> bool:
    """Going left, a capitalised word belongs only while a number stands before it."""
    words = tokens.words[max(0, index - 5) : index]
    return any(w[0].isdigit() for w in words) or bool(
        tokens.words[index].lower() in _STREET_WORDS
    )


def _ends(tokens: Tokens, index: int, gap: str) -> bool:
    """Say whether a sentence ends in the gap behind the token."""
    word = tokens.words[index]
    return gap.startswith(". ") and len(word) > 4 and word.lower() not in _UNITS
