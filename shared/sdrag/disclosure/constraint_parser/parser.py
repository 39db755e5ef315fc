"""
From a constraint's words to what they ask for, and to whether that is understood.

A constraint names types ("exact doses of medicine"), people by role ("names of
witnesses"), whatever identifies ("personal data"), somebody by name, terms of a trade
("privileged advice"), or something that needs understanding ("how the safe was
opened"). The words decide, by closed tables. Types that it excepts are left out; any
other exception needs a model.

One that no table knows may be plain enough for the gate. A clause says what happened
("how the safe was opened"); a noun or two of a trade ("the risk appetite") say nothing
that could be compared with a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from sdrag.detectors.local.tables import FUNCTION_WORDS
from sdrag.detectors.tagger import IDENTIFYING
from sdrag.disclosure.constraint_parser.names import (
    OwnNames,
    is_proven,
    is_quoted,
    own_names,
    people_named,
    telling_words,
)
from sdrag.disclosure.constraint_parser.types_and_topics import (
    AskedTypes,
    Topic,
    asked_in,
    types_of,
)
from sdrag.disclosure.constraint_parser.wording import (
    has_order,
    is_blanket,
    is_english,
    is_permission,
    parts_of,
    pattern,
    plain_text,
    refusal,
    split_exception,
    statement_of,
    subject_of,
)
from sdrag.disclosure.constraint_parser.words import (
    content_words,
    is_foreign,
    is_known,
    is_listed_name,
    is_misspelt,
    is_term,
    number_words,
    place_of,
    reads_as_name,
)
from sdrag.vocabulary import Confidential, Constraint

Kind = Literal["types", "people", "named", "statement", "meaning", "everything", "only"]
"""What a constraint asks for: mentions of types, people by role, whom or what it names
itself, what it states, what must be understood, all there is, or all but something."""

Status = Literal["understood", "needs_model"]
"""Whether the local engine can enforce it."""

_FEW = 3
"""A subject of so many words holds little but the types it names."""
_MANY = 4
"""An order about so many words is plain enough for the gate."""
_PARTICULAR = re.compile(r"\w's? \w|\bof (?:the|this|his|her|their|its|our)\b")
"""Something of something in particular: "moves of the game"."""

_EXCEPTS = (
    "It makes an exception. Leave it out, and write what stays under `keep`, for whom "
    "under `unless`, and in which documents under `where`."
)
_NOTHING = "It has no words."
_FOREIGN = "It is not in English."
_PERMITS = "It says what may be disclosed, not what must not."
_DIRECT = (
    "It is understood as names and direct identifiers. That nobody can tell from the "
    "rest who somebody is, is not promised."
)
_SHORT = "It is short: say what to hide and of whom, and check it with `examples`."
_UNCLEAR = "No table says what to look for, and it is too short to be understood."
_NO_NAME = "It gives no order, and what it consists of is in no list of names."
_QUOTE = "Put it in quotation marks if it is a name."
_NOUN = "If it is a noun, say in English what to hide."


@dataclass(frozen=True, slots=True, repr=False)
class ParsedConstraint(Confidential):
    """
    A constraint, understood.

    Args:
        constraint: What was parsed.
        kind: What it asks for, above all.
        types: Types of mentions it asks for.
        everywhere: Those of them that count wherever they are; the others count beside
            a cue of their topic.
        people: It asks for names.
        meaning: It must also be understood.
        subject: The constraint without the order it gives, folded.
        names: Whom or what it names itself, where it consists of names.
        about_names: It asks for everything about them.
        surely_names: Its names can be nothing else, so there is nothing to understand.
        statement: What it says itself that must not be said ("that Meyers is ill");
            empty where it only says what that is about.
        topics: What it speaks of, with the cues that tell it in a text.
        implied: Types of `everywhere` that its subject brings and no word names.
        unheard: Words of its subject that decide nothing by themselves.
        status: Whether the local engine can enforce it.
        reason: Why not, in plain words that quote nothing; empty if it can.
    """

    constraint: Constraint
    kind: Kind
    types: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    people: bool = False
    meaning: bool = False
    subject: str = ""
    names: tuple[str, ...] = ()
    about_names: bool = False
    surely_names: bool = False
    statement: str = ""
    topics: tuple[Topic, ...] = ()
    implied: frozenset[str] = frozenset()
    unheard: tuple[str, ...] = ()
    status: Status = "understood"
    reason: str = ""

    @property
    def cues(self) -> frozenset[str]:
        """Every word and phrase that tells one of its topics."""
        return frozenset().union(*(t.cues | t.hints for t in self.topics))

    @property
    def identifying(self) -> bool:
        """Whether it asks for whatever identifies somebody."""
        return IDENTIFYING in self.types

    def __repr__(self) -> str:
        return f"ParsedConstraint(id={self.constraint.id!r}, kind={self.kind!r})"


_UNNAMED = Constraint("-", "-")


def parse(constraint: Constraint) -> ParsedConstraint:
    """Understand a constraint."""
    return replace(_parse_text(constraint.text), constraint=constraint)


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> ParsedConstraint:
    """Understand a text; whose constraint it is makes no difference."""
    plain = plain_text(text)
    if is_permission(plain):
        parsed = ParsedConstraint(_UNNAMED, "only", subject=plain)
    elif is_blanket(plain):
        parsed = ParsedConstraint(_UNNAMED, "everything", subject=plain)
    else:
        kept, excepted = split_exception(plain)
        parsed = _parse_content(kept)
        if pattern("recognised").search(plain):
            parsed = _direct(parsed)
        if excepted:
            parsed = _without_types(parsed, excepted)
    words = number_words(plain)
    misspelt = [place for place, word in words.items() if is_misspelt(word)]
    reason = _doubt(parsed, plain, words, misspelt)
    if reason:
        return replace(parsed, status="needs_model", reason=reason)
    return replace(parsed, reason=_warning(parsed, plain, words))


def _parse_content(text: str) -> ParsedConstraint:
    """Understand what speaks of something in particular."""
    subject, statement, asked = subject_of(text), statement_of(text), asked_in(text)
    named = _names(text, asked)
    if named.names:
        asked = AskedTypes()
    return ParsedConstraint(
        _UNNAMED,
        _kind(asked, named, statement),
        types=asked.types,
        everywhere=frozenset() if statement else asked.everywhere,
        people=asked.people,
        meaning=asked.meaning,
        subject=subject,
        names=named.names or (people_named(text) if asked.people else ()),
        about_names=named.about,
        surely_names=named.surely,
        statement=statement,
        topics=asked.topics,
        implied=asked.implied,
        unheard=asked.unheard,
    )


def _direct(parsed: ParsedConstraint) -> ParsedConstraint:
    """Ask for names and direct identifiers, besides what a constraint asks for."""
    direct = types_of(["direct"])
    return replace(
        parsed,
        kind="people",
        types=parsed.types | direct,
        everywhere=parsed.everywhere | direct,
        people=True,
    )


def _without_types(parsed: ParsedConstraint, excepted: str) -> ParsedConstraint:
    """Leave out the types that an exception names; what else it says needs a model."""
    asked = asked_in(excepted)
    types = parsed.types - asked.types
    if not asked.plain or len(excepted.split()) > _FEW or not types:
        return replace(parsed, reason=_EXCEPTS)
    return replace(
        parsed,
        types=types,
        everywhere=parsed.everywhere - asked.types - asked.everywhere,
        people=parsed.people and not asked.people,
        topics=tuple(
            replace(topic, types=topic.types - asked.types) for topic in parsed.topics
        ),
    )


def _names(text: str, asked: AskedTypes) -> OwnNames:
    """Return the names a constraint consists of, unless it asks for what is known."""
    if asked.by_wording and not asked.people:
        return OwnNames()
    named = own_names(text)
    terms = (n for n in named.names if is_term(n) and not is_quoted(n, text))
    return OwnNames() if any(terms) else named


def _kind(asked: AskedTypes, named: OwnNames, statement: str) -> Kind:
    if named.names:
        return "named"
    if statement:
        return "statement"
    if asked.meaning:
        return "meaning"
    return "people" if asked.people else "types"


def _doubt(
    parsed: ParsedConstraint,
    text: str,
    words: Mapping[int, str],
    misspelt: Sequence[int],
) -> str:
    """Say why a constraint is not understood; nothing if it is."""
    if not re.search(r"[^\W\d_]", text):
        return _NOTHING
    if not is_english(text, [words[place] for place in misspelt]):
        return _FOREIGN
    if parsed.reason or parsed.kind == "only":
        return parsed.reason or _PERMITS
    if misspelt:
        return f"Word {misspelt[0]} is in no dictionary."
    refused = refusal(text, typed=bool(parsed.everywhere))
    return refused or _unproven(parsed, text, words) or _unclear(parsed, text)


def _warning(parsed: ParsedConstraint, text: str, words: Mapping[int, str]) -> str:
    """Say what its author should check in a constraint that is understood."""
    if pattern("recognised").search(text):
        return _DIRECT
    unlisted = _unlisted(parsed, text)
    if unlisted:
        return f"Word {_place_of_name(unlisted[0], text)} is taken for a name. {_NOUN}"
    nameless = [n for n, w in words.items() if w[0].isupper() and not is_known(w)]
    if parsed.kind != "named" and not parsed.people and nameless:
        return f"Word {nameless[0]} is not looked for by itself. {_QUOTE}"
    short = parsed.kind == "meaning" and not parsed.cues and not _is_prose(text)
    return _SHORT if short else ""


def _unproven(parsed: ParsedConstraint, text: str, words: Mapping[int, str]) -> str:
    """Say which word reads as a name and may be none."""
    foreign = [n for n, w in words.items() if w[0].isupper() and is_foreign(w)]
    if foreign:
        return f"Word {foreign[0]} is not English. {_QUOTE}"
    doubtful = [n for n in _unlisted(parsed, text) if not _may_be_name(n, text)]
    if parsed.kind == "named":
        if doubtful:
            place = _place_of_name(doubtful[0], text)
            return f"Word {place} is in no list of names. {_QUOTE}"
        return "" if _is_name(parsed, text) else _NO_NAME
    names = {word for n in parsed.names if n not in doubtful for word in n.split()}
    for part in parts_of(subject_of(text)):
        content = [word for word in content_words(part.group()) if word not in names]
        if content and not any(map(is_known, content)):
            return f"Word {place_of(content[0], text)} is in no list of names. {_QUOTE}"
    return ""


def _place_of_name(name: str, text: str) -> int:
    return place_of(telling_words(name)[0], text)


def _unlisted(parsed: ParsedConstraint, text: str) -> list[str]:
    """Return the names that nothing but their capitals tells."""
    return [name for name in parsed.names if not is_proven(name, text)]


def _may_be_name(name: str, text: str) -> bool:
    """Say whether it is no noun, as far as its form tells, and begins no sentence."""
    bare = not name.startswith(("the ", "of ")) and not text.startswith(name)
    return bare and all(reads_as_name(w) for w in telling_words(name) if len(w) > 1)


def _is_name(parsed: ParsedConstraint, text: str) -> bool:
    """Say whether an order is given about the names, or the lists know one of each."""
    first, last = parsed.names[0], parsed.names[-1]
    ordered = not (text.startswith(first) and text.rstrip(" .").endswith(last))
    return ordered or all(
        any(map(is_listed_name, telling_words(name))) for name in parsed.names
    )


def _unclear(parsed: ParsedConstraint, text: str) -> str:
    known = parsed.types or parsed.cues or parsed.names
    if known or parsed.kind in {"everything", "statement"}:
        return ""
    short = has_order(text) and _content_of(subject_of(text))
    return "" if short or _is_prose(text) else _UNCLEAR


def _is_prose(text: str) -> bool:
    """Say whether a text has a clause, or an order and words enough for the gate."""
    subject = subject_of(text)
    words = _content_of(subject)
    clause = pattern("clause").search(text) is not None
    particular = len(words) > 1 and _PARTICULAR.search(subject) is not None
    enough = particular or len(words) >= _MANY
    return bool(words) and (clause or (has_order(text) and enough))


def _content_of(text: str) -> list[str]:
    words = re.findall(r"[a-z']+", text.lower())
    return [word for word in words if len(word) > 2 and word not in FUNCTION_WORDS]
