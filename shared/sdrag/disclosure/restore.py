"""
Values back in an answer, for whom the policy exempts.

With `disclosure.restore` nobody is exempt where passages are redacted, so a model reads
placeholders. Who is exempt by `unless` gets the values back in the answer: only those
of placeholders that stand in the passages that it was made from, as they were released
to the same principal, in the same session and under the same policy. In each of these
passages that shows a placeholder, it must be one that stands for a value that this
principal may see, and for the same one. Any other stays a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sdrag.placeholders import NUMBERED
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.vocabulary import Confidential, Decision, Passage, Principal, Redaction

_LONGEST = 72
"""Characters of a numbered placeholder."""
_BEGUN = (
    r"(?:[a-z][a-z\d+.-]{0,30}:[/\\]|(?:https?|ftp|mailto|xmpp|tel|sms|data|javascript):"
    r"|[/\\]{2}|\bwww\.|[\w-]\.[a-z]{2,24}(?::\d{1,5})?[/?#\\]|&#?\w{1,31};)"
)
"""What an address begins with; a character may be written as an entity."""
_WORD = r"[^ \t\n\v\f\r]*+"  # a no-break space does not end an address
_INNER = r"\n(?!\n)|[^()\\\n]|\\.|\((?:[^()\\]|\\.)*+\)?"
_OUT_OF_REACH = (
    r"<s(?:cript|tyle)\b(?:[^<]|<(?!/s))*+",
    r"""<[a-z/!?\[](?:=\s*+"[^"]*+"?|=\s*+'[^']*+'?|[^>])*+""",
    rf"(?<=\])\(\s*+(?:<[^>\n]*+>?)?(?:{_INNER})*+\)?{_WORD}",
    rf"(?<=\])(?<!-\d{{8}}\]):\s*+(?:<[^>\n]*+|{_WORD})",
    rf'"{_BEGUN}[^"]*+',
    rf"'{_BEGUN}[^']*+",
    rf"{_BEGUN}[^ \t\n\v\f\r<]*+",
)
"""Code, tags, targets of links and of references, and addresses, quoted and bare."""


_MARK = re.compile("|".join((*_OUT_OF_REACH, f"({NUMBERED.pattern})")), re.IGNORECASE)
_LOOKED_BACK = 16
"""Characters in front of a match that it depends on."""
_LONGEST_OPEN = 4_000
"""What stays open for so many characters of a stream takes the rest of it."""


@dataclass(slots=True, repr=False)
class Restorer(Confidential):
    """
    Puts values, by their placeholders, into an answer, piece by piece.

    What is read at a piece is bounded: of what was read only what may still change.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    principal: Principal | None = None
    _read: str = ""
    """The end of what was shown, which a match may depend on."""
    _settled: int = 0
    """Where in it the first match may begin."""
    _held: str = ""
    _is_closed: bool = False

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """How many values the answer may be given, for the audit."""
        number = len(self.values)
        return (Decision("answer", "released", "restore", "restorable", spans=number),)

    def feed(self, piece: str) -> str:
        """Take a piece of the answer; return what cannot change any more."""
        text = self._held + piece
        begun = text.rfind("[", max(0, len(text) - _LONGEST))
        ready = len(text) if begun < 0 or "]" in text[begun:] else begun
        self._held, said = text[ready:], text[:ready]
        if not self.values or self._is_closed:
            return said
        return "".join(self._restore(said))

    def _restore(self, said: str) -> Iterator[str]:
        """Yield what follows in the answer with its values; forget what is settled."""
        done, read = len(self._read), self._read + said
        settled = max(self._settled, len(read) - _LONGEST)
        position = self._settled
        while match := _MARK.search(read, position):
            start, position = match.span()
            if match[1] and match[1] not in self.values:
                position = start + 1
                continue
            if position > len(read) - _LONGEST:
                settled = min(settled, start)
            if match[1] and start >= done:
                yield from (read[done:start], self.values[match[1]])
                done = position
        yield read[done:]
        self._is_closed = len(read) - settled > _LONGEST_OPEN
        forgotten = max(0, settled - _LOOKED_BACK)
        self._read, self._settled = read[forgotten:], settled - forgotten

    def end(self) -> str:
        """Return what was held back, for the answer has ended."""
        return self._held


@dataclass(frozen=True, slots=True, repr=False)
class RestoreScope(Confidential):
    """For whom, in which session and under which policy values are kept and read."""

    state: State
    policy: Policy
    principal: Principal | None
    session_id: str | None
    now: datetime

    def remember(
        self,
        released: Iterable[Passage],
        redactions: Sequence[Redaction],
        documents: Sequence[bytes],
    ) -> None:
        """
        Keep what placeholders of passages that leave stand for.

        Of those that are released alike, what one may not be opened to stays closed.

        Args:
            released: As they leave.
            redactions: What became of the retrieved ones.
            documents: The key of the document of each retrieved one.
        """
        pairs = list(zip(redactions, documents, strict=True))
        rows: dict[str, tuple[bytes, Mapping[str, str]]] = {}
        for passage in released:
            if not NUMBERED.search(passage.text):
                continue
            own = [pair for pair in pairs if pair[0].passage_id == passage.id]
            key, document = self._key(passage), own[0][1] if own else b""
            # of two of one id nobody knows which it is
            values = own[0][0].values if len(own) == 1 else {}
            rows[key] = document, _agreed(values, rows[key][1] if key in rows else None)
        now = self.now.timestamp()
        known = self.state.values.read(rows, now)
        for key, (document, values) in list(rows.items()):
            agreed = _agreed(values, known.get(key))
            if len(agreed) < len(values) and agreed == known[key]:
                del rows[key]  # what another one hides is forgotten in its own time
            else:
                rows[key] = document, agreed
        self.state.values.add(rows, now)

    def open(self, passages: Iterable[Passage]) -> Restorer:
        """Return what makes an answer whole that was made from these passages."""
        if self.principal is None or not self.policy.disclosure.restore:
            return Restorer(principal=self.principal)
        texts = {self._key(passage): passage.text for passage in passages}
        known = self.state.values.read(texts, self.now.timestamp())
        seen: dict[str, set[str | None]] = {}
        for key, text in texts.items():
            for mark in set(NUMBERED.findall(text)):
                seen.setdefault(mark, set()).add(known.get(key, {}).get(mark))
        alike = {mark: values.pop() for mark, values in seen.items() if len(values) < 2}
        values = {mark: value for mark, value in alike.items() if value}
        return Restorer(values, self.principal)

    def _key(self, passage: Passage) -> str:
        """Return the key of a passage as it was released."""
        texts = "values", repr(self.session_id), passage.text
        return self.state.keys.mark_release(self.principal, self.policy.hash, texts)


def _agreed(
    values: Mapping[str, str], others: Mapping[str, str] | None
) -> Mapping[str, str]:
    """Return what passages that were released alike both say of their placeholders."""
    if others is None:
        return values
    return {mark: value for mark, value in values.items() if others.get(mark) == value}
