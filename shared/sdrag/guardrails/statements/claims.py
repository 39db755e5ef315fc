"""
Cutting an answer into claims, and finding what it quotes.

A claim is a sentence that says something: not an offer, a greeting, a heading or an
admission that the sources do not tell. What is not clearly one of these is a claim: "It
is not safe" denies something, and "Did you know that" asks nothing. Citations are set
aside before it is judged: brackets such as `[1]`, square or full-width, but no `[sic]`,
no link, nothing in code, and nothing in a quotation that a citation follows. A citation
after a block of code is one of each of its lines.

Quotation marks come in pairs, and a single one is an apostrophe unless it stands at a
word's edge. A quotation is looked up as highlights are. An ellipsis, or a word that an
editor put in brackets, stands for any words between its parts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from sdrag.guardrails.statements.words import content_words, is_function_word
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.text import word_set
from sdrag.text.folding import fold_text, is_boundary
from sdrag.text.readings import strip_markup
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion, shift, splice
from sdrag.vocabulary import Confidential, Span

_OPEN, _CLOSE = "[\u3010\uff3b\u3014", "]\u3011\uff3d\u3015"
_MARK = re.compile(
    rf"[{re.escape(_OPEN)}]([^\n{re.escape(_OPEN + _CLOSE)}]{{1,120}})"
    rf"[{re.escape(_CLOSE)}]"
)
_CODE = re.compile(
    r"```(?:(?!```).)*+(?:```|\Z)|~~~(?:(?!~~~).)*+(?:~~~|\Z)|`[^`\n]++`", re.DOTALL
)
_CITES = re.compile(rf"[\s.,;:!?]{{0,3}}[{re.escape(_OPEN)}]")
"""A citation right after a quotation; brackets inside it are the source's."""
_FENCE = "`~ \n"
_OPENING_FENCE = re.compile(r"(?:```|~~~)[\w+#.-]*")
_EDITORIAL = word_set(
    "sic recte ed eds edited emphasis added mine italics omitted translated translation"
    " editor editor's note citation needed redacted"
)
_GREETING = re.compile(
    r"\W{0,9}+(?:hello|hi|dear|thanks|thank you|sure|certainly|of course|sources?"
    r"|references?|i hope (?:this|that) helps)\b",
    re.IGNORECASE,
)
_SOURCES = (
    r"(?:(?:the|these|this|my|given|provided|available|retrieved) ){0,3}+"
    r"(?:sources?|documents?|context|passages?|texts?|information)"
)
_KNOWING = (
    r"(?:say|tell|know|mention|state|specify|contain|provide|include|give|indicate"
    r"|address|discuss|cover|describe|answer|find|determine|explain|have)"
)
_ADMISSION = re.compile(
    r"\W{0,9}+(?:(?:unfortunately|sorry|i am sorry|i'm sorry),? )?(?:"
    r"(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't"
    rf"|(?:am|are|was|were) (?:not able|unable) to) {_KNOWING}\b"
    rf"|{_SOURCES} (?:(?:do|does) not|don't|doesn't|cannot|did not|didn't) {_KNOWING}\b"
    rf"|{_SOURCES} (?:has|have|gives?|provides?|contains?) no\b"
    r"|there (?:is|are) (?:no|not enough|insufficient) (?:information|mention|answer"
    r"|data|details?|evidence|sources?|records?)\b"
    r"|(?:it|this) is (?:unknown|unclear|not (?:known|clear|stated|mentioned))\b"
    r"|(?:i am|i'm|we are) (?:not sure|not certain|unsure)\b)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\W{0,9}+(?:what|which|how|would|could|can|do|shall|may|is there anything)\b"
    r"[^?]{0,200}\b(?:you|your|i|me)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\d|[,:;\u2013\u2014]|\b(?:but|however|although|except|yet|though|because|since|and"
    r"|so|that)\b",
    re.IGNORECASE,
)
"""With one of these a sentence may say more than that it offers or admits something."""
_MOST_ADMITTED = 25
"""Words of an admission; a longer one says something more."""
_MOST_OFFERED = 6
_MOST_IN_HEADING = 2
"""Content words of an offer and of a heading."""


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Confidential):
    """A sentence of an answer without its citations, and where it is with them."""

    span: Span
    text: str
    citations: tuple[str, ...]


def claims(
    answer: str,
    *,
    placeholders: Placeholders = DEFAULT,
    ids: Container[str] = (),
) -> tuple[Claim, ...]:
    """
    Cut an answer into its claims, in order.

    `ids`: of the passages; a bracket that holds one is a citation.
    """
    cited = find_citations(answer, placeholders, ids)
    cut = []
    for span in _with_citations(answer, cited):
        sentence = span.of(answer)
        marks = [shift(mark, -span.start) for mark in _inside(span, cited)]
        text = " ".join(splice(sentence, marks, lambda _: "").split())
        if _says_something(text) and not _OPENING_FENCE.fullmatch(text):
            names = tuple(mark.of(sentence)[1:-1].strip() for mark in marks)
            cut.append(Claim(span, text, names))
    for code in _CODE.finditer(answer):  # its lines share the citations of the last
        if code.group().startswith(("```", "~~~")):
            first = bisect_right(cut, code.start(), key=lambda c: c.span.end)
            last = bisect_left(cut, code.end(), key=lambda c: c.span.start) - 1
            for index in range(first, last):
                of_both = cut[index].citations + cut[last].citations
                cut[index] = replace(cut[index], citations=of_both)
    return tuple(cut)


def is_wordless(answer: str) -> bool:
    """Say whether an answer holds no letter or digit but in its citations."""
    return not any(map(str.isalnum, _MARK.sub("", answer)))


