"""
Cutting an answer into claims.

A claim is a sentence that says something: not an offer, a greeting, a heading or an
admission that the sources do not tell. What is not clearly one of these is a claim: "It
is not safe" denies something, and "Did you know that" asks nothing. Citations are set
aside before it is judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdrag.guardrails.comparable_words import content_words, word_set
from sdrag.text.sentences import sentences
from sdrag.text.spans import splice
from sdrag.vocabulary import Confidential, Span

__all__ = ["Claim", "claims", "is_wordless"]

_MARK = re.compile(r"\[[^\[\]\n]{1,120}\]")
_LEADING = re.compile(r"(?:\s*\[[^\[\]\n]{1,120}\])+")
_OPENING = re.compile(
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
    r"|there (?:is|are) (?:no|not enough|not any|insufficient) (?:information|mention"
    r"|answer|data|details?|evidence|sources?|records?)\b"
    r"|(?:it|this) is (?:unknown|unclear|not (?:known|clear|stated|mentioned|specified"
    r"|said|given|possible to (?:say|tell|answer|determine)))\b"
    r"|(?:i am|i'm|we are) (?:not sure|not certain|unsure)\b)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\W{0,9}+(?:what|which|how|would|could|can|do|shall|may|is there anything)\b"
    r"[^?]{0,200}\b(?:you|your|i|me)\b",
    re.IGNORECASE,
)
_PERSUASION = re.compile(
    r"\b(?:know|believe|see|realise|realize|imagine) (?:that|the|how)\b"
)
_BUT = re.compile(
    r"\d|[,:;\u2013\u2014]|\b(?:but|however|although|except|yet|though|because|since|and|so)\b",
    re.IGNORECASE,
)
_VERDICTS = word_set(
    "no not is are was were does do did has have had can could will would should may"
    " might"
)
_MOST_ADMITTED = 25
"""Words of an admission; a longer one says something more."""
_MOST_OFFERED = 6
_MOST_IN_HEADING = 2
"""Content words of an offer and of a heading."""


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Confidential):
    """
    A sentence of an answer.

    Args:
        span: Where it is in the answer, its citations included.
        text: The sentence without its citations.
        marks: What its square brackets hold, in order.
    """

    span: Span
    text: str
    marks: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Claim({len(self.text)} characters, {len(self.marks)} marks)"


def claims(answer: str, *, placeholder: str = "") -> tuple[Claim, ...]:
    """
    Cut an answer into its claims, in order.

    Args:
        answer: What the model said.
        placeholder: Stands for what was redacted, and is no citation.
    """
    found = []
    for span in _with_citations(answer):
        sentence = span.of(answer)
        marks = [
            Span(*match.span())
            for match in _MARK.finditer(sentence)
            if match.group() != placeholder
        ]
        text = " ".join(splice(sentence, marks, lambda _: "").split())
        if _says_something(text):
            names = tuple(mark.of(sentence)[1:-1].strip() for mark in marks)
            found.append(Claim(span, text, names))
    return tuple(found)


def is_wordless(answer: str) -> bool:
    """Say whether an answer holds no letter or digit but in its citations."""
    return not any(map(str.isalnum, _MARK.sub("", answer)))


def _says_something(text: str) -> bool:
    """Say whether a sentence has content, or is a verdict, such as "It is not"."""
    if content_words(text):
        return not _says_nothing(text)
    return not _VERDICTS.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _says_nothing(text: str) -> bool:
    """Recognise greetings, headings, offers and admissions that are no more."""
    content = len(content_words(text))
    if text.endswith(":"):
        return content <= _MOST_IN_HEADING
    opening = _OPENING.match(text)
    if opening and len(content_words(text[opening.end() :])) <= 1:
        return True
    if admission := _ADMISSION.match(text):
        brief = len(text.split()) <= _MOST_ADMITTED
        return brief and not _BUT.search(text, admission.end())
    persuades = _BUT.search(text) or _PERSUASION.search(text.lower())
    offers = text.endswith("?") and content <= _MOST_OFFERED and _OFFER.match(text)
    return bool(offers) and not persuades


def _with_citations(answer: str) -> list[Span]:
    """Cut into sentences; a citation after the full stop belongs to what it follows."""
    found: list[Span] = []
    for span in sentences(answer):
        leading = _LEADING.match(answer, span.start, span.end)
        if leading and found:
            found[-1] = Span(found[-1].start, leading.end())
            rest = answer[leading.end() : span.end]
            start = leading.end() + len(rest) - len(rest.lstrip())
            if start < span.end:
                found.append(Span(start, span.end))
        else:
            found.append(span)
    return found
