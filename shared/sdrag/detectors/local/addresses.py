"""
Postal addresses, grown from a kernel.

A kernel is what only an address has: a house number next to a street, a flat, a post
box. From there the address grows over numbers, capitalised words, postal codes and line
breaks, until something interrupts it. Formats of many countries share that shape.

Plain lines one below the other are one address, town and postal code included; a town
that is known is found by itself as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.tables import (
    ACRONYMS,
    FUNCTION_WORDS,
    MONTHS,
    STREET_HEADS,
    WEEKDAYS,
    is_common,
    listed,
    word_set,
)
from sdrag.detectors.local.tokens import Candidate, TokenIndex
from sdrag.text.sentences import line_after

UNITS_OF_ADDRESSES = listed(
    "apt apartment suite unit flat room box floor psc apo fpo dpo hse blk"
)
_ROOMS = listed("""
    room box floor unit blk no of and section part page bed bay ward level line column
    question chapter clause table
    """)
# Endings of street names in Germanic, Slavic, Romance, Baltic and Finnic languages.
_STREETISH = re.compile(
    r".{2,}(?:stra(?:ss|\u00df)e|str|gasse|weg|platz|allee|gade|gate|gatan|gaten|vej|vegen"
    r"|veien|v\u00e4gen|v\u00e6nget|braut|gata|hamar|katu|kuja|tie|straat|laan|plein|dijk"
    r"|kade|utca|utja)$",
    re.IGNORECASE,
)
_STREET_WORDS = word_set("street_words")
# Words for a street that are no English words, so that lower case is telling too.
_FOREIGN = word_set("foreign_street_words")
_TELLING = UNITS_OF_ADDRESSES | _FOREIGN
_POSTS = listed("fpo apo dpo")
_FORCES = listed("AA AE AP")
_SMALL = word_set("address_particles")
_GAP = re.compile(
    r"(?![^\n]* {4})[ \t>,.\-/'&\u00b7|?]{0,8}"
    r"(?:\n[ \t>]{0,4}){0,2}[ \t>,]{0,3}$"
)
# Behind a blank line, an address goes on with a postal code alone.
_CODED_LINE = re.compile(r"[^\n\d]{0,30}\d[^\n]{0,12}(?:\n|$)|\d")
_REACH = 14
_HOUSE = 4
_SHORTEST = 4
"""A shorter word before a number is what a monitor or a form reads."""
_SHORT = 4
"""A word of so many letters may be shortened."""
_CUE = re.compile(
    r"\b(?:(?:lives?|lived|living|located|station is|side of|house is|office is|stop"
    r"|shop) (?:at|on|in|of)|address(?: is)?:?|corner of|return to|resid\w+ at) $"
)


def find_addresses(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield addresses."""
    done = -1
    kernels = {i: None for i in _candidates(tokens) if _kernel(tokens, i)}
    for index, start in sorted({**_find_numbered(tokens), **kernels}.items()):
        if index <= done:
            continue
        first = _grow(tokens, index, -1, done) if start is None else start
        last = _grow(tokens, index, 1, done)
        if last > first and _places(tokens.words[first : last + 1]):
            done = last
            yield _street(tokens, first, last)


def _places(words: list[str]) -> bool:
    """Return True if words tell a place, and not only a room of it."""
    if not any(word[0].isdigit() for word in words):
        return False
    return any(word[0].isalpha() and word.lower() not in _ROOMS for word in words)


def _find_numbered(tokens: TokenIndex) -> dict[int, int | None]:
    """Return names with a number behind, and where they start: on Dunajska 56."""
    starts: dict[int, int | None] = {}
    for index in tokens.numbers:
        if index and len(tokens.words[index]) <= _HOUSE and tokens.gap(index) == " ":
            start = _street_before(tokens, index)
            if start is not None:
                starts[index - 1] = start
    return starts


def _street_before(tokens: TokenIndex, index: int) -> int | None:
    """Return the first token of a street's name that ends before the number."""
    words = tokens.words
    street = words[index - 1]
    if is_common(street) or not street[0].isupper() or street in ACRONYMS:
        return None
    if len(street) < _SHORTEST:
        return None
    for position in range(index - 1, max(-1, index - 6), -1):
        word = words[position]
        if word[0].isdigit():
            return position
        start = tokens.starts[position + 1]
        if word[0].islower() and _CUE.search(tokens.text, max(0, start - 24), start):
            return position + 1
        joined = position == index - 1 or tokens.gap(position + 1) in (" ", ". ")
        named = word[0].isupper() and word not in MONTHS and word not in WEEKDAYS
        if not joined or not (named or word in _SMALL):
            break
    return None


