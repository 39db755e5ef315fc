"""
Whether a constraint is understood; if not, why, quoting nothing of it.

One that no table knows may be plain enough for the scorer. A clause says what happened
("how the safe was opened"); a noun or two of a trade ("the risk appetite") say nothing
that could be compared with a text.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sdrag.detectors.local.lexicon import FUNCTION_WORDS
from sdrag.disclosure.constraint_parser.dictionary import is_listed_name
from sdrag.disclosure.constraint_parser.language import language_of
from sdrag.disclosure.constraint_parser.parsed import ParsedConstraint
from sdrag.disclosure.constraint_parser.quoted_names import telling_words
from sdrag.disclosure.constraint_parser.subject import subject_of
from sdrag.disclosure.constraint_parser.unknown import Words

__all__ = ["EXCEPTS", "doubts_about", "is_prose"]

_CLAUSE = re.compile(
    r"\b(?:how|why|what|whatever|who|whom|whose|whoever|where|when|which|whether|that"
    r"|those|reasons?|causes?|motives?|manner|circumstances|outcome|grounds?|method"
    r"|explanation|means|tricks?|sources?)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\w's? \w|\bof (?:the|this|his|her|their|its|our)\b")
"""Something of something in particular: "moves of the game"."""
_FEWEST = 4


def is_prose(text: str) -> bool:
    """Say whether a text in plain characters has a clause, or an order and words."""
    subject = subject_of(text)
    said = [w for w in re.findall(r"[a-z']+", subject.lower()) if _tells(w)]
    ordered = len(subject) < len(text.strip(" .,"))
    clause = _CLAUSE.search(text) is not None
    own = len(said) > 1 and _OWN.search(subject) is not None
    return bool(said) and (clause or (ordered and (own or len(said) >= _FEWEST)))


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in FUNCTION_WORDS


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
    language = language_of(text, [words.listed[index - 1] for index in misspelt])
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
