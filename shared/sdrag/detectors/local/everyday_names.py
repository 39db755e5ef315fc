"""
People called by a month or by an everyday word: May Smith, April, Rose, Will.

A word that is a given name and something else too is a person's where the words around
it speak of one: "my name is May", "Mrs May", "April said". Once it is, its later places
are found too, except where a month or a modal verb is meant. On a line, in a cell and
in front of what is said (a heading, an item, a chat) a given name and a surname are
enough, in capitals too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sdrag.detectors.local import tables
from sdrag.detectors.local.runs import is_common
from sdrag.detectors.local.tables import FUNCTION_WORDS, GENERIC, MONTHS, TITLES, cased
from sdrag.detectors.local.tokens import Candidate, Tokens

_TOLD = re.compile(
    r"\b(?:names?(?: is|:|'s| was)|named|call(?:s|ed)? (?:me|her|him|herself|himself)"
    r"|I am|I'm|known as|(?i:signed|author|patient|client|customer|contact|attn"
    r"|attention|applicant|employee|user|tenant|student|name):|[Dd]ear|[Hh]i,?"
    r"|[Hh]ello,?|[Hh]ey,?|[Tt]hanks,?|regards,?|sincerely,?|[Ll]ove,|Yours,?"
    r"|sister,?|brother,?|daughter,?|son,?|wife,?|husband,?|mother,?|father,?|aunt,?"
    r"|uncle,?|niece,?|nephew,?|cousin,?|friend,?|colleague,?|neighbour,?|neighbor,?"
    r"|girlfriend,?|boyfriend,?|partner,?|nurse,?|boss,?|teacher,?|[Aa]sk|[Aa]sked"
    r"|[Tt]ell|[Tt]old|[Tt]hank|[Ee]mail|[Pp]hone|[Cc]all|[Cc]ontact"
    r"|(?:talk|spoke|speak|talking|speaking|chatting|married|engaged) (?:to|with)"
    r"|[Ii]nvited?|married|kissed|hugged|met"
    r"|[\"'] (?:said|says|asked|replied)|Mr\.?|Mrs\.?|Ms\.?|Miss|Dr\.?|Aunt|Uncle)\s+$"
)
_LOWER = re.compile(r"\b(?:name is|name's|named|my name:|call me|i'm called)\s+$")
_ACTS = re.compile(
    r"(?:'s (?:mother|father|wife|husband|son|daughter|sister|brother|mum|mom|dad|boss"
    r"|phone|email|address|number|car|house|birthday|flat|friend|desk)\b"
    r"|,? (?:who|whose|said|says|told|tells|asked|asks|replied|answered|wrote|writes"
    r"|phoned|rang|called|calls|emailed|texted|thinks|thought|knows|knew|wants|wanted"
    r"|lives|lived|works|worked|loves|loved|likes|liked|smiled|laughed|nodded|cried"
    r"|married|owes|signed|agreed|explained|admitted|testified|remembered|noticed"
    r"|speaking here|speaking|himself|herself|is my|was my|was born|and I)\b"
    r"|, \d{2},)"
)
_PAIR = re.compile(r" and ([A-Z][a-z]+)\b|, ([A-Z][a-z]+) and ")
_SURNAME = re.compile(r" ([A-Z][a-z]+(?:['-][A-Z][a-z]+)?|O'[A-Z][a-z]+)(?![\w])")
_DATED = re.compile(
    r"(?:\b(?:in|since|until|of|last|next|this|by|from|during|early|late|mid|every"
    r"|each|between|before|after|on|the|a|an|that|these|our|their|its|your)|\d"
    r"|\d(?:st|nd|rd|th))[ -]$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:,? ?\d|'?\d\d\b| (?:[a-z]+\b)? ?I\b| (?:you|we|they|it|the)\b)"
)
_PART = re.compile(r"[ -][A-Z]|-")
_PART_BEFORE = re.compile(r"[&@#-] ?$")
_MODALS = frozenset(("May", "Will"))
_REACH = 28
_SURE = 0.75
_GRAMMAR = 300


def everyday_names(tokens: Tokens) -> Iterator[Candidate]:
    """Yield people called by a month or an everyday word, and later mentions."""
    for word in filter(_ambiguous().__contains__, tokens.where):
        name = word.capitalize()
        people = [_person(tokens, index, name) for index in tokens.where[word]]
        found = [candidate for candidate in people if candidate]
        yield from found
        if any(candidate.confidence >= _SURE for candidate in found):
            yield from _later(tokens, word)


@lru_cache(maxsize=1)
def _ambiguous() -> frozenset[str]:
    """Return the given names that are something else too, in any case."""
    return cased(
        name.lower()
        for name in tables.first_names() - TITLES - tables.countries()
        if (name in MONTHS or is_common(name)) and _everyday(name)
    )


def _everyday(name: str) -> bool:
    """Return True if the given name is a month or an everyday word."""
    if name in MONTHS or name in _MODALS:
        return True
    rank = tables.common_words().get(name.lower(), 0)
    return rank > _GRAMMAR and name.lower() not in FUNCTION_WORDS


def _person(tokens: Tokens, index: int, name: str) -> Candidate | None:
    """Return what the words around the token say."""
    text, start, end = tokens.text, tokens.starts[index], tokens.ends[index]
    if not tokens.words[index][0].isupper():
        cue = _LOWER.search(text, max(0, start - _REACH), start)
        return Candidate(start, end, "PERSON", 0.7, "told") if cue else None
    if _DATED.search(text, max(0, start - 10), start):
        return None
    cue = _TOLD.search(text, max(0, start - _REACH), start)
    surname = _surname(tokens, index, sure=bool(cue))
    if surname:
        # A month stays found as one when nothing else speaks for a person.
        alone = name in MONTHS and name not in _MODALS and not cue
        return Candidate(start, surname, "PERSON", 0.59 if alone else 0.8, "surname")
    acts = cue or _ACTS.match(text, end) or _paired(text, end)
    if not acts or _GOES_ON.match(text, end):
        return None
    return Candidate(start, end, "PERSON", 0.8 if cue else 0.75, "told")


def _surname(tokens: Tokens, index: int, *, sure: bool) -> int | None:
    """Return where the surname behind a month or a modal verb ends, if one does."""
    if tokens.words[index] not in MONTHS | _MODALS:
        return None
    match = _SURNAME.match(tokens.text, tokens.ends[index])
    if match is None or match[1] in MONTHS or match[1] in TITLES:
        return None
    if is_common(match[1]):
        sure = sure or _ACTS.match(tokens.text, match.end()) is not None
        return match.end() if sure and match[1] in tables.surnames() else None
    return match.end()


def _paired(text: str, end: int) -> bool:
    """Return True if another given name follows: May and John."""
    match = _PAIR.match(text, end)
    other = (match[1] or match[2]) if match else ""
    return other in tables.first_names() and other not in MONTHS


def _later(tokens: Tokens, word: str) -> Iterator[Candidate]:
    """Yield the other places of a name, where nothing speaks of a month."""
    text = tokens.text
    for index in tokens.where[word]:
        start, end = tokens.starts[index], tokens.ends[index]
        dated = _DATED.search(text, max(0, start - 10), start)
        part = _PART_BEFORE.search(text, max(0, start - 2), start)
        if not (dated or part or _GOES_ON.match(text, end) or _PART.match(text, end)):
            yield Candidate(start, end, "PERSON", 0.6, "form")


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


def names_on_lines(text: str) -> Iterator[Candidate]:
    """Yield names that are a line or a cell, and those of speakers."""
    for match in _LINE.finditer(text):
        if _is_full(match["names"]):
            yield Candidate(*match.span("names"), "PERSON", 0.7, "line")
    for match in _SPEAKER.finditer(text):
        words = [word.capitalize() for word in match["names"].split(" ")]
        speaks = match["stamp"] or _SPEAKS.search(match["speech"])
        spelled = len(words) == 1 or all(w[0].isupper() for w in match["names"].split())
        if not spelled or not GENERIC.isdisjoint(words):
            continue
        if words[0] in tables.first_names() or words[-1] in tables.surnames():
            given = words[0] in tables.first_names() and match["names"][0].isupper()
            if speaks or (given and len(words) == 1):
                yield Candidate(
                    *match.span("names"), "PERSON", 0.7, "speaker" if speaks else "line"
                )


def _is_full(names: str) -> bool:
    """Return True if words are a given name and a surname, or the other way round."""
    if not all(word[0].isupper() for word in names.split()):
        return False
    words = [word.strip(".,").capitalize() for word in names.split()]
    if "," in names:
        words = (
            [*words[1:], words[0]] if names.split(maxsplit=1)[0].endswith(",") else []
        )
    return (
        bool(words)
        and words[0] in tables.first_names()
        and words[-1] in tables.surnames()
        and not MONTHS.issuperset(words)
    )
