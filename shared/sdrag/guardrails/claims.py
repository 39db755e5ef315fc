"""
Cutting an answer into claims.

A claim is a sentence that says something: not a question, a greeting, a heading or an
admission that the sources do not tell. Citations are set aside before it is judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdrag.guardrails.wording import content_words
from sdrag.sentences import sentences
from sdrag.spans import splice
from sdrag.vocabulary import Confidential, Span

__all__ = ["Claim", "claims"]

_MARK = re.compile(r"\[[^\[\]\n]{1,120}\]")
_LEADING = re.compile(r"(?:\s*\[[^\[\]\n]{1,120}\])+")
_OPENING = re.compile(
    r"\W*(?:hello|hi|dear|thanks|thank you|sure|certainly|of course|sources?"
    r"|references?|i hope (?:this|that) helps)\b",
    re.IGNORECASE,
)
_ADMISSION = re.compile(
    r"\W*(?:unfortunately,? )?(?:i|we|it is|there is|there are|(?:the |these |this )?"
    r"(?:given |provided |available )?(?:sources?|documents?|context|passages?|texts?))"
    r" (?:am |are )?(?:do(?:es)? not|don't|doesn't|cannot|can't|could not|unable to|no"
    r"|not|not sure|unknown)\b",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\d|\b(?:but|however|although|except|yet|though)\b|[:;]", re.IGNORECASE
)
_SHORT = 6


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Confidential):
    """
    A sentence of an answer.

    Args:
        span: Where it stands in the answer, its citations included.
        text: The sentence without its citations.
        marks: What stands in its square brackets, in order.
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
        if content_words(text) and not _says_nothing(text):
            names = tuple(mark.of(sentence)[1:-1].strip() for mark in marks)
            found.append(Claim(span, text, names))
    return tuple(found)


def _says_nothing(text: str) -> bool:
    """Recognise greetings, headings, questions and admissions, if they are no more."""
    if _BUT.search(text.rstrip(":")):
        return False
    if text.endswith("?") or _ADMISSION.match(text):
        return True
    short = len(text.split()) <= _SHORT
    return short and (text.endswith(":") or _OPENING.match(text) is not None)


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
