"""
Saying what is wrong with a policy and where, in no word of a constraint.

A constraint's text that holds a colon reads as a key, so inside `constraints` only a
key that looks like a misspelt one is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from sdrag.errors import PolicyError
from sdrag.policy.sections import Section
from sdrag.policy.yaml_reading import Lines, Place, dotted, nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["explained"]

_WORD = re.compile(r"[A-Za-z_]\w{0,39}", re.ASCII)


def explained(
    problems: Sequence[ErrorDetails], lines: Lines, document: type[Section]
) -> PolicyError:
    """
    Make an error of what pydantic says of a policy.

    Args:
        problems: As pydantic lists them. The first of the file is raised, and the rest
            are its `others`.
        lines: On which line each place is.
        document: The class of the whole policy.
    """
    told = [_told(problem, lines, document) for problem in problems]
    told.sort(key=lambda error: error.line or 0)
    first, *others = told
    first.others = tuple(others)
    return first


def _told(problem: ErrorDetails, lines: Lines, document: type[Section]) -> PolicyError:
    place = tuple(problem["loc"])
    line = nearest(lines, place)
    if problem["type"] == "extra_forbidden":
        return _unknown(place, line, document)
    said = problem["msg"].removeprefix("Value error, ")
    return PolicyError(f"{said}.", line=line, key=dotted(place))


def _unknown(place: Place, line: int | None, document: type[Section]) -> PolicyError:
    """Name an unknown key where it may be shown, and the nearest known one."""
    name, section = str(place[-1]), _section_at(place[:-1], document)
    known = get_close_matches(name, section.model_fields, n=1, cutoff=0.7)
    if place[0] == "constraints" and not known:
        return PolicyError(
            "There is an unknown key here.",
            line=line,
            key=dotted(place[:-1]),
            hint="A text that holds a colon is in quotes.",
        )
    shown = place if known or _WORD.fullmatch(name) else place[:-1]
    hint = f"Did you mean `{known[0]}`?" if known else ""
    return PolicyError("There is no such key.", line=line, key=dotted(shown), hint=hint)


def _section_at(place: Place, document: type[Section]) -> type[Section]:
    """Return the class of the section at a place where an unknown key is."""
    section = document
    for part in place:
        if isinstance(part, str) and part in section.model_fields:
            annotation = section.model_fields[part].annotation
            section = next(_sections(annotation), section)
    return section


def _sections(annotation: Any) -> Iterator[type[Section]]:
    """Yield the sections that are in an annotation, such as `Section | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections(inner)
