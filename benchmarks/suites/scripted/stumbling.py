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
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import Any

from benchmarks.suites.scripted.asked import MARK
from sdrag.effects.prompts import Prompt
from sdrag.vocabulary import Confidential

__all__ = ["StumblingModel"]

_ENTRIES = {"verdicts": ("constraint", "spans"), "answers": ("question", "no")}
"""The forms of replies: what a list of entries is called, and the keys of each."""
_NOWHERE = "Zebedee Quux of Nether Wallop"
_REFUSAL = "Sorry, I cannot help with that."


@dataclass(frozen=True, slots=True, repr=False)
class _Reply(Confidential):
    """
    A reply, taken apart.

    Args:
        text: As it was given.
        name: Of the list of entries; empty for a reply of another form.
        entries: Of the list.
    """

    text: str
    name: str = ""
    entries: Sequence[Mapping[str, Any]] = ()

    @property
    def keys(self) -> tuple[str, str]:
        """The key of an entry's id, and the key of what it lists."""
        return _ENTRIES[self.name]

    def with_entries(self, entries: Sequence[Mapping[str, Any]]) -> str:
        """Return the reply with other entries."""
        return json.dumps({self.name: entries}, ensure_ascii=False)


class StumblingModel(Confidential):
    """
    A model whose replies are at times malformed.

    Args:
        wrapped: What it means to say.
        every: One reply in so many is malformed, and one verdict in twice as many.
        seed: Another one makes it stumble at other places.
    """

    __slots__ = ("_asked", "_every", "_lock", "_seed", "_wrapped")

    def __init__(
        self, wrapped: Callable[[Prompt], str], every: int = 5, seed: int = 0
    ) -> None:
        self._wrapped = wrapped
        self._every = every
        self._seed = seed
        self._asked: Counter[bytes] = Counter()
        self._lock = Lock()

    def __call__(self, prompt: Prompt) -> str:
        """
        Answer a prompt, or stumble.

        Args:
            prompt: Of extraction, confirmation or rephrasing.
        """
        reply = _taken_apart(self._wrapped(prompt))
        draw = self._draw(prompt)
        if draw.randrange(self._every) == 0:
            spoils = _OF_FORM if reply.name else _OF_TEXT
            return draw.choice(spoils)(reply, draw)
        if not reply.name:
            return reply.text
        wrong = [
            draw.choice(_OF_ENTRY)(reply, entry)
            if draw.randrange(2 * self._every) == 0
            else entry
            for entry in reply.entries
        ]
        return reply.text if wrong == reply.entries else reply.with_entries(wrong)

    def _draw(self, prompt: Prompt) -> Random:
        """Return what decides of one reply; marks are others in every process."""
        words = "\0".join(message.content.text for message in prompt.messages)
        digest = blake2b(
            MARK.sub("", words).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
        with self._lock:
            self._asked[digest] += 1
            times = self._asked[digest]
        return Random(f"{self._seed} {times} {digest.hex()}")


def _taken_apart(reply: str) -> _Reply:
    try:
        value = json.loads(reply)
    except ValueError:
        return _Reply(reply)
    for name, keys in _ENTRIES.items():
        entries = value.get(name) if isinstance(value, dict) else None
        if isinstance(entries, list) and all(
            _is_entry(item, *keys) for item in entries
        ):
            return _Reply(reply, name, entries)
    return _Reply(reply)


def _is_entry(value: object, name: str, listed: str) -> bool:
    return (
        isinstance(value, dict)
        and name in value
        and isinstance(value.get(listed), list)
    )


def _fenced(reply: _Reply, _draw: Random) -> str:
    return f"```json\n{reply.text}\n```"


def _with_commas(reply: _Reply, _draw: Random) -> str:
    entries = "".join(
        f"{json.dumps(entry, ensure_ascii=False)[:-1]},}}," for entry in reply.entries
    )
    return f'{{"{reply.name}": [{entries}],}}'


def _in_prose(reply: _Reply, _draw: Random) -> str:
    return (
        f"Sure! Here it is:\n\n{reply.text}\n\nLet me know if you need anything else."
    )


def _in_single_quotes(reply: _Reply, _draw: Random) -> str:
    return repr({reply.name: list(reply.entries)})


def _cut_off(reply: _Reply, _draw: Random) -> str:
    return reply.text[: len(reply.text) // 2]


def _refused(_reply: _Reply, _draw: Random) -> str:
    return _REFUSAL


def _empty(_reply: _Reply, _draw: Random) -> str:
    return ""


def _one_missing(reply: _Reply, draw: Random) -> str:
    entries = list(reply.entries)
    if entries:
        entries.pop(draw.randrange(len(entries)))
    return reply.with_entries(entries)


def _one_invented(reply: _Reply, _draw: Random) -> str:
    name, listed = reply.keys
    return reply.with_entries([*reply.entries, {name: "zz-9", listed: ["zz-9"]}])


def _one_misquoted(reply: _Reply, draw: Random) -> str:
    entries = [dict(entry) for entry in reply.entries]
    if entries:
        entry = draw.choice(entries)
        entry[reply.keys[1]] = [*entry[reply.keys[1]], _NOWHERE]
    return reply.with_entries(entries)


def _as_string(reply: _Reply, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    listed = reply.keys[1]
    return {**entry, listed: "; ".join(map(str, entry[listed]))}


def _as_objects(reply: _Reply, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    listed = reply.keys[1]
    return {**entry, listed: [{"text": item} for item in entry[listed]]}


def _in_other_case(reply: _Reply, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    name = reply.keys[0]
    return {**entry, name: str(entry[name]).swapcase()}


def _in_brackets(reply: _Reply, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    name = reply.keys[0]
    return {**entry, name: f"[{entry[name]}]"}


_Spoil = Callable[[_Reply, Random], str]
_OF_TEXT: tuple[_Spoil, ...] = (_fenced, _in_prose, _cut_off, _refused, _empty)
_OF_FORM: tuple[_Spoil, ...] = (
    *_OF_TEXT,
    _with_commas,
    _in_single_quotes,
    _one_missing,
    _one_invented,
    _one_misquoted,
)
_OF_ENTRY = (_as_string, _as_objects, _in_other_case, _in_brackets)
