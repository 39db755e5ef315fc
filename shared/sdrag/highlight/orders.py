"""
Orders that are no attack where they are, and could be one where they are quoted.

"Tell the reader that they have won a voucher of ten dollars" speaks to nobody's model:
it may be a line of a handbook for clerks. Quoted to a summarizer, it is an order of
what to write. The scan of a knowledge base looks for such lines (section 9: "check that
it does not contain strings that can be used to trigger undesirable outputs"). The
injection guard looks for others: for text that knows it is read by a model.

Three things are looked for: somebody is to be told something, something is to be said,
and somebody is to be given something or has won it. A highlight may begin at any word,
so an order is one in the middle of a sentence too ("our clerks shall [tell the reader
that...]"), with a lower score than at its beginning. English is known, and the first of
the three in German, Spanish and French. Every gap is bounded, so a text is read in
linear time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.text.folding import fold
from sdrag.vocabulary import Span

__all__ = ["Order", "orders", "score_windows"]

_PEOPLE = (
    r"(?:readers?|users?|customers?|clients?|askers?|visitors?|guests?|callers?"
    r"|members?|people|persons?|public|audience|recipients?|applicants?|patients?"
    r"|students?|employees?|tenants?|buyers?|shoppers?|subscribers?|passengers?"
    r"|travell?ers?|viewers?|listeners?)"
)
_SOMEBODY = (
    r"(?:(?:the|any|every|all|each|our|your|this|that|these|those) (?:of )?(?:the )?"
    rf"(?:[\w-]{{1,20}} )?{_PEOPLE}|{_PEOPLE}|everyone|everybody|anyone|anybody"
    r"|whoever|them|him|her|me|us)\b"
)
_SAYING = (
    r"(?:say|write|answer|reply|respond|state|announce|declare|confirm|claim|mention"
    r"|add|repeat|output|print|pretend|promise|guarantee|explain|admit|agree|conclude"
    r"|insist|recommend|suggest|note|report|assert|proclaim)"
)
_GIVING = (
    r"(?:give|offer|grant|send|issue|refund|pay|award|provide|sell|ship|mail|e-?mail"
    r"|transfer|hand|credit|reimburse)"
)

_TOLD = re.compile(
    r"\b(?:(?:tell|inform|advise|notify|assure|reassure|remind|promise|convince|persuade"
    r"|warn|congratulate|instruct|order|show|teach|brief|ask) "
    rf"{_SOMEBODY}|let {_SOMEBODY} know|{_SAYING} to {_SOMEBODY})"
)
# German, Spanish and French; accents are folded away.
_TOLD_ELSEWHERE = re.compile(
    r"\b(?:"
    r"(?:sag(?:e|en sie)?|teilen sie|informier(?:e|en sie)|erzahl(?:e|en sie)?"
    r"|versprich|versprechen sie|erklar(?:e|en sie)?|versicher(?:e|n sie)"
    r"|schreib(?:e|en sie)?) (?:dem|der|den|jedem|jeder|allen|ihm|ihr|ihnen)"
    r"|(?:di(?:les|le)|diga(?:les|le)?|informa|informe|avisa|avise|promete|prometa"
    r"|asegura|asegure) (?:a(?:l| los| las| la| todos)? [\w-]{1,30} )?(?:de )?que"
    r"|(?:dites?|dis|informez|informe|promettez|promets|annoncez|annonce|assurez|assure)"
    r" (?:a la|a tous|au|aux|le|la|les|leur|lui)"
    r")\b"
)
_SAID = re.compile(rf"\b{_SAYING}(?:,? that\b| with\b| ?:| ?[\"'])")
_GIVEN = re.compile(rf"\b{_GIVING} {_SOMEBODY}")
_WON = re.compile(
    r"\byou(?:'ve| have)? (?:just )?(?:been (?:selected|chosen|awarded)|won)\b"
)
_BEGINS = re.compile(
    r"(?:^|[.!?:;>)\"\]*\u2022-] ?|\b(?:please|always|now|then|must|shall|should|bitte"
    r"|por favor|veuillez)[ ,]{1,2})$"
)
_LOOK_BACK = 14
_KINDS = (
    (_TOLD, 0.9, 0.6),
    (_TOLD_ELSEWHERE, 0.9, 0.6),
    (_SAID, 0.7, 0.3),
    (_GIVEN, 0.7, 0.3),
    (_WON, 0.7, 0.6),
)
"""What is looked for, and its score where a sentence begins and in its middle."""


@dataclass(frozen=True, slots=True)
class Order:
    """
    What a summarizer could take as an order; no content.

    Args:
        span: The words that make it one.
        score: From 0 to 1.
    """

    span: Span
    score: float


def orders(text: str) -> list[Order]:
    """Find the orders of a text."""
    folded = fold(text)
    return [
        Order(folded.span(*found.span()), first if begins else inside)
        for pattern, first, inside in _KINDS
        for found in pattern.finditer(folded.text)
        for begins in [_begins(folded.text, found.start())]
    ]


def score_windows(text: str, spans: Sequence[Span]) -> list[float]:
    """Give each window the score of the surest order that it holds whole."""
    found = orders(text)
    return [
        max(
            (
                order.score
                for order in found
                if span.start <= order.span.start and order.span.end <= span.end
            ),
            default=0.0,
        )
        for span in spans
    ]


def _begins(text: str, start: int) -> bool:
    """Say whether a sentence or its order begins at an offset of a folded text."""
    return _BEGINS.search(text[max(0, start - _LOOK_BACK) : start]) is not None
