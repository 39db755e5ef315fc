"""
Reading what a model says need not go.

Only an explicit no counts: whatever is not the id of a constraint that the question
asked about frees nothing, and a question that is answered in any other way, or whose
answer breaks off, has no answer. Of several answers to one question only what all of
them free is freed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sdrag.disclosure.extraction_replies import MAX_REPLY
from sdrag.disclosure.meant import meant
from sdrag.engine.lenient_json import UNREAD, lenient_values

__all__ = ["read_answers"]


def read_answers(
    reply: str, asked: Mapping[str, Collection[str]]
) -> Mapping[str, frozenset[str]]:
    """
    Return what each question with a readable answer frees.

    Args:
        reply: The model's words.
        asked: The ids of the constraints that each question asked about, by its id.
    """
    if len(reply) > MAX_REPLY:
        return {}
    freed: dict[str, frozenset[str]] = {}
    unreadable: set[str] = set()
    for question, given in _pairs(reply):
        name = _question(question, asked)
        if name is None:
            continue
        names = _names(given, asked[name])
        if names is None:
            unreadable.add(name)
        else:
            freed[name] = freed.get(name, names) & names
    return {name: own for name, own in freed.items() if name not in unreadable}


def _pairs(reply: str) -> Iterator[tuple[object, object]]:
    """Yield every question and what stands under its "no"."""
    for value in lenient_values(reply):
        held = value.get("answers", value) if isinstance(value, dict) else value
        for one in held if isinstance(held, list) else [held]:
            if isinstance(one, dict) and "question" in one:
                yield one["question"], UNREAD if UNREAD in one else one.get("no")


def _question(given: object, asked: Collection[str]) -> str | None:
    """Return the question that is meant: `q1`, `[Q1]` and 1 are the same."""
    name = meant(given, asked)
    if name is None and isinstance(given, str | int):
        name = meant(f"q{str(given).strip('[ ]')}", asked)
    return name


def _names(given: object, asked: Collection[str]) -> frozenset[str] | None:
    """Return the constraints that an answer names; none of an answer that is none."""
    if isinstance(given, str):
        name = meant(given, asked)
        return None if name is None else frozenset({name})
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        return None
    return frozenset(name for one in given if (name := meant(one, asked)) is not None)
