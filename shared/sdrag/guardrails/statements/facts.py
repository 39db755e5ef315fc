"""
Figures and names of a claim: does the evidence have them, and for the same things?

*The ferry leaves at 7:40 and arrives at 9:15* has two times. The words nearest to a
time belong to it; those before the first are shared. A claim that names one time with
words that belong to another alone has taken the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sdrag.detectors.local.tables import common_words
from sdrag.guardrails.statements.quantities import (
    DATES,
    Quantity,
    in_base,
    read_periods,
    read_quantities,
)
from sdrag.guardrails.statements.words import TokenText, is_function_word
from sdrag.text import word_set
from sdrag.text.dates import MONTHS, WEEKDAYS

_KINDS = ({"number"}, DATES, {"time"})
_NUMBER_WORDS = {
    2.0: word_set("both pair couple twin either neither twice"),
    0.5: word_set("half"),
    50.0: word_set("half"),
    1.0: word_set("a an single only the"),
}
"""Words that stand for a number."""
_COMPATIBLE = {
    "": {"", "least", "most", "over", "under"},
    "least": {"", "least", "over"},
    "most": {"", "most", "under"},
    "over": {"over", "least"},
    "under": {"under", "most"},
}
"""The bounds that evidence may have, by the bound of the claim."""
_FIGURE_SHARE, _NAME_SHARE = 0.25, 0.34
"""The share of a claim's words that shows a figure or a name to be another thing's. A
text has more names than figures, so more is asked of them."""
_TITLES = word_set(
    "mr mrs ms miss dr doctor prof professor sir lord lady captain capt major colonel"
    " general sergeant judge justice prosecutor president minister chancellor king"
    " queen prince princess saint st the i"
)
_NO_NAMES = (
    MONTHS.keys() | WEEKDAYS | word_set("c f celsius fahrenheit eur usd gbp chf")
)
_CLAUSE = 6
"""How many words a clause's end counts for."""


def missing_facts(claim: TokenText, evidence: TokenText) -> frozenset[int]:
    """Return where in the claim the figures and names are that the evidence lacks."""
    known, words = read_quantities(evidence), {token.text for token in evidence}
    stems = {token.base for token in evidence}
    figures = {
        figure.at
        for figure in read_quantities(claim)
        if not _has_figure(figure, known, words)
    }
    names = {
        at
        for first, to in find_names(claim)
        for at in range(first, to)
        if claim[at].text not in _TITLES and claim[at].base not in stems
    }
    return frozenset(figures | names)


def figures_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a figure of the claim belongs to something else."""
    stated, known = read_quantities(claim), read_quantities(evidence)
    known_periods = read_periods(evidence)
    if known_periods and not read_periods(claim) <= known_periods:
        return True
    for kinds in _KINDS:
        figures = [figure for figure in stated if figure.kind in kinds]
        items = [
            _Item(other.at, other.to, any(equal(figure, other) for figure in figures))
            for other in known
            if other.kind in kinds and any(_rivals(figure, other) for figure in figures)
        ]
        places = [(figure.at, figure.to) for figure in figures]
        if _is_misplaced(claim, places, evidence, items, _FIGURE_SHARE):
            return True
    return False


def bounds_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a number is the least in one text and the most in the other."""
    known = read_quantities(evidence)
    return any(
        (matching := [other for other in known if equal(figure, other)])
        and not any(other.bound in _COMPATIBLE[figure.bound] for other in matching)
        for figure in read_quantities(claim)
    )


