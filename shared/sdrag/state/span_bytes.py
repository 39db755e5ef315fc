"""
Closed spans as bytes: what rules cut out of a text, by themselves and together.

Seventeen constraints on names cut the same names. So spans are in groups: the rules
that cut them, and the spans, each as a gap and a length. All numbers are written seven
bits a byte, the last byte below 128. A group without spans hides the text whole. What
all rules cut together is in front, ready to be spliced: most questions are asked by
an audience that every constraint binds, and for them nothing else is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from sdrag.text.spans import merge
from sdrag.vocabulary import Span

__all__ = ["ClosedSpans", "Groups", "Lists", "Together", "by_rule"]

Groups = tuple[tuple[tuple[bytes, ...], tuple[Span, ...]], ...]
"""The keys of rules, and what all of them cut."""

Lists = dict[bytes, tuple[bytes, ...]]
"""Lists of rules by the bytes that they are written as."""

_MORE = 128


@dataclass(frozen=True, slots=True)
class Together:
    """
    What all rules cut together.

    Args:
        rules: Those that cut something.
        spans: Sorted, and joined where nothing but whitespace is between; none, where
            rules are: the text is hidden whole.
    """

    rules: tuple[bytes, ...] = ()
    spans: tuple[Span, ...] = ()


class ClosedSpans:
    """
    What rules cut out of one text; make one with `of` or `read`.

    Args:
        together: What all of them cut.
        groups: What each list of them cuts, where it is known already.
        written: The groups as bytes, where it is not.
        rules: By their places in these bytes.
        lists: Lists of rules that were read before, by their bytes: the same few stand
            in most rows. Grows.
    """

    __slots__ = ("_groups", "_lists", "_rules", "_written", "together")

    def __init__(
        self,
        together: Together,
        groups: Groups | None = None,
        written: bytes = b"",
        rules: Sequence[bytes] = (),
        lists: Lists | None = None,
    ) -> None:
        self.together = together
        self._groups = groups
        self._written = written
        self._rules = rules
        self._lists: Lists = {} if lists is None else lists

    @classmethod
    def of(cls, spans: Mapping[bytes, Iterable[Span]], text: str) -> Self:
        """Take spans by rule; none for a rule: it hides the text whole."""
        groups = _grouped(spans)
        rules = tuple(sorted({rule for hiding, _ in groups for rule in hiding}))
        hides = any(not own for _, own in groups)
        every = () if hides else merge({s for _, own in groups for s in own}, text)
        return cls(Together(rules, every), groups)

    @classmethod
    def read(cls, given: bytes, rules: Sequence[bytes], lists: Lists) -> Self:
        """
        Read what `written` wrote; the groups are read when they are asked for.

        Args:
            given: The bytes.
            rules: The same list as when they were written.
            lists: See the class.
        """
        listed, at = _part(given, 0)
        numbers, at = _part(given, at)
        together = Together(_listed(listed, rules, lists), _spans(numbers))
        return cls(together, None, given[at:], rules, lists)

    def united(self, other: ClosedSpans) -> Self:
        """Return what either cuts."""
        groups = _grouped(by_rule((*self.groups, *other.groups)))
        rules = tuple(sorted({rule for hiding, _ in groups for rule in hiding}))
        hides = any(not own for _, own in groups)
        every = (*self.together.spans, *other.together.spans)
        return type(self)(Together(rules, () if hides else merge(every)), groups)

    @property
    def groups(self) -> Groups:
        """What each list of rules cuts."""
        if self._groups is None:
            groups, at = [], 0
            while at < len(self._written):
                listed, at = _part(self._written, at)
                numbers, at = _part(self._written, at)
                hiding = _listed(listed, self._rules, self._lists)
                groups.append((hiding, _spans(numbers)))
            self._groups = tuple(groups)
        return self._groups

    def written(self, rules: Sequence[bytes]) -> bytes:
        """Write them down; rules are known by their places in the list."""
        indices = {rule: index for index, rule in enumerate(rules)}
        parts: list[bytes] = []
        for hiding, own in ((self.together.rules, self.together.spans), *self.groups):
            gaps: list[int] = []
            before = 0
            for index in sorted(indices[rule] for rule in hiding):
                gaps.append(index - before)
                before = index
            numbers: list[int] = []
            start = 0
            for span in own:
                # Spans of one rule may overlap: they are sorted, so starts never fall.
                numbers += (span.start - start, len(span))
                start = span.start
            for part in (_bytes(gaps), _bytes(numbers)):
                parts += [_bytes([len(part)]), part]
        return b"".join(parts)


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


def _grouped(spans: Mapping[bytes, Iterable[Span]]) -> Groups:
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


def _listed(given: bytes, rules: Sequence[bytes], lists: Lists) -> tuple[bytes, ...]:
    known = lists.get(given)
    if known is None:
        hiding, index = [], 0
        for gap in _numbers(given):
            index += gap
            hiding.append(rules[index])
        known = lists[given] = tuple(hiding)
    return known


def _spans(given: bytes) -> tuple[Span, ...]:
    numbers = _numbers(given)
    own, start = [], 0
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        start += gap
        own.append(Span(start, start + length))
    return tuple(own)


def _part(given: bytes, at: int) -> tuple[bytes, int]:
    """Read a part that is at a place behind its length; return what is after it."""
    size = shift = 0
    while (byte := given[at]) >= _MORE:
        size |= (byte - _MORE) << shift
        shift += 7
        at += 1
    at += 1
    end = at + (size | byte << shift)
    return given[at:end], end


def _numbers(given: bytes) -> Sequence[int]:
    if given.isascii():  # every number is below 128, and one byte
        return given
    numbers = []
    number = shift = 0
    for byte in given:
        if byte < _MORE:
            numbers.append(number | byte << shift)
            number = shift = 0
        else:
            number |= (byte - _MORE) << shift
            shift += 7
    return numbers


def _bytes(numbers: Iterable[int]) -> bytes:
    given = bytearray()
    for number in numbers:
        left = number
        while left >= _MORE:
            given.append(left % _MORE + _MORE)
            left //= _MORE
        given.append(left)
    return bytes(given)
