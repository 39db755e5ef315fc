"""
Reading what a model says must go.

Native structured output arrives as JSON; a model without it may wrap the JSON in talk
or in a code fence, or answer with the flat Markdown list that the paper's grammar
forces (section IV-C3). Small models leave commas behind and quote with the wrong marks:
what is nearly JSON is mended, but only as far as its last whole verdict, so that what a
reply was cut off in is never taken for a verdict. A constraint without a readable
verdict has none: that is doubt. An explicit empty verdict is a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from json_repair import repair_json
from pydantic import ValidationError

from sdrag.disclosure.prompts import Verdicts

__all__ = ["MAX_REPLY", "json_values", "mended_values", "read_verdicts"]

MAX_REPLY = 200_000
"""Characters of a reply that are read; more is no list of spans but an attack."""

MAX_SPANS = 2_000
"""Spans of a reply; each that is not in the text costs a fuzzy search."""

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?\[?([\w.:-]{1,64})\]?(?:\*\*)?:?[ \t]*$"
)
_ITEM = re.compile(r"^[ \t]*[-*][ \t]+(.+)$")
_OPENING = re.compile(r"[{\[]")
_WHOLE = re.compile(r"\]\s*,?\s*\}")
_TRIES = 50
_MENDED = 20_000
"""Characters of a reply that are mended; mending takes its time."""
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
    given = _from_values(json_values(reply))
    if given is None:
        given = _from_values(mended_values(reply))
    if given is None:
        given = _from_list(reply, set(asked))
    if sum(map(len, given.values())) > MAX_SPANS:
        return {}
    return {
        name: tuple(
            span
            for span in dict.fromkeys(spans)
            if span.strip().lower() not in _NOTHING
        )
        for name, spans in given.items()
        if name in asked
    }


def _from_values(values: Iterable[object]) -> dict[str, list[str]] | None:
    """Unite all verdicts of the reply: a draft before them withholds as well."""
    given: dict[str, list[str]] = {}
    for value in values:
        try:
            shaped = {"verdicts": value} if isinstance(value, list) else value
            verdicts = Verdicts.model_validate(shaped)
        except ValidationError:
            continue
        for verdict in verdicts.verdicts:
            given.setdefault(verdict.constraint, []).extend(verdict.spans)
    return given or None


def json_values(reply: str) -> Iterator[object]:
    """Yield the JSON objects and lists that stand in the reply, outermost only."""
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(reply, place)
        if opening is None:
            return
        place = opening.start()
        try:
            value, place = decoder.raw_decode(reply, place)
            yield value
        except (ValueError, RecursionError):
            place += 1


def mended_values(reply: str) -> Iterator[object]:
    """Yield what stands in a reply as something like JSON, to its last whole list."""
    if len(reply) > _MENDED:
        return
    opening = _OPENING.search(reply)
    ends = [match.end() for match in _WHOLE.finditer(reply)]
    if opening is None or not ends or ends[-1] <= opening.start():
        return
    with suppress(ValueError, RecursionError):
        yield repair_json(reply[opening.start() : ends[-1]], return_objects=True)


def _from_list(reply: str, asked: set[str]) -> dict[str, list[str]]:
    """Read headings that are ids, each with its list; `- none` is an empty one."""
    given: dict[str, list[str]] = {}
    pending: str | None = None
    for line in reply.splitlines():
        if item := _ITEM.match(line):
            if pending is not None:
                given.setdefault(pending, []).append(item.group(1).strip(" \"'`"))
        elif heading := _HEADING.match(line):
            names = (heading.group(1), heading.group(1).rstrip(":"))
            pending = next((name for name in names if name in asked), None)
    return given
