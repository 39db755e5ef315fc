"""
Spans as bytes: rules that cut the same stretches share them.

Seventeen constraints on names cut the same names. So spans stand in groups: the rules
that cut them, and the spans, each as a gap and a length. All numbers are written seven
bits a byte, the last byte below 128. A group without spans hides the text whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sdrag.vocabulary import Span

__all__ = ["Groups", "Lists", "by_rule", "grouped", "read_groups", "written_groups"]

Groups = tuple[tuple[tuple[bytes, ...], tuple[Span, ...]], ...]
"""The keys of rules, and what all of them cut."""

Lists = dict[bytes, tuple[bytes, ...]]
"""Lists of rules by the bytes that they are written as."""

_MORE = 128


def grouped(spans: Mapping[bytes, Iterable[Span]]) -> Groups:
    """Return spans by rule as groups; none for a rule: it hides the text whole."""
    rules_of: dict[Span | None, list[bytes]] = {}
    for rule, own in spans.items():
        for span in own or (None,):
            rules_of.setdefault(span, []).append(rule)
    spans_of: dict[tuple[bytes, ...], list[Span]] = {}
    whole: list[tuple[tuple[bytes, ...], tuple[Span, ...]]] = []
    for span, rules in rules_of.items():
        key = tuple(sorted(rules))
        if span is None:
            whole.append((key, ()))
        else:
            spans_of.setdefault(key, []).append(span)
    return (*whole, *((rules, tuple(sorted(own))) for rules, own in spans_of.items()))


def by_rule(groups: Groups) -> dict[bytes, tuple[Span, ...]]:
    """Return the spans of each rule, sorted; none for one that hides the text whole."""
    spans: dict[bytes, set[Span]] = {}
    hiding: set[bytes] = set()
    for rules, own in groups:
        if not own:
            hiding.update(rules)
        for rule in rules:
            spans.setdefault(rule, set()).update(own)
    return {
        rule: () if rule in hiding else tuple(sorted(own))
        for rule, own in spans.items()
    }


def written_groups(groups: Groups, rules: Sequence[bytes]) -> bytes:
    """Write groups down; the rules are known by their places in the list."""
    places = {rule: place for place, rule in enumerate(rules)}
    parts: list[bytes] = []
    for hiding, own in groups:
        gaps: list[int] = []
        before = 0
        for place in sorted(places[rule] for rule in hiding):
            gaps.append(place - before)
            before = place
        numbers: list[int] = []
        start = 0
        for span in own:
            # Spans of one rule may overlap: they are sorted, so starts never fall.
            numbers += (span.start - start, len(span))
            start = span.start
        for part in (_written(gaps), _written(numbers)):
            parts += [_written([len(part)]), part]
    return b"".join(parts)


def read_groups(given: bytes, rules: Sequence[bytes], known: Lists) -> Groups:
    """
    Read what `written_groups` wrote.

    Args:
        given: The bytes.
        rules: The same list.
        known: Lists of rules that were read before, by their bytes: the same few stand
            in most rows. Grows.
    """
    groups = []
    at = 0
    while at < len(given):
        size, at = _number(given, at)
        listed = given[at : at + size]
        at += size
        hiding = known.get(listed)
        if hiding is None:
            hiding = known[listed] = _listed(listed, rules)
        size, at = _number(given, at)
        numbers = _numbers(given[at : at + size])
        at += size
        own, start = [], 0
        for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
            start += gap
            own.append(Span(start, start + length))
        groups.append((hiding, tuple(own)))
    return tuple(groups)


def _listed(given: bytes, rules: Sequence[bytes]) -> tuple[bytes, ...]:
    hiding, place = [], 0
    for gap in _numbers(given):
        place += gap
        hiding.append(rules[place])
    return tuple(hiding)


def _written(numbers: Iterable[int]) -> bytes:
    given = bytearray()
    for number in numbers:
        left = number
        while left >= _MORE:
            given.append(left % _MORE + _MORE)
            left //= _MORE
        given.append(left)
    return bytes(given)


def _numbers(given: bytes) -> Sequence[int]:
    if given.isascii():  # every number is below 128, and one byte
        return given
    numbers, at = [], 0
    while at < len(given):
        number, at = _number(given, at)
        numbers.append(number)
    return numbers


def _number(given: bytes, at: int) -> tuple[int, int]:
    """Read the number that stands at a place, and return the place after it."""
    byte = given[at]
    at += 1
    if byte < _MORE:
        return byte, at
    number, shift = byte - _MORE, 7
    while (byte := given[at]) >= _MORE:
        number |= (byte - _MORE) << shift
        shift += 7
        at += 1
    return number | byte << shift, at + 1
