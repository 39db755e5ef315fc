"""
Reading what a model says must go.

Native structured output arrives as JSON; a model without it may wrap the JSON in talk
or in a code fence, or answer with the flat Markdown list that the paper's grammar
forces (section IV-C3). A constraint without a readable verdict has none: that is doubt,
and doubt withholds. An explicit empty verdict is a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from sdrag.disclosure.prompts import Verdicts

__all__ = ["MAX_REPLY", "read_verdicts"]

MAX_REPLY = 200_000
"""Characters of a reply that are read; more is no list of spans but an attack."""

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?\[?([\w.:-]{1,64})\]?(?:\*\*)?:?[ \t]*$"
)
_ITEM = re.compile(r"^[ \t]*[-*][ \t]+(.+)$")
_NOTHING = {"", "none", "n/a", "na", "nothing", "null", "-", "(none)", "[]"}


def read_verdicts(reply: str, asked: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """
    Return the spans given for each constraint that has a readable verdict.

    Args:
        reply: The model's words.
        asked: The ids it was asked about; any other id is ignored.
    """
    if len(reply) > MAX_REPLY:
        return {}
    given = _from_json(reply)
    if given is None:
        given = _from_list(reply, set(asked))
    return {
        name: tuple(span for span in spans if span.strip().lower() not in _NOTHING)
        for name, spans in given.items()
        if name in asked
    }


def _from_json(reply: str) -> dict[str, list[str]] | None:
    for value in _objects(reply):
        try:
            verdicts = Verdicts.model_validate(value)
        except ValidationError:
            continue
        given: dict[str, list[str]] = {}
        for verdict in verdicts.verdicts:
            given.setdefault(verdict.constraint, []).extend(verdict.spans)
        return given
    return None


def _objects(reply: str) -> Iterator[object]:
    """Yield the JSON objects that stand in the reply, outermost only."""
    decoder = json.JSONDecoder()
    place = reply.find("{")
    tries = 0
    while place >= 0 and tries < 50:
        tries += 1
        try:
            value, place = decoder.raw_decode(reply, place)
            yield value
        except (json.JSONDecodeError, RecursionError):
            place += 1
        place = reply.find("{", place)


def _from_list(reply: str, asked: set[str]) -> dict[str, list[str]]:
    """Read headings that are ids, each with its list; `- none` is an empty one."""
    given: dict[str, list[str]] = {}
    pending: str | None = None
    for line in reply.splitlines():
        if item := _ITEM.match(line):
            if pending is not None:
                given.setdefault(pending, []).append(item.group(1).strip(" \"'`"))
        elif heading := _HEADING.match(line):
            pending = heading.group(1) if heading.group(1) in asked else None
    return given
