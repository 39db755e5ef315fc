"""
Reading what a model says must go, and what it says need not.

Native structured output arrives as JSON; a model without it may wrap the JSON in talk
or in a code fence, get it almost right, or answer with the flat Markdown list that the
paper's grammar forces (section IV-C3). It may write an id in other case, in brackets or
with its noun; an id that could mean two constraints, or none, is not guessed.

Of what must go: a constraint without a readable verdict has none. That is doubt, and
doubt withholds. A verdict that breaks off is none, and takes back what the reply had
said of its constraint. An explicit empty verdict is a verdict.

Of what need not go: only an explicit no counts. A question that is answered in any
other way, or whose answer breaks off, has no answer. Of several answers to one question
only what all of them free is freed. A reply that names a question that was not asked,
or for a question a constraint that it did not ask about, answers something else, such
as the example of the prompt: it counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from sdrag.effects.lenient_json import UNREAD, json_values, lenient_values

__all__ = ["MAX_REPLY", "json_values", "meant", "read_answers", "read_verdicts"]

_AROUND = " \t[]()\"'`:"


def meant(said: object, asked: Collection[str], noun: str = "") -> str | None:
    """
    Return the id that is meant.

    Args:
        said: What is in the reply where an id belongs.
        asked: The ids that may be meant.
        noun: May stand before the id, as in `constraint a`.
    """
    if isinstance(said, bool) or not isinstance(said, str | int):
        return None
    name = str(said)
    if name in asked:
        return name
    name = name.strip(_AROUND)
    first, _, rest = name.partition(" ")
    if rest and first.casefold() == noun:
        name = rest.strip(_AROUND)
    if name in asked:
        return name
    folded = name.casefold()
    like = [one for one in asked if one.casefold() == folded]
    return like[0] if len(like) == 1 else None


MAX_REPLY = 200_000
"""Characters of a reply that are read; more is no list of spans but an attack."""

MAX_SPANS = 2_000
"""Spans of a reply; each that is not in the text costs a fuzzy search."""

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?\[?([\w.:-]{1,64})\]?(?:\*\*)?:?[ \t]*$"
)
_ITEM = re.compile(r"^[ \t]*[-*][ \t]+(.+)$")
_QUOTED = ("text", "span", "quote")
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
    given = _from_json(reply, asked)
    if given is None:
        given = _from_list(reply, asked)
    if sum(map(len, given.values())) > MAX_SPANS:
        return {}
    return {
        name: tuple(span for span in dict.fromkeys(spans) if not _is_nothing(span))
        for name, spans in given.items()
    }


def _from_json(reply: str, asked: Collection[str]) -> dict[str, list[str]] | None:
    """Unite all verdicts of the reply: a draft before them withholds as well."""
    given: dict[str, list[str]] = {}
    doubted: set[str] = set()
    for value in lenient_values(reply):
        own: dict[str, list[str]] = {}
        unread: set[str] = set()
        for said, held in _verdicts(value):
            name, spans = meant(said, asked, "constraint"), _spans(held)
            if name is not None and spans is not None:
                own.setdefault(name, []).extend(spans)
            elif name is not None:
                unread.add(name)
        # A draft that breaks off is forgotten where an answer comes after it.
        if isinstance(value, list) or (isinstance(value, dict) and "verdicts" in value):
            doubted -= own.keys()
        doubted |= unread
        for name, spans in own.items():
            given.setdefault(name, []).extend(spans)
    if not given and not doubted:
        return None
    return {name: spans for name, spans in given.items() if name not in doubted}


def _verdicts(value: object) -> Iterator[tuple[object, object]]:
    """Yield what each verdict says it is about, and what it says."""
    held = value.get("verdicts", value) if isinstance(value, dict) else value
    if isinstance(held, dict) and "constraint" not in held:
        yield from _keyed(held)
        return
    for one in held if isinstance(held, list) else [held]:
        if isinstance(one, dict):
            yield one.get("constraint"), UNREAD if UNREAD in one else one.get("spans")


def _keyed(held: Mapping[object, object]) -> Iterator[tuple[object, object]]:
    """Yield what is under each id; what it breaks off behind may not be all."""
    pairs = [pair for pair in held.items() if pair[0] is not UNREAD]
    if UNREAD in held and pairs:
        pairs[-1] = (pairs[-1][0], UNREAD)
    yield from pairs


def _spans(held: object) -> list[str] | None:
    """Return what is quoted; `None` of what is no list of quotations."""
    if isinstance(held, list):
        spans = [[one] if isinstance(one, str) else _quoted(one) for one in held]
    else:
        spans = [_quoted(held)]
    if not all(spans):
        return None
    return [span for own in spans for span in own]


def _quoted(held: object) -> list[str]:
    """Return what is quoted in another way than as a list's string; empty if none."""
    said = [held]
    if isinstance(held, dict) and UNREAD not in held:
        said = [held[key] for key in _QUOTED if key in held]
    return [one for one in said if isinstance(one, str) and not _is_nothing(one)]


def _is_nothing(span: str) -> bool:
    return span.strip().lower() in _NOTHING


def _from_list(reply: str, asked: Collection[str]) -> dict[str, list[str]]:
    """Read headings that are ids, each with its list; `- none` is an empty one."""
    given: dict[str, list[str]] = {}
    pending: str | None = None
    for line in reply.splitlines():
        if item := _ITEM.match(line):
            if pending is not None:
                given.setdefault(pending, []).append(item.group(1).strip(" \"'`"))
        elif heading := _HEADING.match(line):
            pending = meant(heading.group(1), asked)
    return given


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
    freed: dict[str, frozenset[str | None]] = {}
    unreadable: set[str] = set()
    for question, given in _pairs(reply):
        name = _question(question, asked)
        if name is None:
            return {}
        names = _names(given, asked[name])
        if names is None:
            unreadable.add(name)
        elif None in names:
            return {}
        else:
            freed[name] = freed.get(name, names) & names
    return {
        name: frozenset(filter(None, names))
        for name, names in freed.items()
        if name not in unreadable
    }


def _pairs(reply: str) -> Iterator[tuple[object, object]]:
    """Yield every question and what is under its "no"."""
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


def _names(given: object, asked: Collection[str]) -> frozenset[str | None] | None:
    """Return the constraints that an answer names; `None` of what is no list of ids."""
    named = [given] if isinstance(given, str) else given
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        return None
    return frozenset(meant(name, asked) for name in named)