def _candidates(tokens: TokenIndex) -> list[int]:
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
    return sorted(tokens.indices(telling))


def _kernel(tokens: TokenIndex, index: int) -> bool:
    """Return True if the token is one that only an address has there."""
    words = tokens.words
    word = words[index]
    lower = word.lower()
    numbered_after = index + 1 < len(words) and words[index + 1][0].isdigit()
    if lower in _POSTS:
        return index + 1 < len(words) and words[index + 1].upper() in _FORCES
    if lower in _FOREIGN and not word[0].isupper():
        before = words[max(0, index - 3) : index]
        return numbered_after or any(each[0].isdigit() for each in before)
    if lower in UNITS_OF_ADDRESSES and numbered_after:
        return tokens.gap(index + 1) in (" ", ". ", ".", " #")
    if _STREETISH.match(word) or lower in _STREET_WORDS:
        near = words[max(0, index - 2) : index] + words[index + 1 : index + 6]
        if word[0].isupper() and any(w[0].isdigit() for w in near):
            return True
    return word in STREET_HEADS and _house_number(tokens, index)


def _house_number(tokens: TokenIndex, index: int) -> bool:
    """Return True if capitals and a number lead to the token: 12 Canal Street."""
    words = tokens.words
    for position in range(index - 1, max(-1, index - 6), -1):
        word = words[position]
        if word[0].isdigit():
            after = words[index + 1][:1] if index + 1 < len(words) else ""
            named = position < index - 1 or after.isupper()  # 17 St Omers
            return named and tokens.gap(position + 1) in (" ", ", ", "-")
        if word == "s" and tokens.gap(position) == "'":  # 9 Tanner's Row
            continue
        if tokens.gap(position + 1) not in (" ", "'"):
            return False
        if not word[0].isupper() or word in MONTHS:
            return False
    return False


def _grow(tokens: TokenIndex, index: int, step: int, done: int) -> int:
    """Return the last token that belongs, going left or right."""
    position = edge = index
    for _ in range(_REACH):
        ahead = position + step
        if not done < ahead < len(tokens.words):
            break
        gap = tokens.gap(max(ahead, position))
        if not _GAP.match(gap) or _ends(tokens, min(ahead, position), gap):
            break
        word = tokens.words[ahead]
        if word in MONTHS or word in WEEKDAYS:
            break
        if word[0].isdigit():
            if step > 0 and ":" in word:
                break
            edge = ahead
        elif word[0].isupper():
            if step < 0 and not _street_left(tokens, ahead):
                break
            edge = ahead
        elif not _goes_on(tokens, ahead, step):
            break
        position = ahead
    return edge


def _goes_on(tokens: TokenIndex, index: int, step: int) -> bool:
    """Return True if an address may go on over a word that begins small."""
    word = tokens.words[index]
    if word.lower() in _SMALL or (step > 0 and len(word) == 1):
        return True
    return word == "s" and tokens.gap(index) == "'"


def _street_left(tokens: TokenIndex, index: int) -> bool:
    """Going left, a capitalised word belongs only while a number is before it."""
    words = tokens.words[max(0, index - 5) : index]
    return any(w[0].isdigit() for w in words) or bool(
        tokens.words[index].lower() in _STREET_WORDS
    )


def _ends(tokens: TokenIndex, index: int, gap: str) -> bool:
    """Return True if a sentence ends in the gap behind the token."""
    word = tokens.words[index]
    if "\n" in gap and ":" in line_after(tokens.text, tokens.starts[index + 1]):
        return True  # a field is below
    if gap.count("\n") > 1 and not _CODED_LINE.match(
        tokens.text, tokens.starts[index + 1]
    ):
        return True
    if not gap.startswith(". ") or word.lower() in UNITS_OF_ADDRESSES:
        return False
    after = tokens.words[index + 1]
    if after[0].isupper() and after.lower() in FUNCTION_WORDS:
        return True
    prose = (
        after[0].isupper()
        and after.lower() not in UNITS_OF_ADDRESSES
        and is_common(after)
    )
    return len(word) > _SHORT or (word[0].isdigit() and prose)


_CORNER = re.compile(r"\b(?:the )?corner of $")
_OTHER_STREET = re.compile(r"\.? and (?:[A-Z][\w'-]+ ?){1,3}\b")


def _street(tokens: TokenIndex, first: int, last: int) -> Candidate:
    """Return the address, with the corner and the other street that make it one."""
    start, end = tokens.starts[first], tokens.ends[last]
    lead = _CORNER.search(tokens.text, max(0, start - 16), start)
    if lead:
        other = _OTHER_STREET.match(tokens.text, end)
        start, end = lead.start(), other.end() if other else end
    return Candidate(start, end, "ADDRESS", 0.9, "grown")
