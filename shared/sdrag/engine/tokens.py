"""
Tokens: what a model reads and writes, and what its provider says that was.

Where a framework passes on what the provider counted, that counts; everywhere else
characters are counted. Both are for telling costs and for bounding prompts, and nothing
that is withheld hangs on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sdrag.vocabulary import Confidential

__all__ = ["CHARACTERS_PER_TOKEN", "Completion", "estimated", "text_of"]

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English; the budget bounds a prompt, it does not fill it."""


@dataclass(frozen=True, slots=True, repr=False)
class Completion(Confidential):
    """
    A reply, and what the provider says it took.

    Args:
        text: The reply.
        tokens_in: What the model read; `None` where nobody says.
        tokens_out: What it wrote; `None` where nobody says.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None

    @classmethod
    def of(cls, text: str, tokens_in: object, tokens_out: object) -> Self:
        """Make one of what a provider has put where its counts stand."""
        return cls(text, _count(tokens_in), _count(tokens_out))


def estimated(texts: Iterable[str]) -> int:
    """Estimate how many tokens texts are, together."""
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def text_of(reply: Completion | str) -> str:
    """Return the text of a reply, with its cost or without."""
    return reply.text if isinstance(reply, Completion) else reply


def _count(given: object) -> int | None:
    """Take a count; providers that count nothing say so by zero, or by other things."""
    return given if isinstance(given, int) and given > 0 else None
