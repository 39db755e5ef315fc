"""
Who speaks, writes or signs: chats, transcripts, quoted replies, signatures.

WhatsApp, Slack, Teams, Discord, IRC and captions put a speaker beside a time or in
angle brackets; a transcript before a colon; a reply before "wrote:"; a letter under its
last greeting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sdrag.text.cells.cell import Cell

SPEAKER = "speaker"
"""The label of who speaks, writes or signs."""
TURN = "turn"
"""That of who is told by no more than a word and a colon: it may be a label."""
LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRIT(?:ICAL)?|FATAL)"
_TIME = (
    r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,3})?"
    r"(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
)
_DATE = (
    r"(?:(?:\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})?"
    r"|\d{1,2}\.? [A-Z][a-z]{2,8}\.?(?: \d{2,4})?"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:, \d{4})?"
    r"|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
    r"|[Tt]oday|[Yy]esterday)(?: at)?,?[ T]{1,2})"
)
_NAME = r"[^\s:<>\[\](){}|=\"#*>-][^\n:<>\[\](){}|=\"\t]{0,39}?"
_CHAT = re.compile(
    rf"[\u200e\u200f ]{{0,4}}[\[(]?{_DATE}{{0,2}}{_TIME}[\])]?[ ]{{0,4}}"
    rf"(?:[-\u2013\u2014][ ]+)?(?!{LEVEL}\b)(?:<[@+%~& ]?(?P<nick>[^<>\n@/]{{1,30}})>"
    rf"|[~\u200e]?(?P<name>{_NAME}):(?=\s|$))"
)
_BARE = re.compile(r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?[ ]+\w")
"""A time with nothing that a chat puts around it: a log of a ward has it too."""
_NICK = re.compile(r"<[@+%~& ]?(?P<nick>[^<>\s/@]{1,30})>[ ](?=\S)")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?[ ]+(?P<nick>[^<>\n]{1,60})>")
_ALONE = re.compile(
    rf"\[{_DATE}?{_TIME}\][ ]+(?P<nick>{_NAME})$"
    rf"|(?P<name>{_NAME})(?:[ ]{{2,9}}|\t|[ ][\u2014\u2013-][ ]|[ ](?=[\[(]))"
    rf"[\[(]?{_DATE}{{0,2}}{_TIME}[\])]?$"
)
_BY = re.compile(r"[ \t]*BY (?P<name>[^\n:]{2,40}):[ \t]*$")
_WROTE = re.compile(
    r"[> ]*(?:On|Am|Le|El) [^\n]{4,60}?\d\d[:.]\d\d[^\n,<>]{0,12}, "
    r"(?P<name>[^\n,:<>\"@][^\n:<>\"@]{0,50}?)(?: <[^<>\n]{3,200}>)?"
    r" (?:wrote|schrieb|a écrit|escribió)[^\n]{0,40}:$"
    r"|[> ]*(?P<nick>[^\n,:<>\"@]{2,40}?) wrote:$"
)
_WORD = r"(?:[\w'\u2019-]{1,30}(?:\.[\w'\u2019-]{1,30}){0,3}|\w{1,4}\.)"
_TURN = re.compile(
    rf"[ \t]*(?P<name>(?=[^\W\d_]){_WORD}(?:,? {_WORD}){{0,4}})"
    r"(?: \([\w ,]{1,30}\))?:(?=[ \t]+\S|[ \t]*$)"
)
_WRITER = re.compile(
    r"(?:^|(?<=[:;,>\"])|(?<=\bby )|(?<=from ))[ \t\"']{0,4}"
    r"(?P<name>[^\W\d_][^\n:;<>\"@]{0,50}?)[\"']?[ ]?"
    r"(?:(?:<|\[mailto:)(?=[^<>\s@]{1,64}@[^<>\s]{1,200}>)|\((?=\+\d[\d ()-]{6,20}\)))"
)
_HANDLE = re.compile(
    r"<@(?P<mention>[\w.|-]{2,40})>|(?<![\w/])u/(?P<reddit>[\w-]{3,30})(?![\w/])"
)
_JOINED = re.compile(
    r"(?:\*{3} |<@[\w.|-]{2,40}> )?(?P<name>@?[\w.-]{2,40})(?: \([^()\n]{1,60}\))?"
    r" (?:has |was )?(?:joined|left|added to|removed from|kicked from) (?:#|the channel"
    r"|the group|the chat|using)"
)
GREETING = re.compile(
    r"(?i:(?:(?:kind|best|warm|many|with|all) ){0,3}"
    r"(?:regards|wishes|thanks|cheers|the best)"
    r"|(?:yours )?(?:sincerely|faithfully|truly)"
    r"|yours|cheers|best|thanks|thank you),?[ ]*$|-- ?$"
)
"""A line under which a name follows, as at the end of a letter."""
_SIGNED = re.compile(
    r"(?P<name>[^\W\d_][\w.'\u2019-]{0,30}(?:[ ,]{1,2}[\w.'\u2019-]{1,30}){0,3})[ ]*$"
)
_LOGGED = re.compile(
    rf"[\[(]?\d{{4}}-\d\d-\d\d[T ][\d:.,Z+-]{{5,20}}[\])]? .?{LEVEL}\b"
)
_SENTENCE = re.compile(r"[.!?\u2026]['\"\u2019\u201d)]*$")
_FEWEST_TURNS = 2
CUE = re.compile(rf"WEBVTT[^\n]*$|{_TIME}[ ]+-->[ ]+{_TIME}[^\n]*$")
"""A line of captions that says when."""

Line = tuple[int, int]


def find_turns(text: str, lines: Sequence[Line]) -> frozenset[str]:
    """Return who speaks by a word and a colon, where lines are a conversation."""
    counts: Counter[str] = Counter()
    spoken = 0
    for start, end in lines:
        if match := _TURN.match(text, start, end):
            counts[match["name"]] += 1
            spoken += bool(_SENTENCE.search(text[match.end() : end].rstrip()))
    total = counts.total()
    needed = total * 2 if len(counts) == total else total
    if total < _FEWEST_TURNS or spoken * 3 < needed:
        return frozenset()
    return frozenset(counts)


def find_speaker(
    line: str, after: str, turns: frozenset[str]
) -> tuple[tuple[int, int], int, str] | None:
    """
    Return where a speaker is in a line, where what they say begins, and the label.

    `after`: the next line; a name and a time alone on a line need one.
    """
    for pattern in (_CHAT, _VOICE, _JOINED, _NICK, _BY, _WROTE):
        match = pattern.match(line)
        if match and not (pattern is _CHAT and _LOGGED.match(line)):
            begin = match.end() if pattern is not _WROTE else match.end(_group(match))
            bare = pattern is _CHAT and _group(match) == "name" and _BARE.match(line)
            return match.span(_group(match)), begin, TURN if bare else SPEAKER
    match = _ALONE.match(line)
    if match and after.strip() and not _ALONE.match(after):
        return match.span(_group(match)), match.end(_group(match)), SPEAKER
    match = _TURN.match(line)
    if match and match["name"] in turns:
        return match.span("name"), match.end("name"), TURN
    return None


def _group(match: re.Match[str]) -> str:
    return "nick" if "nick" in match.re.groupindex and match["nick"] else "name"


def find_signature(line: str) -> tuple[int, int] | None:
    """Return where the name is in the line under a greeting."""
    match = _SIGNED.match(line)
    return match.span("name") if match else None


def find_writers(text: str, offset: int) -> Iterator[Cell]:
    """Yield whose an address in angle brackets is, and handles: `<@rosa>`, `u/rosa`."""
    spans: list[tuple[int, int]] = []
    if "<" in text or "[mailto" in text or "(+" in text:
        spans += (match.span("name") for match in _WRITER.finditer(text))
    if "<@" in text or "u/" in text:
        spans += (m.span(m.lastgroup or 0) for m in _HANDLE.finditer(text))
    done = 0
    for first, last in sorted(spans):
        if first >= done:
            yield Cell(offset + first, offset + last, "speaker", TURN)
            done = last
