"""
Names by what is written around them, and the later forms of names.

Quotation marks, definitions (hereinafter "the University"), partners of a firm, lines,
cells and speakers tell a name. A given name that is an everyday word or a month (May,
Rose, Will) is a person's behind a title, a greeting, a relative, or "my name is".

A name seen once in full is found in every shorter form: a surname or given name,
initials ("K.F."), the acronym of an organisation, at the starts of sentences and in
capitals too. A word that is a person in one sentence and a firm in another is a form of
both: no sentence takes a type from another. Initials are short, so they count in their
own case alone, and without points only where the words around are not in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from sdrag.detectors.local import tables
from sdrag.detectors.local.plain_text import plain_text
from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    GENERIC,
    MONTHS,
    OFFICES,
    TITLES,
    cased,
    is_common,
)
from sdrag.detectors.local.tokens import Candidate, Tokens, tokenize
from sdrag.vocabulary import Mention, Span

_QUOTED = re.compile(
    r"(?<!\w)\"(?=[A-Z])(?!The [A-Z]?\w+\")((?:[^\s\"]{1,30} ){1,9}[^\s\"]{1,30})\""
)
_ENTITLED = re.compile(
    r"\b(?:entitled|titled|headed|headlined|called|named|song|book) ,?$"
)


def find_quoted(text: str) -> Iterator[Candidate]:
    """Yield titles; a phrase with one capital only where a word in front says so."""
    for match in _QUOTED.finditer(text):
        words = match[1].split()
        titled = sum(word[0].isupper() for word in words) > 1 and words[-1][0].isupper()
        if titled or _ENTITLED.search(text, max(0, match.start() - 14), match.start()):
            yield Candidate(*match.span(1), "TERM", 0.6, "quoted")


_DEFINED = re.compile(
    r"[\w)]\"? ?\([^()\"\n]{0,40}\"(?:the )?"
    r"([A-Z][\w.&'-]*(?: [A-Z][\w.&'-]*){0,4})\"\)"
)
_MOST = 50


def find_defined(text: str) -> Iterator[Candidate]:
    """Yield every mention of what a text defines, unless all texts define it."""
    names = {match[1] for match in _DEFINED.finditer(text)}
    telling = sorted(name for name in names if not GENERIC.issuperset(name.split()))
    if not telling:
        return
    anywhere = "|".join(map(re.escape, telling[:_MOST]))
    for match in re.finditer(rf"(?<!\w)(?:[Tt]he )?(?:{anywhere})(?!\w)", text):
        yield Candidate(*match.span(), "ORGANIZATION", 0.5, "defined")


_PARTNERS = re.compile(
    r"([A-Z]\w+), ([A-Z]\w+),? (?:and|&) ([A-Z]\w+)(?!\w|,| [A-Z]\w+,)"
)
# A list of people is behind a colon or a verb; a firm behind these.
_FIRM_CUE = re.compile(r"(?:\bThe|\b(?:at|for|from|of|joined)|^|[\n>?;|])[ \t]*$")


def find_partnerships(tokens: Tokens) -> Iterator[Candidate]:
    """Yield firms that are called after their partners: Davis, Reynolds and Hall."""
    surnames = tables.surnames()
    for index in tokens.indices(surnames):
        start = tokens.starts[index]
        match = _PARTNERS.match(tokens.text, start)
        if (
            match
            and surnames.issuperset(match.groups())
            and _FIRM_CUE.search(tokens.text, max(0, start - 10), start)
        ):
            yield Candidate(*match.span(), "ORGANIZATION", 0.8, "partners")


_NAME = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
_LINE = re.compile(
    r"(?:^|[|\t])[ \t>#*_=+\u2022\[(-]*(?:\d{1,2}[.)] +)?"
    rf"(?P<names>{_NAME}(?:,? {_NAME}\.?){{1,3}})(?=[ \t#*_=)\]:]*(?:$|[|\t]))",
    re.MULTILINE,
)
_STAMP = r"(?P<stamp>\[?\(?\d[\d:./, -]{2,20}(?: ?[AaPp][Mm])?\]?\)?(?: -)?:? +)"
_SPEAKER = re.compile(
    rf"^[ \t>*-]*{_STAMP}?[<*\"]{{0,3}}(?P<names>{_NAME}(?: {_NAME}){{0,2}})"
    r"[>*\"]{0,3}"
    r"(?: ?[\[(][^\])\n]{1,20}[\])])?(?::|(?<=>)) ?(?P<speech>[^\n]{0,200})",
    re.MULTILINE,
)
_SPEAKS = re.compile(
    r"(?i:\b(?:i|i'm|i'll|you|we|me|my|yes|no|ok|okay|hi|hello|thanks|thank|please|sure"
    r"|sorry|what|when|where|who|why|how|did|do|can|could|would|should|let's|lol|yeah|hey)"
    r"\b)|[?!]|^[\"\u201c]"
)


def find_names_on_lines(text: str) -> Iterator[Candidate]:
    """Yield names that are a line or a cell, and those of speakers."""
    for match in _LINE.finditer(text):
        if _is_full(match["names"]):
            yield Candidate(*match.span("names"), "PERSON", 0.7, "line")
    for match in _SPEAKER.finditer(text):
        names = match["names"].split()
        words = [name.capitalize() for name in names]
        if not GENERIC.isdisjoint(words) or (
            len(names) > 1 and any(name[0].islower() for name in names)
        ):
            continue
        given = words[0] in tables.first_names()
        speaks = match["stamp"] or _SPEAKS.search(match["speech"])
        if (speaks and (given or words[-1] in tables.surnames())) or (
            given and len(words) == 1 and names[0][0].isupper()
        ):
            yield Candidate(*match.span("names"), "PERSON", 0.7, "line")


def _is_full(names: str) -> bool:
    """Return True for a given name and a surname, or the other way round."""
    if not all(word[0].isupper() for word in names.split()):
        return False
    words = [word.strip(".,").capitalize() for word in names.split()]
    if "," in names:
        if not names.split(maxsplit=1)[0].endswith(","):
            return False
        words = [*words[1:], words[0]]
    return (
        words[0] in tables.first_names()
        and words[-1] in tables.surnames()
        and not MONTHS.issuperset(words)
    )


_INTRODUCED = re.compile(
    r"(?:\b(?:names?(?: is|:|'s| was)|named|call(?:s|ed)? (?:me|her|him|herself"
    r"|himself)|I am|I'm|[Tt]his is|known as|(?i:signed|author|patient|client|customer"
    r"|contact|attn|applicant|employee|user|tenant|student|name):|[Dd]ear|[Hh]i,?"
    r"|[Hh]ello,?|[Hh]ey,?|[Tt]hanks,?|regards,?|sincerely,?|[Ll]ove,|Yours,?"
    r"|sister,?|brother,?|daughter,?|son,?|wife,?|husband,?|mother,?|father,?|aunt,?"
    r"|uncle,?|niece,?|nephew,?|cousin,?|friend,?|colleague,?|neighbou?r,?"
    r"|girlfriend,?|boyfriend,?|partner,?|nurse,?|boss,?|teacher,?"
    rf"|(?:{'|'.join(sorted(TITLES))})\.?)\s+|\b[A-Z]\. )$"
)
_IN_LOWER_CASE = re.compile(
    r"\b(?:name is|name's|named|my name:|call me|i'm called)\s+$"
)
_SURNAME = re.compile(r" ([A-Z][a-z]+(?:['-][A-Z][a-z]+)?|O'[A-Z][a-z]+)(?!\w)")
# What speaks of a month or a verb.
_DATED = re.compile(
    r"(?:\b(?:in|since|until|of|last|next|this|by|from|during|early|late|mid|every|each"
    r"|between|before|after|on|the|an?|that|these|our|their|its|your)|\d(?:st|nd|rd|th)?)"
    r"[ -]$|[&@#-] ?$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:,? ?\d|'?\d\d\b| (?:[a-z]+\b)? ?I\b| (?:you|we|they|it|the)\b|[ -][A-Z]|-)"
)
_MODALS = frozenset(("May", "Will"))
_REACH = 28
_GRAMMAR = 300


def find_everyday_names(tokens: Tokens) -> Iterator[Candidate]:
    """Yield people called by a month or an everyday word, and later mentions."""
    text = tokens.text
    for word in filter(_everyday_names().__contains__, tokens.where):
        people = [c for index in tokens.where[word] if (c := _person(tokens, index))]
        yield from people
        for index in tokens.where[word] if people else ():
            start, end = tokens.starts[index], tokens.ends[index]
            dated = _DATED.search(text, max(0, start - 10), start)
            if not dated and not _GOES_ON.match(text, end):
                yield Candidate(start, end, "PERSON", 0.6, "form")


@lru_cache(maxsize=1)
def _everyday_names() -> frozenset[str]:
    """Return the given names that are a month or an everyday word, in any case."""
    ranks = tables.common_words()
    everyday = {
        name.lower()
        for name in tables.first_names() - TITLES - tables.countries()
        if name.lower() not in FUNCTION_WORDS and ranks.get(name.lower(), 0) > _GRAMMAR
    }
    return cased({name for name in everyday if is_common(name)} | _ANY_RANK)


_ANY_RANK = {name.lower() for name in MONTHS & tables.first_names() | _MODALS}


def _person(tokens: Tokens, index: int) -> Candidate | None:
    """Return what the words around the token say."""
    text, start, end = tokens.text, tokens.starts[index], tokens.ends[index]
    word, least = tokens.words[index], max(0, tokens.starts[index] - _REACH)
    if not word[0].isupper():
        introduced = _IN_LOWER_CASE.search(text, least, start)
        return (
            Candidate(start, end, "PERSON", 0.7, "introduced") if introduced else None
        )
    introduced = _INTRODUCED.search(text, least, start)
    surname = _SURNAME.match(text, end)
    if surname and word in MONTHS | _MODALS and surname[1] not in MONTHS | TITLES:
        known = introduced and surname[1] in tables.surnames()
        dated = _DATED.search(text, max(0, start - 10), start)
        if known or not (dated or is_common(surname[1])):
            return Candidate(start, surname.end(), "PERSON", 0.8, "introduced")
    if introduced and (surname or not _GOES_ON.match(text, end)):
        return Candidate(start, end, "PERSON", 0.8, "introduced")
    return None


_SURE = 0.6
_SPELT = 0.5
_SHORT = 3
_CALLED_BY = TITLES | OFFICES
_NAMED = frozenset(("PERSON", "ORGANIZATION", "LOCATION"))


def find_forms(tokens: Tokens, first: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield later mentions of the people and organisations of the first pass."""
    parts: dict[tuple[str, str], float] = {}
    initials: set[str] = set()
    for (name, type_), confidence in _surest(tokens.text, first).items():
        words = tokenize(name).words
        for word in _parts(words, type_, confidence):
            parts[word, type_] = max(parts.get((word, type_), 0.0), confidence)
        capitals = "".join(word[0] for word in words if word[0].isupper())
        if type_ == "PERSON" and len(capitals) > 1:
            initials.add(capitals)
    for (part, type_), confidence in parts.items():
        shouted = (part.upper(),) if len(part) > _SHORT and not part.isupper() else ()
        for index in tokens.indices((part, *shouted)):
            if tokens.words[index][0].isupper() and len(tokens.words[index]) > 1:
                start, end = tokens.starts[index], tokens.ends[index]
                yield Candidate(start, end, type_, min(confidence, 0.85), "form")
    yield from _find_initials(tokens, initials)


