"""
Texts that are met first at a question, as far as the limits of local work allow.

The shortest texts are read first, some together. So a long text, or one on which a
detector does not end, costs as few others as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdrag.disclosure.texts import Group
from sdrag.engine.steps import Failure, Steps, reserve
from sdrag.errors import LocalLimitError

__all__ = ["code_of", "part", "readable"]

_AT_ONCE = 20_000
"""So many characters are read together: ten chunks of an index."""


def readable(group: Group) -> Steps[tuple[Sequence[Group], Mapping[int, Failure]]]:
    """
    Say what of a group may be read at this request.

    Args:
        group: Each text of it is a document of its own.

    Returns:
        Groups to be read one after the other, and why others may not be, by place.
    """
    lengths = [len(text.text) for text in group.texts]
    indexes = sorted(range(len(lengths)), key=lengths.__getitem__)
    outcomes = yield from reserve(group.texts[index].text for index in indexes)
    refused: dict[int, Failure] = {}
    fitting: list[int] = []
    for index, outcome in zip(indexes, outcomes, strict=True):
        if isinstance(outcome, Failure):
            refused[group.places[index]] = outcome
        else:
            fitting.append(index)
    return [part(group, some) for some in _together(group, fitting)], refused


def part(group: Group, indexes: Sequence[int]) -> Group:
    """Return some texts of a group."""
    return Group(
        tuple(group.places[index] for index in indexes),
        tuple(group.texts[index] for index in indexes),
        group.constraints,
    )


def code_of(failure: Failure) -> str:
    """Return the reason's code for a text that was not read to its end."""
    over = isinstance(failure.error, LocalLimitError)
    return "over-local-limit" if over else "detector-failed"


def _together(group: Group, indexes: Sequence[int]) -> Iterator[list[int]]:
    """Yield texts that are read together."""
    some: list[int] = []
    size = 0
    for index in indexes:
        length = len(group.texts[index].text)
        if some and size + length > _AT_ONCE:
            yield some
            some, size = [], 0
        some.append(index)
        size += length
    if some:
        yield some
