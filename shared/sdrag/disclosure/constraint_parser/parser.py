"""
From a constraint's words to what they ask for, and to whether that is understood.

A constraint names types ("exact doses of medicine"), people by role ("names of
witnesses"), whatever identifies ("personal data"), somebody by name, terms of a trade
("privileged advice"), or something that needs understanding ("how the safe was
opened"). The words decide, by closed tables. Types that it excepts are left out;
without a model, whatever else it excepts may go too.

One that no table knows is for the gate. Whether it tells of anything is for the trial
that accepts it, `sdrag.disclosure.enforceable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sdrag.detectors.local.tables import FUNCTION_WORDS
from sdrag.disclosure.constraint_parser.names import (
    find_described,
    is_proven,
    is_quoted,
    read_names,
    telling_words,
)
from sdrag.disclosure.constraint_parser.parsed_constraint import (
    PATTERN,
    ParsedConstraint,
)
from sdrag.disclosure.constraint_parser.types_and_topics import (
    read_types_and_topics,
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
    spell_out,
    split_exception,
    stands_for,
    statement_of,
    subject_of,
)
from sdrag.disclosure.constraint_parser.words import (
    content_words,
    correct,
    is_foreign,
    is_known,
    is_listed_name,
    is_misspelt,
    is_slip,
    is_term,
    number_words,
    place_of,
    reads_as_name,
)
from sdrag.text.patterns import naming
from sdrag.vocabulary import Constraint

_FEW = 3
"""A subject of so many words holds little but the types it names."""
_MANY = 4
"""An order about so many words is plain enough for the gate."""
_GIBBERISH = 0.4
"""From this share of words on that no dictionary knows, a text is no English."""
_PARTICULAR = re.compile(r"\w's? \w|\bof (?:the|this|his|her|their|its|our)\b")
"""Something of something in particular: "moves of the game"."""

_EXCEPTS = (
    "Without a model, what it excepts may go too. Write what stays under `keep`, for "
    "whom under `unless`, and in which documents under `where`."
)
_NOTHING = "It has no words."
_FOREIGN = "It is not in English."
_PERMITS = "It says what may be disclosed, not what must not."
_DIRECT = (
    "It is understood as names and direct identifiers. That nobody can tell from the "
    "rest who somebody is, is not promised."
)
_SHORT = "It is short: say what to hide and of whom, and check it with `examples`."
_NO_PATTERN = "The policy has no pattern of that name."
_ANY_PATTERN = "own patterns"
_NO_NAME = "It gives no order, and what it consists of is in no list of names."
_QUOTE = "Put it in quotation marks if it is a name."
_UNLISTED = "is in no dictionary: see what `check` finds for it."
_NOUN = "If it is a noun, say in English what to hide."


def parse(constraint: Constraint) -> ParsedConstraint:
    """Understand a constraint."""
    names = tuple(dict.fromkeys(pattern.name for pattern in constraint.patterns))
    parsed = _parse_naming(constraint.text, names)
    return replace(parsed, constraint=constraint)


@lru_cache(maxsize=4096)
def _parse_naming(text: str, names: tuple[str, ...]) -> ParsedConstraint:
    """
    Understand a text that may name patterns of the policy.

    A name adds to what its words mean without the pattern. Words that no table knows as
    types, and that tell a subject only together, mean what the pattern matches.
    """
    plain, parsed = plain_text(text), _parse_text(text)
    kept, _ = split_exception(plain)
    matches = [m for name in names for m in naming(name).finditer(kept)]
    if not matches:
        return parsed
    if parsed.status == "needs_model" or parsed.kind == "meaning":
        said = plain
        for name in names:
            said = naming(name).sub(_ANY_PATTERN, said)
        read = _parse_text(said, names_pattern=True)
        alone = [_parse_text(f"Hide {match.group()}") for match in matches]
        if _loses_nothing(parsed, read, alone):
            parsed = read
    types = parsed.types | {PATTERN}
    return replace(parsed, types=types, everywhere=parsed.everywhere | {PATTERN})


def _loses_nothing(
    before: ParsedConstraint, after: ParsedConstraint, alone: Sequence[ParsedConstraint]
) -> bool:
    """Say whether names of patterns alone told what a text no longer asks for."""
    by_meaning = [each for each in alone if each.kind == "meaning"]
    topics, types = set[str](), set[str]()
    for each in (after, *by_meaning):
        topics.update(topic.name for topic in each.topics)
        types |= each.everywhere
    lost = {topic.name for topic in before.topics} - topics
    people = before.people and not after.people
    return not lost and not people and before.everywhere <= types


@lru_cache(maxsize=4096)
def _parse_text(text: str, *, names_pattern: bool = False) -> ParsedConstraint:
    """Understand a text; whose constraint it is makes no difference."""
    plain, warning = spell_out(plain_text(text)), ""
    if full := stands_for(plain):
        plain = plain.replace(subject_of(plain), full, 1)
        warning = f"It is read as \u201c{full}\u201d. If more is meant, say what of it."
    if is_permission(plain):
        parsed = ParsedConstraint(kind="only", subject=plain)
    elif is_blanket(plain):
        parsed = ParsedConstraint(kind="everything", subject=plain)
    else:
        kept, excepted = split_exception(plain)
        parsed = _parse_content(kept)
        if parsed.kind != "named" and pattern("recognised").search(plain):
            parsed = _add_direct(parsed)
        if excepted:
            left = _leave_out_types(parsed, excepted)
            parsed, warning = replace(left or parsed, asked=kept), _EXCEPTS * (not left)
    if PATTERN in parsed.types and not names_pattern:
        parsed = replace(parsed, reason=_NO_PATTERN)
    words = number_words(plain)
    unknown = [place for place, word in words.items() if is_misspelt(word)]
    reason = _why_not_understood(parsed, plain, words, unknown)
    if reason:
        return replace(parsed, status="needs_model", reason=reason)
    warnings = (*_warn_of_slips(text), warning or _warn(parsed, plain, words, unknown))
    return replace(parsed, reason=" ".join(filter(None, warnings)))


def _parse_content(text: str) -> ParsedConstraint:
    """Understand what speaks of something in particular."""
    parsed = read_types_and_topics(text)
    beside = any(not topic.name for topic in parsed.topics)
    worded = beside or parsed.worded > parsed.implied
    may_name = parsed.people or not worded or find_described(text)
    named = read_names(text) if may_name else None
    if named and not any(is_term(n) and not is_quoted(n, text) for n in named.names):
        return named
    statement = statement_of(text)
    if not statement:
        return parsed
    none = frozenset[str]()
    return replace(parsed, kind="statement", statement=statement, everywhere=none)


def _add_direct(parsed: ParsedConstraint) -> ParsedConstraint:
    """Ask for names and direct identifiers, besides what a constraint asks for."""
    direct = types_of(["direct"])
    return replace(
        parsed,
        kind="people",
        types=parsed.types | direct,
        everywhere=parsed.everywhere | direct,
        numbered=parsed.numbered - direct,
        people=True,
    )


def _leave_out_types(
    parsed: ParsedConstraint, excepted: str
) -> ParsedConstraint | None:
    """Leave out the types that an exception names; `None` where it says more."""
    words = set(excepted.lower().split()) - FUNCTION_WORDS
    if not all(read_types_and_topics(word).types for word in words):
        return None  # "staff names" are not all names
    left_out = read_types_and_topics(excepted)
    types = parsed.types - (left_out.types - left_out.numbered)
    numbers = left_out.kinds and "CODE" in parsed.everywhere
    partly = numbers or not parsed.kinds.isdisjoint(left_out.kinds)
    if left_out.meaning or len(excepted.split()) > _FEW or partly or not types:
        return None
    return replace(
        parsed,
        types=types,
        everywhere=parsed.everywhere - left_out.types - left_out.everywhere,
        people=parsed.people and not left_out.people,
        topics=tuple(
            replace(topic, types=topic.types - left_out.types)
            for topic in parsed.topics
        ),
    )


def _why_not_understood(
    parsed: ParsedConstraint,
    text: str,
    words: Mapping[int, str],
    unknown: Sequence[int],
) -> str:
    """Say why a constraint is not understood; nothing if it is."""
    if not re.search(r"[^\W\d_]", text):
        return _NOTHING
    if not is_english(text, [words[place] for place in unknown]):
        return _FOREIGN
    if parsed.reason or parsed.kind == "only":
        return parsed.reason or _PERMITS
    slips = [place for place in unknown if is_slip(words[place])]
    if not slips and len(unknown) >= len(words) * _GIBBERISH:
        slips = [*unknown]
    if slips:
        return f"Word {slips[0]} is in no dictionary."
    refused = refusal(text, typed=bool(parsed.worded))
    return refused or _why_unproven(parsed, text, words)


def _warn_of_slips(text: str) -> Iterator[str]:
    """Say as what words are read that are slips of the pen."""
    for place, word in number_words(plain_text(text)).items():
        meant = correct(word, opens=place == 1)
        if meant != word:
            yield f"Word {place} is read as \u201c{meant}\u201d."


def _warn(
    parsed: ParsedConstraint,
    text: str,
    words: Mapping[int, str],
    unknown: Sequence[int],
) -> str:
    """Say what its author should check in a constraint that is understood."""
    if pattern("recognised").search(text):
        return _DIRECT
    if unknown:
        return f"Word {unknown[0]} {_UNLISTED}"
    unlisted = _find_unlisted(parsed, text)
    if unlisted:
        return f"Word {_place_of_name(unlisted[0], text)} is taken for a name. {_NOUN}"
    nameless = [n for n, w in words.items() if w[0].isupper() and not is_known(w)]
    if parsed.kind != "named" and not parsed.people and nameless:
        return f"Word {nameless[0]} is not looked for by itself. {_QUOTE}"
    short = parsed.kind == "meaning" and not parsed.cues and not is_prose(text)
    return _SHORT if short else ""


def _why_unproven(parsed: ParsedConstraint, text: str, words: Mapping[int, str]) -> str:
    """Say which word reads as a name and may be none."""
    foreign = [n for n, w in words.items() if w[0].isupper() and is_foreign(w)]
    if foreign:
        return f"Word {foreign[0]} is not English. {_QUOTE}"
    doubtful = [n for n in _find_unlisted(parsed, text) if not _may_be_name(n, text)]
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


def _find_unlisted(parsed: ParsedConstraint, text: str) -> list[str]:
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


def is_prose(text: str) -> bool:
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
