"""
What in a text belongs to which of several things of one kind.

*The ferry leaves at 7:40 and arrives at 9:15* has two times. The words nearest to one
are its own; those before the first are shared. A claim that names one time, and of the
own words only another's, has taken the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sdrag.guardrails.agreement.tokens import TokenText, same
from sdrag.vocabulary import Confidential

__all__ = ["Item", "misplaced"]

_CLAUSE = 6
"""How many words a clause's end counts for."""
_LEADING = 2
_PRONOUNS = frozenset({"it", "he", "she", "they", "this", "these"})


@dataclass(frozen=True, slots=True, repr=False)
class Item(Confidential):
    """
    A number, a date or a name in a text.

    Args:
        at: Where it begins.
        to: Where it ends.
        wanted: The claim names it.
        leads: At the head of a sentence it is what the sentence is about.
    """

    at: int
    to: int
    wanted: bool
    leads: bool = False


def misplaced(
    claim: Iterable[str], tokens: TokenText, items: Sequence[Item], share: float
) -> bool:
    """
    Say whether a claim's words belong to another thing than the one it names.

    Args:
        claim: The base forms of the claim's words, without the things themselves.
        tokens: The evidence.
        items: The things of one kind in it.
        share: The least share of the claim's words that decides.
    """
    wanted = [item for item in items if item.wanted]
    others = [item for item in items if not item.wanted]
    if not wanted or not others:
        return False
    own, shared = _contexts(tokens, items)
    said = {token.base for token in tokens if token.content}
    words = [word for word in dict.fromkeys(claim) if _in(word, said)]
    mine = [index for index, item in enumerate(items) if item.wanted]
    kept = set().union(*(own[index] | shared[index] for index in mine))
    for index, item in enumerate(items):
        rivals = [at for at in mine if _comparable(tokens, words, items[at], item)]
        if item.wanted or not rivals:
            continue
        pull = sum(_in(word, own[index]) and not _in(word, kept) for word in words)
        theirs = own[index] | shared[index]
        hold = max(
            sum(
                _in(word, own[at] - shared[at]) and not _in(word, theirs)
                for word in words
            )
            for at in rivals
        )
        if pull > hold and pull - hold >= share * len(words):
            return True
    return False


def _comparable(
    tokens: TokenText, words: Sequence[str], wanted: Item, rival: Item
) -> bool:
    """Say whether two things are in one sentence, or both in statements."""
    part = tokens[wanted.at].hard
    if part == tokens[rival.at].hard:
        return True
    start = next(at for at, token in enumerate(tokens) if token.hard == part)
    return (wanted.leads and wanted.at - start <= _LEADING) or any(
        token.hard == part
        and token.content
        and (_in(token.base, words) or not wanted.leads)
        for at, token in enumerate(tokens)
        if not wanted.at <= at < wanted.to
    )


def _contexts(
    tokens: TokenText, items: Sequence[Item]
) -> tuple[list[set[str]], list[set[str]]]:
    """Return the words that are nearest to each item, and those that it shares."""
    own: list[set[str]] = [set() for _ in items]
    shared: list[set[str]] = [set() for _ in items]
    prefix: set[str] = set()
    for part in dict.fromkeys(token.hard for token in tokens):
        places = [at for at, token in enumerate(tokens) if token.hard == part]
        inside = [at for at, item in enumerate(items) if tokens[item.at].hard == part]
        start = next((at for at in places if tokens[at].text.isalnum()), places[0])
        if tokens[start].text not in _PRONOUNS:
            prefix = set()
        first = min((items[at].at for at in inside), default=places[-1] + 1)
        prefix = prefix | {
            tokens[at].base for at in places if at < first and tokens[at].content
        }
        for at in places:
            if inside and tokens[at].content and not _within(at, items):
                near = min(inside, key=_distance(tokens, items, at))
                own[near].add(tokens[at].base)
        for index in inside:
            shared[index] |= prefix
    return own, shared


def _within(at: int, items: Sequence[Item]) -> bool:
    return any(item.at <= at < item.to for item in items)


def _distance(
    tokens: TokenText, items: Sequence[Item], at: int
) -> Callable[[int], int]:
    """Return how far a word is from an item, by the item's place in the list."""

    def distance(index: int) -> int:
        item = items[index]
        apart = item.at - at if at < item.at else at - item.to + 1
        low, high = sorted((tokens[at].clause, tokens[item.at].clause))
        return apart + _CLAUSE * (high - low)

    return distance


def _in(word: str, words: Iterable[str]) -> bool:
    return any(same(word, other) for other in words)
