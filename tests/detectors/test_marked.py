"""What is found in the texts of `marked.toml`, and that nothing beside it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sdrag.detectors.local import mentions
from sdrag.vocabulary import Mention, Span

from ..support.tables import each_row, read_table

TABLES = read_table(__file__, "marked.toml")
_MARKED = re.compile(r"\[\[(?!\[)(.+?)\]\]", re.DOTALL)


def read(case: str) -> tuple[str, list[Span]]:
    """Return a case without its brackets, and what they mark."""
    text, marked, done = "", [], 0
    for match in _MARKED.finditer(case):
        text += case[done : match.start()]
        marked.append(Span(len(text), len(text) + len(match[1])))
        text += match[1]
        done = match.end()
    return text + case[done:], marked


def letters(text: str, spans: Iterator[Span] | list[Span]) -> set[int]:
    return {at for s in spans for at in range(s.start, s.end) if text[at].isalnum()}


def is_exact(text: str, found: list[Mention], marked: list[Span]) -> bool:
    return letters(text, (m.span for m in found)) == letters(text, marked)


def is_covered(_text: str, found: list[Mention], marked: list[Span]) -> bool:
    sure = [mention.span for mention in found if mention.confidence >= 0.5]
    return all(any(span.contains(mark) for span in sure) for mark in marked)


def is_whole(_text: str, found: list[Mention], marked: list[Span]) -> bool:
    return {*marked} <= {mention.span for mention in found}


def is_marked(text: str, found: list[Mention], marked: list[Span]) -> bool:
    sure = (mention.span for mention in found if mention.confidence >= 0.5)
    return letters(text, marked) <= letters(text, sure)


def is_harmless(_text: str, found: list[Mention], _marked: list[Span]) -> bool:
    return all(mention.confidence < 0.5 for mention in found)


HOW: dict[str, Callable[[str, list[Mention], list[Span]], bool]] = {
    "exact": is_exact,
    "covered": is_covered,
    "whole": is_whole,
    "marked": is_marked,
    "harmless": is_harmless,
}


@each_row("how, table", [(how, table) for how in HOW for table in TABLES[how]])
def test_what_is_marked_is_found(how, table):
    """In every notation of each kind, with its harmless neighbours beside it."""
    wrong = []
    for case in table["cases"]:
        text, marked = read(case)
        found = [m for m in mentions(text) if m.type in table["types"]]
        if not HOW[how](text, found, marked):
            wrong.append((case, [(m.span.of(text), m.reason) for m in found]))

    assert not wrong


PROSE = """
She may call in the morning, and he will answer if he can.
In May the river rose, and the market closed until the end of June.
May I ask what the bill came to?
The bill said nothing about a grant, and the mark was poor.
We hope that the summer will be long and the autumn dry.
It rose by 12 per cent in the second quarter, then fell.
The council met in a room on floor two and adjourned at once.
Part II A of the annex lists 14 items, 3 of them new.
The A 12 was closed and the M 25 was slow, as usual.
Chapter 7 of Volume II has 212 pages and 40 plates.
NASA and the ESA agreed on 3 launches a year.
The ratio was three to two, then 4 to 1, which nobody believed.
See std::vector and the operator a::b in chapter 9.
He scored 6-4, 7-5 and left the court.
Between 1200 and 1900 people lived there.
An iban is a kind of number, and a pan is for cooking.
The tin cost 4 crowns, the pan cost 30.
Its passport to success was 5 years of work.
The dead beef cafe added a bad face to the facade.
A swift code of conduct was adopted by the board.
The plates were cold, and 12 oysters were passed around.
Zip it up, or post it at 9.
It costs 3.20 a day, and China said it would pay.
The car with 20 seats stood by pages 12-14 of the atlas.
"""


def test_prose_has_none_of_them() -> None:
    """Numbers, capitals and words that only look alike are left alone."""
    kinds = {"CODE", "IP_ADDRESS", "IBAN_CODE", "CREDIT_CARD", "US_SSN", "ZIP_CODE"}
    kinds |= {"PERSON", "PHONE_NUMBER", "ADDRESS"}

    assert not [
        (line, m)
        for line in PROSE.splitlines()
        for m in mentions(line)
        if m.type in kinds and m.confidence >= 0.5
    ]