def names_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a name of the claim belongs to something else."""
    names = list(find_names(claim))
    keys = [_key(claim, *place) for place in names]
    items = [
        _Item(*place, wanted=any(key <= other or other <= key for key in keys))
        for place in find_names(evidence)
        if (other := _key(evidence, *place))
    ]
    return _is_misplaced(claim, names, evidence, items, _NAME_SHARE)


def find_names(tokens: TokenText) -> Iterator[tuple[int, int]]:
    """Yield where each name begins and ends."""
    at = 0
    while at < len(tokens):
        to = at
        while to < len(tokens) and _is_name(tokens, to):
            to += 1
        if to > at and _key(tokens, at, to):
            yield at, to
        at = max(to, at + 1)


def equal(left: Quantity, right: Quantity) -> bool:
    """Say whether two figures are the same; a day holds its month."""
    if left.kind == "month" and right.kind == "day" and isinstance(right.value, tuple):
        return left.value == right.value[0]
    if {left.kind, right.kind} == {"number", "year"}:
        return left.value == right.value
    if left.kind != right.kind:
        return False
    if left.measured and right.measured:
        return in_base(left) == in_base(right)
    if left.value != right.value:
        return False
    return not (left.measured or right.measured) or not (left.unit and right.unit)


def _has_figure(
    figure: Quantity, known: Sequence[Quantity], words: Iterable[str]
) -> bool:
    if any(equal(figure, other) for other in known):
        return True
    counts = figure.kind == "number" and not figure.measured
    if not counts or not isinstance(figure.value, float):
        return False
    return not _NUMBER_WORDS.get(figure.value, frozenset()).isdisjoint(words)


def _rivals(figure: Quantity, other: Quantity) -> bool:
    """Say whether two numbers could be mistaken for each other."""
    if figure.kind != "number":
        return figure.kind == other.kind
    if not figure.unit or (figure.measured != other.measured and other.unit):
        return False
    return other.unit in {figure.unit, ""} or equal(figure, other)


def _is_name(tokens: TokenText, at: int) -> bool:
    token = tokens[at]
    if token.text in _NO_NAMES:
        return False
    if token.name:
        return not is_function_word(token.text)
    if not token.first or not token.content or not token.text.isalpha():
        return False
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return (
        token.text in _TITLES
        or token.text not in common_words()
        or (
            following is not None and following.name and following.text not in _NO_NAMES
        )
    )


def _key(tokens: TokenText, at: int, to: int) -> frozenset[str]:
    """Return the words of a name, without titles."""
    words = (token for token in tokens[at:to] if token.text not in _TITLES)
    return frozenset(token.base for token in words)


class _Item(NamedTuple):
    """A figure or a name in the evidence: its tokens, and if the claim names it."""

    at: int
    to: int
    wanted: bool


def _is_misplaced(
    claim: TokenText,
    places: Sequence[tuple[int, int]],
    evidence: TokenText,
    items: Sequence[_Item],
    share: float,
) -> bool:
    """Say whether a claim's words belong to another item than the one it names."""
    wanted = [index for index, item in enumerate(items) if item.wanted]
    if not wanted or len(wanted) == len(items):
        return False
    nearest, shared = _contexts(evidence, items)
    inside = {at for first, to in places for at in range(first, to)}
    words = {
        token.base
        for at, token in enumerate(claim)
        if token.content and at not in inside
    } & {token.base for token in evidence if token.content}
    kept = set().union(*(nearest[index] | shared[index] for index in wanted))
    for index, item in enumerate(items):
        if item.wanted:
            continue
        pull = len(words & nearest[index] - kept)
        others = nearest[index] | shared[index]
        hold = max(len(words & nearest[at] - shared[at] - others) for at in wanted)
        if pull > hold and pull - hold >= share * len(words):
            return True
    return False


def _contexts(
    evidence: TokenText, items: Sequence[_Item]
) -> tuple[list[set[str]], list[set[str]]]:
    """Return the words that are nearest to each item, and those that it shares."""
    nearest: list[set[str]] = [set() for _ in items]
    shared: list[set[str]] = [set() for _ in items]
    for part in dict.fromkeys(token.hard for token in evidence):
        places = [
            at
            for at, token in enumerate(evidence)
            if token.hard == part and token.content
        ]
        inside = [at for at, item in enumerate(items) if evidence[item.at].hard == part]
        first = min((items[index].at for index in inside), default=0)
        before = {evidence[at].base for at in places if at < first}
        for index in inside:
            shared[index] |= before
        for at in places:
            if inside and not any(item.at <= at < item.to for item in items):
                _, near = min(
                    (_distance(evidence, items[index], at), index) for index in inside
                )
                nearest[near].add(evidence[at].base)
    return nearest, shared


def _distance(evidence: TokenText, item: _Item, at: int) -> int:
    """Return how many words a word is from an item; each clause between counts more."""
    words = item.at - at if at < item.at else at - item.to + 1
    return words + _CLAUSE * abs(evidence[at].clause - evidence[item.at].clause)
