"""
Spans as bytes: rules that cut the same stretches share them.

Seventeen constraints on names cut the same names. So spans stand in groups: the rules
that cut them, and the spans, each as a gap and a length. All numbers are written seven
bits a byte, the last byte below 128. A group without spans hides the text whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sdrag.vocabulary import Span

__all__ = ["Groups", "by_rule", "grouped", "read_groups", "written_groups"]

Groups = tuple[tuple[tuple[bytes, ...], tuple[Span, ...]], ...]
"""The keys of rules, and what all of them cut."""

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
    given: list[int] = []
    for hiding, own in groups:
        before = 0
        given.append(len(hiding))
        for place in sorted(places[rule] for rule in hiding):
            given.append(place - before)
            before = place
        end = 0
        given.append(len(own))
        for span in own:
            # Spans of one rule may overlap: they are sorted, so starts never fall.
            given += (span.start - end, len(span))
            end = span.start
    return _written(given)


def read_groups(given: bytes, rules: Sequence[bytes]) -> Groups:
    """Read what `written_groups` wrote."""
    groups = []
    numbers = _read(given)
    at = 0
    while at < len(numbers):
        first = at + 1
        at = first + numbers[at]
        hiding, place = [], 0
        for gap in numbers[first:at]:
            place += gap
            hiding.append(rules[place])
        first = at + 1
        at = first + 2 * numbers[at]
        own, start = [], 0
        for gap, length in zip(
            numbers[first:at:2], numbers[first + 1 : at : 2], strict=True
        ):
            start += gap
            own.append(Span(start, start + length))
        groups.append((tuple(hiding), tuple(own)))
    return tuple(groups)


def _written(numbers: Iterable[int]) -> bytes:
    given = bytearray()
    for number in numbers:
        left = number
        while left >= _MORE:
            given.append(left % _MORE + _MORE)
            left //= _MORE
        given.append(left)
    return bytes(given)


def _read(given: bytes) -> list[int]:
    numbers: list[int] = []
    number = shift = 0
    for byte in given:
        if byte < _MORE:
            numbers.append(number | byte << shift)
            number = shift = 0
        else:
            number |= (byte - _MORE) << shift
            shift += 7
    return numbers
