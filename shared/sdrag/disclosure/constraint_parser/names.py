"""
Whom or what a constraint names itself: "do not mention Jonathan Meyers or ACME Corp".

A constraint has names where it consists of them, however it describes who or what they
are of ("the yacht Larkspur", "our landlord, Pellworth Estates"), or where it asks for
the names of people and says of whom. One that has a name among other words ("how the
Whitfield safe was opened") is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    ORGANISATION_HEADS,
    ORGANISATION_SUFFIXES,
    TITLES,
    common_words,
    countries,
    first_names,
    peoples,
    places,
    surnames,
)
from sdrag.disclosure.constraint_parser.parsed_constraint import ParsedConstraint
from sdrag.disclosure.constraint_parser.wording import (
    QUOTED,
    has_order,
    pattern,
    statement_of,
    subject_of,
)
from sdrag.disclosure.constraint_parser.words import (
    is_foreign,
    is_listed_name,
    is_word,
    word_set,
)
from sdrag.text.dates import MONTHS, WEEKDAYS
from sdrag.vocabulary import Span

_QUOTES = " .\"'\u2018\u2019\u201c\u201d"
_MARKS = frozenset("\"'")
_QUOTED = re.compile(r""" ?(?=\W*\w)(?:"[^"]{2,80}"|'[^']{2,80}')\.? ?""")
_ACRONYM = re.compile(r"[A-Z]{2,5}")
_JOINED = re.compile(r",? (?:and|or|nor) |, ?| ?[/;&] ?")
_WORD = re.compile(r"\w+")
_LITTLE = frozenset({"da", "de", "del", "der", "di", "of", "the", "van", "von", "y"})
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_NAMING = re.compile(
    r"(?:(?:any|all|every|the|not an?|an?|do|don't) )*(?:\w+ ){0,2}?"
    r"(?:mention|reference|name|title|identity|word|stuff|anything|nothing)s?"
    r" (?:of|to|about|on) ",
    re.IGNORECASE,
)
"""What may stand before whose name is not to be said."""
_CAPITAL = r"[A-Z](?:\w|[&.'-](?=\w))*"
_CALLED = (
    rf"(?:[Tt]he )?{_CAPITAL}"
    rf"(?:(?: (?:of|the|de|la|von|with an?|&)|,?(?: and)?) {_CAPITAL})*"
)
_WHOSE = "the|our|my|this|that|its|their|his|her|an?"
_NO_NOUN = (
    f"{_WHOSE}|about|of|in|at|by|for|from|to|with|and|or|on|we|i|they|so"
    "|who|that|which|where|is|are|was|not|no|want"
)
_PLACE = "village|town|city|hamlet|island|isle|county|parish|firm|house|estate|brand"
_DESCRIBED = re.compile(
    rf"(?P<said>(?:(?:{_WHOSE}) (?:two |new |next )?)?(?:(?!(?:{_NO_NOUN})\b)"
    rf"[a-z][\w-]* ){{1,4}}(?:called |named |known as |we call )?"
    rf"(?=(?:the )?[\"'A-Z])|(?:(?:{_WHOSE}) )?(?:\w+ )?(?:{_PLACE}) of (?=[\"'A-Z])"
    r"|(?=[A-Z]\w+ [A-Z]\w)|(?P<told>(?!all |any |every |each )[^,()A-Z]*)[,(] ?)"
    rf"[\"']?(?P<name>{_CALLED})[\"']?"
    r"(?=[.!)]*$|[),;:]| (?:must|may|shall|should|can|could|will|is|isn't|are|has|have"
    r"|goes|stays?|not|nope|leave|keep|named|mentioned|out|away|anywhere|before|outside"
    r"|in|to|at all|by name|pls|please)\b)"
)
"""What is said of it, or told before a comma or a bracket, and what it is called."""
_ASKING = frozenset({"don't", "dont", "want", "wants", "mentioned", "named", "see"})
_DESCRIBED_ANYWHERE = re.compile(rf"(?<![\w'-]){_DESCRIBED.pattern}")
_CODED = re.compile(r"[A-Z\d]+s?")
_ORDINARY = 5000
"""A word as frequent as this, alone behind a noun, is not what something is called."""
_MOST = 5
"""So many words a name may have; more are a sentence in capitals."""


def read_names(text: str) -> ParsedConstraint | None:
    """Read a constraint that consists of names; `None` of any other."""
    if text.isupper():
        return None
    predicated = pattern("predicate").sub("", text, count=1)
    ordered = predicated != text
    rest = pattern("place").sub("", predicated if ordered else subject_of(text))
    bare = pattern("mention").sub("", rest)
    bare = pattern("everything_about").sub("", bare).strip(" .")
    bare = pattern("called").sub("", bare, count=1)
    described = find_described(text)
    bare = described or bare
    ordered = ordered or not text.startswith(bare)
    parts = _parts_of(bare)
    if not described and not all(
        _QUOTED.fullmatch(part) or _reads_as_name(part.strip(_QUOTES), ordered=ordered)
        for part in parts
    ):
        return None
    names = tuple(part.strip(_QUOTES) for part in parts)
    about = pattern("everything_about").match(rest) is not None
    given = ordered and (about or has_order(text))
    return ParsedConstraint(
        kind="named",
        meaning=True,
        subject=subject_of(text),
        names=names,
        about_names=about,
        surely_names=given
        and not about
        and all(_surely(telling_words(name)) for name in names),
        statement=statement_of(text),
    )


