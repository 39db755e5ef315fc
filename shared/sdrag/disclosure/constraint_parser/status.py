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
from sdrag.disclosure.constraint_parser.asked import content_words, parts_of
from sdrag.disclosure.constraint_parser.dictionary import (
    is_listed_name,
    reads_as_name,
    word_rows,
)
from sdrag.disclosure.constraint_parser.language import language_of
from sdrag.disclosure.constraint_parser.parsed import ParsedConstraint
from sdrag.disclosure.constraint_parser.quoted_names import is_proven, telling_words
from sdrag.disclosure.constraint_parser.subject import subject_of
from sdrag.disclosure.constraint_parser.unknown import (
    Words,
    is_known,
    is_near_term,
)

__all__ = ["EXCEPTS", "doubts_about", "is_prose"]

_CLAUSE = re.compile(
    r"\b(?:how|why|what|whatever|who|whom|whose|whoever|where|when|which|whether|that"
    r"|those|reasons?|causes?|motives?|manner|circumstances|outcome|grounds?|method"
    r"|explanation|means|tricks?|sources?)\b",
    re.IGNORECASE,
)
_OF_SOMETHING = re.compile(r"\w's? \w|\bof (?:the|this|his|her|their|its|our)\b")
"""Something of something in particular: "moves of the game"."""
_FEWEST = 4


def is_prose(text: str) -> bool:
    """Say whether a text in plain characters has a clause, or an order and words."""
    subject = subject_of(text)
    telling = _telling_words(subject)
    ordered = len(subject) < len(text.strip(" .,"))
    clause = _CLAUSE.search(text) is not None
    particular = len(telling) > 1 and _OF_SOMETHING.search(subject) is not None
    enough = particular or len(telling) >= _FEWEST
    return bool(telling) and (clause or (ordered and enough))


def _telling_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z']+", text.lower()) if _tells(word)]


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in FUNCTION_WORDS


EXCEPTS = (
    "It makes an exception. Write two constraints: one on what is hidden everywhere, "
    "and one on the rest with `where` or `unless`."
)
_NOTHING = "It has no words."
_FOREIGN = "It is not in English."
_PERMITS = "It says what may be disclosed, not what must not."
_SHORT = "It is short: say what to hide and of whom, and check it with `examples`."
_UNCLEAR = "No table says what to look for, and it is too short to be understood."
_NO_NAME = "It gives no order, and what it consists of is in no list of names."
_QUOTE = "Put it in quotation marks if it is a name."
_NOUN = "If it is a noun, say in English what to hide."
_REFUSED = tuple(
    (
        re.compile("|".join(row["wordings"]), re.IGNORECASE),
        bool(row.get("typed")),
        str(row["reason"]),
    )
    for row in word_rows("refused")
)


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
    reason = (
        _unreadable(text, language)
        or parsed.reason
        or _doubt(parsed, text, misspelt)
        or _unproven(parsed, text, words)
        or _unclear(parsed, text)
    )
    if reason:
        return replace(parsed, status="needs_model", reason=reason)
    unlisted = _unlisted(parsed, text)
    if unlisted:
        place = words.place_of(telling_words(unlisted[0])[0])
        return replace(parsed, reason=f"Word {place} is taken for a name. {_NOUN}")
    if parsed.kind != "named" and not parsed.people and words.nameless:
        place = words.nameless[0]
        return replace(
            parsed, reason=f"Word {place} is not looked for by itself. {_QUOTE}"
        )
    if parsed.kind == "meaning" and not parsed.cues and not is_prose(text):
        return replace(parsed, reason=_SHORT)
    return parsed


def _unreadable(text: str, language: str) -> str:
    if not re.search(r"[^\W\d_]", text):
        return _NOTHING
    return "" if language == "en" else _FOREIGN


def _doubt(parsed: ParsedConstraint, text: str, misspelt: tuple[int, ...]) -> str:
    if parsed.kind == "only":
        return _PERMITS
    if misspelt:
        return f"Word {misspelt[0]} is in no dictionary."
    for rule, typed, reason in _REFUSED:
        if rule.search(text) and not (typed and parsed.everywhere):
            return reason
    return ""


def _unproven(parsed: ParsedConstraint, text: str, words: Words) -> str:
    """Say which word reads as a name and may be none."""
    if words.foreign:
        return f"Word {words.foreign[0]} is not English. {_QUOTE}"
    doubtful = [n for n in _unlisted(parsed, text) if not _may_be_name(n, text)]
    if parsed.kind == "named" and doubtful:
        place = words.place_of(telling_words(doubtful[0])[0])
        return f"Word {place} is in no list of names. {_QUOTE}"
    if parsed.kind == "named":
        return "" if _is_name(parsed, text) else _NO_NAME
    names = {word for n in parsed.names if n not in doubtful for word in n.split()}
    for part in parts_of(subject_of(text)):
        content = [word for word in content_words(part) if word not in names]
        if content and not any(map(is_known, content)):
            place = words.place_of(content[0])
            return f"Word {place} is in no list of names. {_QUOTE}"
    return ""


def _unlisted(parsed: ParsedConstraint, text: str) -> list[str]:
    """Return the names that nothing but their capitals tells."""
    return [name for name in parsed.names if not is_proven(name, text)]


def _may_be_name(name: str, text: str) -> bool:
    """Say whether it is no noun, as far as its form tells, and begins no sentence."""
    words = [word for word in telling_words(name) if len(word) > 1]
    bare = not name.startswith(("the ", "of "))
    bare = bare and not text.startswith(name)
    return bare and all(reads_as_name(w) and not is_near_term(w) for w in words)


def _unclear(parsed: ParsedConstraint, text: str) -> str:
    known = parsed.types or parsed.cues or parsed.names
    if known or parsed.kind in {"everything", "statement"}:
        return ""
    subject = subject_of(text)
    ordered = len(subject) < len(text.strip(" .,"))
    short = ordered and _telling_words(subject)
    return "" if short or is_prose(text) else _UNCLEAR


def _is_name(parsed: ParsedConstraint, text: str) -> bool:
    """Say whether an order is given about the names, or the lists know one of each."""
    first, last = parsed.names[0], parsed.names[-1]
    ordered = not (text.startswith(first) and text.rstrip(" .").endswith(last))
    return ordered or all(
        any(is_listed_name(word) for word in telling_words(name))
        for name in parsed.names
    )