def find_citations(
    answer: str, placeholders: Placeholders, ids: Container[str]
) -> list[Span]:
    """Return the brackets that cite; others are the answer's own words, or code."""
    code = _CODE.sub(lambda match: "`" * len(match.group()), answer)
    quoted = SpanUnion(
        quotation
        for quotation in find_quotations(answer)
        if _CITES.match(answer, quotation.end + 1)
    )
    return [
        Span(*match.span())
        for match in _MARK.finditer(answer)
        if not placeholders.holds(match.group())
        and not quoted.overlaps(Span(*match.span()))
        and (
            match[1].strip() in ids
            or (code[match.start()] != "`" and not _is_editorial(answer, match))
        )
    ]


def _is_editorial(answer: str, match: re.Match[str]) -> bool:
    """Say whether a bracket is a remark, a changed letter, a link or a tick box."""
    words = re.findall(r"[\w']+", fold_text(match[1]))
    if any(word.isdigit() for word in words):
        return False
    if all(is_function_word(word) or word in _EDITORIAL for word in words):
        return True
    after = answer[match.end() : match.end() + 1]
    line = answer[answer.rfind("\n", 0, match.start()) + 1 : match.start()]
    return not any(map(str.isdigit, match[1])) and (
        after.isalpha() or after == "(" or (words == ["x"] and line.strip() in "-*+")
    )


def _inside(span: Span, cited: Sequence[Span]) -> Sequence[Span]:
    first = bisect_left(cited, span.start, key=lambda mark: mark.start)
    return cited[first : bisect_right(cited, span.end, key=lambda mark: mark.end)]


def _says_something(text: str) -> bool:
    """Recognise greetings, headings, offers and admissions that are no more."""
    content = len(content_words(text))
    if not content:
        return any(map(str.isalpha, text))
    if text.endswith(":"):
        return content > _MOST_IN_HEADING
    greeting = _GREETING.match(text)
    if greeting and len(content_words(text[greeting.end() :])) <= 1:
        return False
    if admission := _ADMISSION.match(text):
        goes_on = _GOES_ON.search(text, admission.end())
        return bool(goes_on) or len(text.split()) > _MOST_ADMITTED
    offers = text.endswith("?") and content <= _MOST_OFFERED and _OFFER.match(text)
    return not offers or bool(_GOES_ON.search(text))


def _with_citations(answer: str, cited: Sequence[Span]) -> list[Span]:
    """Cut into sentences; a citation after a full stop or code belongs to it."""
    spans: list[Span] = []
    for span in sentences(answer):
        start = span.start
        for mark in _inside(span, cited) if spans else ():
            if answer[start : mark.start].strip(_FENCE):
                break
            start = mark.end
        if start > span.start:
            while spans[1:] and not spans[-1].of(answer).strip(_FENCE):
                spans.pop()
            spans[-1] = Span(spans[-1].start, start)
            rest = answer[start : span.end]
            start += len(rest) - len(rest.lstrip())
        if start < span.end:
            spans.append(Span(start, span.end))
    return spans


_LONGEST = 1000
_QUOTATION = re.compile(
    rf"\u201c([^\u201c\u201d]{{1,{_LONGEST}}})\u201d"
    rf"|\u201e([^\u201e\u201c\u201d]{{1,{_LONGEST}}})[\u201c\u201d]"
    rf"|\u00ab([^\u00ab\u00bb]{{1,{_LONGEST}}})\u00bb"
    rf"|(?<![\w\"])\"(?=\S)([^\"]{{1,{_LONGEST}}})\"(?!\w)"
    rf"|(?<!\w)\u2018((?:[^\u2018\u2019]|\u2019(?=\w)){{1,{_LONGEST}}})\u2019(?!\w)"
    rf"|(?<!\w)'(?=\S)((?:[^'\n]|(?<=\w)'(?=\w)){{1,{_LONGEST}}})'(?!\w)"
)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_GAP = re.compile(r"\[[^\]]{0,60}\]|\(\u2026\)|\(\.\.\.\)|\u2026|\.\.\.+")
_CHANGED_LETTER = re.compile(r"\[(\w)\](?=\w)")
_EDGES = " \n.,;:!?\u2013\u2014-"


def find_quotations(text: str) -> list[Span]:
    """Return what stands between quotation marks, without them, in order."""
    return [
        Span(*match.span(match.lastindex or 0))
        for match in _QUOTATION.finditer(text)
        if not _PARAGRAPH.search(match.group())
    ]


def is_quoted_from(quotation: str, texts: Iterable[str]) -> bool:
    """Say whether one of the texts holds a quotation, or all its parts in order."""
    quotation = _CHANGED_LETTER.sub(r"\1", quotation)
    whole, parts = [quotation], _GAP.split(quotation)
    return any(
        _holds(read(text), list(map(read, pieces)))
        for text in texts
        for read in (fold_text, lambda each: strip_markup(each).text)
        for pieces in (whole, parts)
    )


def _holds(text: str, pieces: Sequence[str]) -> bool:
    """Say whether a text holds pieces of whole words, one after another."""
    worded = [words for piece in pieces if (words := piece.strip(_EDGES))]
    at = 0
    for words in worded:
        at = _find_whole(words, text, at)
        if at < 0:
            return False
    return bool(worded)


def _find_whole(words: str, text: str, start: int) -> int:
    """Return where an occurrence ends that cuts no word, or -1."""
    at = text.find(words, start)
    while at >= 0:
        end = at + len(words)
        if is_boundary(text, at) and is_boundary(text, end):
            return end
        at = text.find(words, at + 1)
    return -1
