"""Whether a constraint is understood; if not, why, quoting nothing of it."""

from __future__ import annotations

import re
from dataclasses import replace

from sdrag.disclosure.constraint_parser.dictionary import is_listed_name
from sdrag.disclosure.constraint_parser.language import language_of
from sdrag.disclosure.constraint_parser.parsed import ParsedConstraint
from sdrag.disclosure.constraint_parser.phrase import is_prose
from sdrag.disclosure.constraint_parser.quoted_names import telling_words
from sdrag.disclosure.constraint_parser.unknown import Words

__all__ = ["EXCEPTS", "doubts_about"]

EXCEPTS = "Its exception is ignored: it withholds more than it asks for."
_NOTHING = "It has no words."
_FOREIGN = "It is not in English."
_PERMITS = "It says what may be disclosed, not what must not."
_UNCLEAR = "No table says what to look for, and it is too short to be understood."
_NO_NAME = "It gives no order, and what it consists of is in no list of names."


def doubts_about(parsed: ParsedConstraint, text: str, words: Words) -> ParsedConstraint:
    """
    Return a constraint with its language, and its status if it is not understood.

    Args:
        parsed: As far as its words tell.
        text: In plain characters.
        words: The words of the text.
    """
    misspelt = words.misspelt
    language = language_of(text, [words.listed[place - 1] for place in misspelt])
    parsed = replace(parsed, language=language)
    reason = _unreadable(text, language) or _doubt(parsed, text, misspelt)
    return replace(parsed, status="needs_model", reason=reason) if reason else parsed


def _unreadable(text: str, language: str) -> str:
    if not re.search(r"[^\W\d_]", text):
        return _NOTHING
    return "" if language == "en" else _FOREIGN


def _doubt(parsed: ParsedConstraint, text: str, misspelt: tuple[int, ...]) -> str:
    if parsed.kind == "only":
        return _PERMITS
    if misspelt:
        return f"Word {misspelt[0]} is in no dictionary."
    if parsed.kind == "named":
        return "" if _is_name(parsed, text) else _NO_NAME
    if parsed.types or parsed.cues or parsed.kind in {"everything", "statement"}:
        return ""
    return "" if is_prose(text) else _UNCLEAR


def _is_name(parsed: ParsedConstraint, text: str) -> bool:
    """Say whether an order is given about the names, or the lists know one of each."""
    first, last = parsed.names[0], parsed.names[-1]
    ordered = not (text.startswith(first) and text.rstrip(" .").endswith(last))
    return ordered or all(
        any(is_listed_name(word) for word in telling_words(name))
        for name in parsed.names
    )