def find_described(text: str) -> str:
    """
    Return the names that a constraint describes and asks to keep out; else nothing.

    "The yacht Larkspur must not be named" and "our landlord, Pellworth Estates, is to
    be kept out" ask for what bears the name, and for nothing else.
    """
    start = text.find(subject_of(text))
    first = text[start:].partition(" ")[0].lower()
    if first in FUNCTION_WORDS:
        text = text[:start] + first + text[start + len(first) :]
    before = _NAMING.match(text, start)
    match = _DESCRIBED.match(text, before.end() if before else start)
    match = match or next(filter(_is_alone, _DESCRIBED_ANYWHERE.finditer(text)), None)
    if match is None or statement_of(text):
        return ""
    said, rest = match["said"] or match["told"] or "", text[match.end() :]
    if before and not said and not before.group().endswith(" of "):
        return ""  # "anything about Karlsson" says no more of what it is
    ordered = has_order(text) or before or pattern("kept_out").search(rest)
    typed = pattern("typed").search(said.replace("name", ""))
    asks_more = typed or (match["told"] and " of " in said)
    words = telling_words(match["name"])
    names = _may_be_called(words, alone=not said and not before)
    return match["name"] if ordered and not asks_more and names else ""


def _is_alone(match: re.Match[str]) -> bool:
    """Say whether all around a description is an order."""
    rest = match.string[: match.start()] + " " + match.string[match.end() :]
    words = {word.lower() for word in re.findall(r"[\w'-]+", rest)}
    return bool(match["said"]) and _is_noun(match["said"]) and words <= _order_words()


def _is_noun(said: str) -> bool:
    """Say whether words end in one that is no part of an order."""
    words = re.findall(r"[\w'-]+", said.removesuffix("the "))
    return bool(words) and words[-1].islower() and words[-1] not in _order_words()


def _order_words() -> frozenset[str]:
    return FUNCTION_WORDS | word_set("orders") | word_set("blanket") | _ASKING


def _may_be_called(words: Sequence[str], *, alone: bool) -> bool:
    """Say whether words can be what something is called: no people, day or code."""
    rare = [common_words().get(w.lower(), _ORDINARY) >= _ORDINARY for w in words]
    known = {*MONTHS, *WEEKDAYS}
    return (any(rare) or (len(words) > 1 and not alone)) and not all(
        _CODED.fullmatch(word) or word in peoples() or word.lower() in known
        for word in words
    )


def _parts_of(text: str) -> list[str]:
    """Return what a text lists; what is in quotation marks is one part."""
    quoted = [Span(*match.span()) for match in QUOTED.finditer(text)]
    joints = (Span(*match.span()) for match in _JOINED.finditer(text))
    cuts = [each for each in joints if not any(q.overlaps(each) for q in quoted)]
    starts, ends = [0, *(c.end for c in cuts)], [*(c.start for c in cuts), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def is_proven(name: str, text: str) -> bool:
    """
    Say whether something besides a capital tells that it is a name.

    Quotation marks do, a title, the suffix of a company, a word such as "name" before
    it, and the lists of names. A noun of another language has a capital too; what is in
    no list is taken for a name with a warning, unless it reads as a noun.
    """
    at = text.find(name)
    before = text[:at]
    words = telling_words(name)
    return (
        is_quoted(name, text)
        or pattern("called_before").search(before) is not None
        or name in _parts_of(find_described(text))
        or words[0].rstrip(".") in TITLES
        or any(word in ORGANISATION_SUFFIXES | ORGANISATION_HEADS for word in words)
        or _ACRONYM.fullmatch(name) is not None
        or any(is_listed_name(word) and not is_foreign(word) for word in words)
    )


def is_quoted(name: str, text: str) -> bool:
    """Say whether a name is in quotation marks: whatever its words, they are meant."""
    return any(f"{mark}{name}{mark}" in text for mark in _MARKS)


def find_people(text: str) -> tuple[str, ...]:
    """Return the people whom a constraint on names names itself."""
    runs: list[list[str]] = [[]]
    for word in _NAME_WORD.findall(text):
        bare = word.removesuffix("'s")
        opens = len(runs) == 1 and not runs[0] and bare.lower() in common_words()
        if bare[0].isupper() and not bare.isupper() and not opens:
            runs[-1].append(bare)
        if not runs[-1] or runs[-1][-1] != word:
            runs.append([])
    return tuple(" ".join(run) for run in runs if run and _names_somebody(run))


def _names_somebody(words: Sequence[str]) -> bool:
    """Say whether capitalised words next to each other are somebody's name."""
    listed = [word in surnames() or word in first_names() for word in words]
    everyday = [word.lower() in common_words() for word in words]
    if not any(is_word(word) for word in words):
        return True  # more is hidden, never less
    if len(words) == 1:
        place = any(words[0] in names for names in (places(), countries(), peoples()))
        return listed[0] and not everyday[0] and not place
    return (any(listed) and not everyday[0]) or all(listed)


def telling_words(name: str) -> list[str]:
    """Return the words of a name that mean something in it."""
    return [word for word in _WORD.findall(name) if word.lower() not in _LITTLE]


def _reads_as_name(text: str, *, ordered: bool) -> bool:
    """Say whether no dictionary has its words, or all have a capital of their own."""
    words = telling_words(text)
    if not words or len(words) > _MOST:
        return False
    if not any(word.lower() in common_words() for word in words):
        return True
    # The first word of a sentence has a capital anyway.
    return (ordered or len(words) > 1) and all(word[0].isupper() for word in words)


def _surely(words: Sequence[str]) -> bool:
    """Say whether its words can be nothing else; an unlisted word is no proof."""
    lists = (surnames(), first_names(), places(), countries())
    if not words:
        return False
    listed = words[0].isupper() or any(words[0] in names for names in lists)
    return (len(words) > 1 or listed) and all(
        word[0].isupper()
        and (
            word.lower() not in common_words()
            or (len(word) > 1 and word.isupper())
            or word in ORGANISATION_SUFFIXES
        )
        for word in words
    )