def _surest(text: str, first: Iterable[Candidate]) -> dict[tuple[str, str], float]:
    """Return each name that is sure enough, with the most that speaks for it."""
    names: dict[tuple[str, str], float] = {}
    for candidate in first:
        least = _SPELT if candidate.type == "ORGANIZATION" else _SURE
        if candidate.confidence >= least and candidate.type in _NAMED:
            key = text[candidate.start : candidate.end], candidate.type
            names[key] = max(names.get(key, 0.0), candidate.confidence)
    return names


def _parts(words: list[str], type_: str, confidence: float) -> Iterator[str]:
    """Yield the words that stand for the whole name when they stand alone."""
    if type_ == "ORGANIZATION" and len(words) > 2:
        yield "".join(word[0] for word in words if word[0].isupper())
    elif type_ != "PERSON":
        yield from words if len(words) == 1 else ()
    else:
        for word in words:
            named = len(word) >= _SHORT and word[0].isupper() and word not in _CALLED_BY
            telling = confidence > 0.8 or not is_common(word)
            if named and telling and word not in tables.countries():
                yield word


def _find_initials(tokens: Tokens, initials: set[str]) -> Iterator[Candidate]:
    """Yield K.F., K. F. and KF for Kwabena Frimpong."""
    starts, ends, words = tokens.starts, tokens.ends, tokens.words
    bare = {name for name in initials if len(name) <= _SHORT and not is_common(name)}
    for index in tokens.indices(bare):
        around = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
        if not any(len(word) > 1 and word.isupper() for word in around):
            yield Candidate(starts[index], ends[index], "PERSON", 0.6, "initials")
    for index in tokens.indices({name[0] for name in initials}):
        if (
            index + 1 < len(words)
            and words[index] + words[index + 1] in initials
            and tokens.gap(index + 1) in (".", ". ")
        ):
            end = ends[index + 1]
            end += tokens.text[end : end + 1] == "."
            yield Candidate(starts[index], end, "PERSON", 0.85, "initials")


def later_forms(text: str, mentions: Iterable[Mention]) -> Iterator[Mention]:
    """
    Yield where a name from somewhere in a text is in a shorter form.

    Args:
        text: As the mentions point into it.
        mentions: In any order.
    """
    plain = plain_text(text)
    shown = plain.text if len(plain.text) == len(text) else text
    first = (
        Candidate(m.span.start, m.span.end, m.type, m.confidence, m.reason)
        for m in mentions
    )
    for form in find_forms(tokenize(shown), first):
        span = Span(form.start, form.end)
        yield Mention(span, form.type, form.confidence, form.reason)
