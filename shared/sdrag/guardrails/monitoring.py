"""
Output monitoring: what only an injection would have put into the answer.

"If the model's response contains URLs, email addresses, or action directives that were
not in the user's query but were in retrieved documents, flag it as a potential
injection" (section 3.5). A link that is in neither is flagged too: it was made up,
or it carries something out. The answer is read decoded as well: `evil[.]com`, a link in
base64 and one with letters of another script are links. No text is sent to a model.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from sdrag.effects.steps import Steps
from sdrag.sections import GuardSection
from sdrag.text.decoding import decode
from sdrag.text.folding import fold, fold_text
from sdrag.text.mapped import MappedText
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion, splice
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from sdrag.guardrails.answer_work import AnswerWork, Guarded

RULE = "monitoring"

Kind = Literal["links", "emails", "calls"]


class MonitoringSection(GuardSection):
    """Whether an answer carries what only an injection would put there."""

    look_for: tuple[Kind, ...] = Field(
        default=("links", "emails", "calls"), min_length=1
    )
    """What of it is not in the question."""
    action: Literal["flag", "strip", "decline"] = "flag"
    """Note it, take out the sentence, or decline the answer."""
    allow_domains: tuple[str, ...] = ()
    """Domains that an answer may always name."""


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
_PATTERNS: dict[Kind, re.Pattern[str]] = {"links": _LINKS, "emails": _EMAILS}
_PUNCTUATION = ".,;:!?"
_WORD = re.compile(r"\w+")
_RUN = 3
"""Words that in a row show a sentence to be a passage's."""
_HOST = re.compile(
    r"(?:(?:https?:)?//)?(?:[^/?#@\s]{0,200}@)?(?P<name>[\w.-]{1,253})(?::\d{1,5})?(?:[/?#]|\Z)"
)


@dataclass(frozen=True, slots=True)
class Indicator:
    """A sign of injection in an answer; `unknown` where nobody brought it."""

    span: Span
    kind: Kind
    origin: Literal["passage", "unknown"]


def find_indicators(
    answer: str, question: str, passages: Sequence[str], section: MonitoringSection
) -> tuple[Indicator, ...]:
    """
    Find links, addresses and calls to action that the question did not bring.

    Returns:
        In order. A call to action counts only as a whole sentence taken from a
        passage, since an answer may well have to say "call the hotline".
    """
    asked = fold_text(question)
    given = [reading for passage in passages for reading in _read(passage)]
    indicators: set[Indicator] = set()
    for kind in section.look_for:
        if kind == "calls":
            find = partial(_find_calls, asked=asked, given=given)
        else:
            find = partial(
                _find_links,
                kind=kind,
                asked=_links(kind, [asked]),
                given=_links(kind, given),
                section=section,
            )
        plain = [*find(MappedText.of(answer))]
        seen = SpanUnion(item.span for item in plain)
        hidden = find(decode(answer))
        indicators.update(plain)
        indicators.update(item for item in hidden if not seen.overlaps(item.span))
    return tuple(sorted(indicators, key=lambda item: item.span))


def _read(passage: str) -> Iterator[str]:
    """Yield a passage as it is and decoded, folded."""
    yield fold_text(passage)
    decoded = decode(passage)
    if decoded.before is not None:
        yield fold_text(decoded.text)


def _links(kind: Kind, texts: Iterable[str]) -> frozenset[str]:
    return frozenset(
        match.group().rstrip(_PUNCTUATION)
        for text in texts
        for match in _PATTERNS[kind].finditer(text)
    )


def _find_links(
    answer: MappedText,
    kind: Kind,
    asked: Container[str],
    given: Container[str],
    section: MonitoringSection,
) -> Iterator[Indicator]:
    """Yield links or addresses of no question and no allowed domain."""
    folded = fold(answer)
    for match in _PATTERNS[kind].finditer(folded.text):
        link = match.group().rstrip(_PUNCTUATION)
        if link not in asked and not _is_allowed(link, section):
            span = folded.span(match.start(), match.start() + len(link))
            yield Indicator(span, kind, "passage" if link in given else "unknown")


def _find_calls(
    answer: MappedText, asked: str, given: Sequence[str]
) -> Iterator[Indicator]:
    """Yield sentences that call to an action, mostly in the words of a passage."""
    known: dict[int, list[frozenset[str]]] = {}
    for span in sentences(answer.text):
        sentence = fold_text(span.of(answer.text))
        call = _CALLS.search(sentence)
        if call is None or call.group() in asked:
            continue
        length = min(_RUN, len(_WORD.findall(sentence)))
        if length not in known:
            known[length] = [frozenset(_runs(passage, length)) for passage in given]
        runs = _runs(sentence, length)
        if any(
            2 * sum(map(held.__contains__, runs)) >= len(runs) for held in known[length]
        ):
            yield Indicator(answer.span(span.start, span.end), "calls", "passage")


def _runs(text: str, length: int) -> list[str]:
    """Return every run of so many words."""
    words = _WORD.findall(text)
    places = range(len(words) - length + 1)
    return [" ".join(words[at : at + length]) for at in places]


def _is_allowed(link: str, section: MonitoringSection) -> bool:
    """Say whether a link or an address is on an allowed domain, as browsers read it."""
    plain = link.replace("\\", "/")
    match = _HOST.match(plain)
    name = match["name"] if match else ""
    return any(
        name == domain or name.endswith(f".{domain}")
        for domain in map(str.casefold, section.allow_domains)
    )


def at_answer(work: AnswerWork, section: MonitoringSection) -> Steps[Guarded | None]:
    """Flag what only an injection would have put into the answer, or cut it."""
    yield from ()
    texts = [passage.text for passage in work.draft.passages]
    indicators = find_indicators(work.text, work.draft.question, texts, section)
    for item in indicators:
        work.note(RULE, f"{item.kind}:{item.origin}", "flagged")
    if indicators and section.action == "decline":
        return work.decline(RULE, "indicators")
    if indicators and section.action == "strip":
        found = SpanUnion(item.span for item in indicators)
        touched = filter(found.overlaps, sentences(work.text))
        work.text = splice(work.text, touched, lambda _: "").strip()
        if not work.text:
            return work.decline(RULE, "nothing-left")
    return None
