"""What an answer gave away, by what its constraint asks for: for a developer's eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sdrag.disclosure.constraint_parser import parse
from sdrag.evaluation.rcqa import Answer
from sdrag.evaluation.witnesses import witness_spans
from sdrag.vocabulary import Constraint

__all__ = ["given_away"]

_AROUND = 40
"""Characters shown before and after."""


def given_away(
    articles: Sequence[Mapping[str, Any]], answers: Iterable[Answer]
) -> Iterator[dict[str, str]]:
    """
    Yield each witness word of an article that some answer holds, once.

    Args:
        articles: As in the paper's listing.
        answers: To their questions.

    Yields:
        `kind` (what the constraint asks for), `before`, `text`, `after`.
    """
    seen: set[tuple[int, str, str]] = set()
    for answer in answers:
        witnesses = articles[answer.article]["constraint_to_witness_words"]
        for constraint, words in witnesses.items():
            for span in witness_spans(answer.text, words):
                word = span.of(answer.text)
                if (found := (answer.article, constraint, word.lower())) in seen:
                    continue
                seen.add(found)
                yield {
                    "kind": _kind(constraint),
                    "before": f"{constraint}: "
                    f"{answer.text[max(0, span.start - _AROUND) : span.start]}",
                    "text": word,
                    "after": answer.text[span.end : span.end + _AROUND],
                }


def _kind(constraint: str) -> str:
    """Say how the local engine reads a constraint."""
    parsed = parse(Constraint("c", constraint))
    if parsed.meaning:
        return "of what must be understood"
    return "of names" if parsed.people else "of types"
