"""Words that say opposite things, in their base forms."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from sdrag.guardrails.agreement.tokens import base_form

__all__ = ["are_alike", "are_converse", "are_opposite"]

_CONVERSE = (
    ("lend", "borrow"),
    ("loan", "borrow"),
    ("buy", "sell"),
    ("purchase", "sell"),
    ("give", "receive"),
    ("give", "get"),
    ("send", "receive"),
    ("send", "get"),
    ("teach", "learn"),
    ("precede", "follow"),
    ("own", "belong"),
    ("employ", "work"),
)
"""What one party does, and what the other does in the same event."""
_PREFIXES = ("un", "im", "il", "ir", "dis", "non", "non-")
_LEAST = 3


def are_opposite(left: str, right: str) -> bool:
    """Say whether two base forms are antonyms."""
    if right in _table().get(left, ()):
        return True
    short, long = sorted((left, right), key=len)
    return len(short) >= _LEAST and any(long == prefix + short for prefix in _PREFIXES)


def are_converse(left: str, right: str) -> bool:
    """Say whether two base forms tell one event from its two sides."""
    return frozenset({left, right}) in _events()


def are_alike(left: str, right: str) -> bool:
    """Say whether two base forms are on one side of a line of antonyms."""
    return left == right or any({left, right} <= side for side in _sides())


@lru_cache(maxsize=1)
def _sides() -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(base_form(word) for word in side.split())
        for line in _lines("antonyms")
        for side in line.split("|")
    )


@lru_cache(maxsize=1)
def _events() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(map(base_form, pair)) for pair in _CONVERSE)


@lru_cache(maxsize=1)
def _table() -> dict[str, frozenset[str]]:
    """Read the project's own groups, and WordNet's pairs."""
    found: dict[str, set[str]] = {}
    for line in [*_lines("antonyms"), *_pairs()]:
        left, bar, right = line.partition("|")
        sides = [{base_form(word) for word in side.split()} for side in (left, right)]
        if bar:
            for one, other in (sides, sides[::-1]):
                for word in one:
                    found.setdefault(word, set()).update(other - one)
    return {word: frozenset(others) for word, others in found.items()}


def _pairs() -> list[str]:
    return [line.replace(" ", "|") for line in _lines("opposites")]


def _lines(table: str) -> list[str]:
    text = files(__package__).joinpath(f"{table}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]
