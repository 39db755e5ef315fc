"""
Output monitoring: what only an injection would have put into the answer.

"If the model's response contains URLs, email addresses, or action directives that were
not in the user's query but were in retrieved documents, flag it as a potential
injection" (section 3.5). A link that stands in neither is flagged too: it was made up,
or it carries something out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sdrag.folding import Folded, fold, fold_text
from sdrag.policy import MonitoringSection
from sdrag.sentences import sentences
from sdrag.vocabulary import Span

__all__ = ["Indicator", "indicators"]

Kind = Literal["links", "emails", "calls"]

_TOP = r"(?:com|org|net|io|co|info|biz|xyz|app|dev|ai|me|ru|cn|de|uk|fr|eu|us|example)"
_REST = r"[^\s<>\"')\]]"
_LINKS = re.compile(
    rf"\b(?:https?|ftp|wss?):[/\\]{{0,3}}{_REST}{{1,2000}}+"
    rf"|\b[a-z][a-z0-9+.-]{{1,15}}:[/\\]{{2}}{_REST}{{1,2000}}+"
    rf"|\b(?:javascript|data|vbscript|file|mailto|tel|sms):{_REST}{{1,2000}}+"
    rf"|(?<![\w:/\\])[/\\]{{2}}[\w-]{{1,63}}\.{_REST}{{1,2000}}+"
    rf"|(?<![\w@.-])(?:www\.[\w-]{{1,63}}|[\w-]{{1,63}})(?:\.[\w-]{{1,63}}){{0,4}}?"
    rf"\.{_TOP}\b(?:/{_REST}{{0,2000}}+)?"
)
_EMAILS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_CALLS = re.compile(
    r"\b(?:click|tap|visit|download|install|subscribe|sign up|register|call|text|dial"
    r"|log ?in|enter your|send (?:us|me|your|money|payment)|pay|buy|order now|transfer"
    r"|contact|reply with|scan the|donate|vote for|wire|act now|open the link)\b"
)
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "links": _LINKS,
    "emails": _EMAILS,
    "calls": _CALLS,
}
_HOST = re.compile(
    r"(?:(?:https?:)?//)?(?:[^/?#@\s]{0,200}@)?(?P<name>[\w.-]{1,253})(?::\d{1,5})?(?:[/?#]|\Z)"
)


@dataclass(frozen=True, slots=True)
class Indicator:
    """
    A sign of injection in an answer.

    Args:
        span: Where, in the answer.
        kind: What it is.
        origin: `passage`, or `unknown` where neither passage nor question has it.
    """

    span: Span
    kind: Kind
    origin: Literal["passage", "unknown"]


def indicators(
    answer: str, question: str, passages: Sequence[str], section: MonitoringSection
) -> tuple[Indicator, ...]:
    """
    Find links, addresses and calls to action that the question did not bring.

    Args:
        answer: What the model said.
        question: What it was asked.
        passages: The texts it was given.
        section: What to look for, and the domains that are always allowed.

    Returns:
        In order. A call to action counts only as a whole sentence taken from a
        passage, since an answer may well have to say "call the hotline".
    """
    asked = fold_text(question)
    given = [fold_text(passage) for passage in passages]
    folded = fold(answer)
    found: list[Indicator] = []
    for kind in section.look_for:
        if kind == "calls":
            found += _calls(answer, asked, given)
        else:
            found += _things(kind, folded, asked, given, section)
    return tuple(sorted(found, key=lambda one: one.span))


def _things(
    kind: Kind,
    folded: Folded,
    asked: str,
    given: Sequence[str],
    section: MonitoringSection,
) -> Iterator[Indicator]:
    """Yield links or addresses that stand in no question and no allowed domain."""
    for match in _PATTERNS[kind].finditer(folded.text):
        thing = match.group().rstrip(".,;:!?")
        if thing in asked or _allowed(thing, section):
            continue
        known = any(thing in passage for passage in given)
        span = folded.span(match.start(), match.start() + len(thing))
        yield Indicator(span, kind, "passage" if known else "unknown")


def _calls(answer: str, asked: str, given: Sequence[str]) -> Iterator[Indicator]:
    """Yield sentences that call to an action in the words of a passage."""
    for span in sentences(answer):
        sentence = fold_text(span.of(answer))
        call = _CALLS.search(sentence)
        if call is None or call.group() in asked:
            continue
        if any(_quoted(sentence, passage) for passage in given):
            yield Indicator(span, "calls", "passage")


def _quoted(sentence: str, passage: str) -> bool:
    """Say whether most of a sentence's word triples stand in a passage."""
    words = re.findall(r"\w+", sentence)
    held = " ".join(re.findall(r"\w+", passage))
    triples = [" ".join(words[at : at + 3]) for at in range(len(words) - 2)]
    if not triples:
        return " ".join(words) in held
    return 2 * sum(triple in held for triple in triples) >= len(triples)


def _allowed(thing: str, section: MonitoringSection) -> bool:
    """Say whether a link or an address is on an allowed domain, as browsers read it."""
    plain = thing.replace("\\", "/")
    match = _HOST.match(plain)
    name = match["name"] if match else ""
    return any(
        name == domain or name.endswith(f".{domain}")
        for domain in map(str.casefold, section.allow_domains)
    )
