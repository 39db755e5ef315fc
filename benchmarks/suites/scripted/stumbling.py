"""
The model that means well and stumbles: replies as small models give them.

Some replies are of no use or not in the form that was asked for, and some verdicts
within good replies are. Which ones, the words of the prompt decide, and how often it
was asked: a run can be repeated, and asking again can succeed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import Any, NamedTuple

from benchmarks.suites.scripted.asked import MARK
from sdrag.effects.prompts import Prompt
from sdrag.vocabulary import Confidential

_ENTRIES = {"verdicts": ("constraint", "spans"), "answers": ("question", "no")}
"""The forms of replies: what a list of entries is called, and the keys of each."""
_EVERY = 5
"""One reply in so many is malformed, and one verdict in twice as many."""
Entry = Mapping[str, Any]


class _Reply(NamedTuple):
    """A reply, and its list of entries; what it is called is empty for other forms."""

    text: str
    name: str = ""
    entries: Sequence[Entry] = ()

    @property
    def keys(self) -> tuple[str, str]:
        """The key of an entry's id, and the key of what it lists."""
        return _ENTRIES[self.name]

    def with_entries(self, entries: Sequence[Entry]) -> str:
        """Return the reply with other entries."""
        return json.dumps({self.name: entries}, ensure_ascii=False)


class StumblingModel(Confidential):
    """
    A model whose replies are at times malformed.

    Args:
        wrapped: What it means to say.
    """

    __slots__ = ("_asked", "_lock", "_wrapped")

    def __init__(self, wrapped: Callable[[Prompt], str]) -> None:
        self._wrapped = wrapped
        self._asked: Counter[bytes] = Counter()
        self._lock = Lock()

    def __call__(self, prompt: Prompt) -> str:
        """Answer a prompt of redaction, or stumble."""
        reply = _take_apart(self._wrapped(prompt))
        draw = self._draw(prompt)
        if draw.randrange(_EVERY) == 0:
            return draw.choice(_OF_FORM if reply.name else _OF_TEXT)(reply, draw)
        if not reply.name:
            return reply.text
        wrong = [
            draw.choice(_OF_ENTRY)(entry, *reply.keys)
            if draw.randrange(2 * _EVERY) == 0
            else entry
            for entry in reply.entries
        ]
        return reply.text if wrong == reply.entries else reply.with_entries(wrong)

    def _draw(self, prompt: Prompt) -> Random:
        """Return what decides of one reply; marks are others in every process."""
        words = "\0".join(message.content.text for message in prompt.messages)
        shown = MARK.sub("", words).encode("utf-8", "surrogatepass")
        digest = blake2b(shown, digest_size=16).digest()
        with self._lock:
            self._asked[digest] += 1
            times = self._asked[digest]
        return Random(f"0 {times} {digest.hex()}")


def _take_apart(reply: str) -> _Reply:
    try:
        value = json.loads(reply)
    except ValueError:
        return _Reply(reply)
    ((name, entries),) = value.items()
    return _Reply(reply, name, entries)


def _cut_entry(reply: _Reply, draw: Random) -> str:
    entries = list(reply.entries)
    if entries:
        entries.pop(draw.randrange(len(entries)))
    return reply.with_entries(entries)


def _invent_entry(reply: _Reply, _draw: Random) -> str:
    name, listed = reply.keys
    return reply.with_entries([*reply.entries, {name: "zz-9", listed: ["zz-9"]}])


def _misquote(reply: _Reply, draw: Random) -> str:
    entries = [dict(entry) for entry in reply.entries]
    if entries:
        entry = draw.choice(entries)
        listed = reply.keys[1]
        entry[listed] = [*entry[listed], "Zebedee Quux of Nether Wallop"]
    return reply.with_entries(entries)


def _add_commas(reply: _Reply, _draw: Random) -> str:
    rows = (json.dumps(entry, ensure_ascii=False)[:-1] for entry in reply.entries)
    return f'{{"{reply.name}": [{"".join(f"{row},}}," for row in rows)}],}}'


_OF_TEXT: tuple[Callable[[_Reply, Random], str], ...] = (
    lambda reply, _: f"```json\n{reply.text}\n```",
    lambda reply, _: (
        f"Sure! Here it is:\n\n{reply.text}\n\nLet me know if you need anything else."
    ),
    lambda reply, _: reply.text[: len(reply.text) // 2],
    lambda _reply, _: "Sorry, I cannot help with that.",
    lambda _reply, _: "",
)
_OF_FORM = (
    *_OF_TEXT,
    _add_commas,
    lambda reply, _: repr({reply.name: list(reply.entries)}),
    _cut_entry,
    _invent_entry,
    _misquote,
)
_OF_ENTRY: tuple[Callable[[Entry, str, str], Entry], ...] = (
    lambda entry, _, listed: {**entry, listed: "; ".join(map(str, entry[listed]))},
    lambda entry, _, listed: {**entry, listed: [{"text": e} for e in entry[listed]]},
    lambda entry, name, _: {**entry, name: str(entry[name]).swapcase()},
    lambda entry, name, _: {**entry, name: f"[{entry[name]}]"},
)
