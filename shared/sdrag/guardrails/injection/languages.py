"""
Orders to a model in other languages than English, by the words of one small table.

An order is two things near each other in one sentence, such as a verb that tells
somebody to forget and a word for instructions. Which comes first differs between
languages, so either may. A word of a language that writes no spaces may be anywhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from sdrag.guardrails.injection.normalise import plain
from sdrag.text.folding import UNSPACED

__all__ = ["rules"]

_PAIRS = {
    "override-other": [("forget", "orders")],
    "role-other": [("now", "you_are")],
    "reply-other": [
        ("your_answer", "promote"),
        ("each_answer", "add"),
        ("when_asked", "say"),
        ("now", "about_this"),
    ],
    "address-other": [("the_model", "obeys")],
    "tool": [("call", "first")],
    "exfiltrate-other": [("show", "prompt"), ("send", "conversation")],
}
"""What is said together in an order, by the name that a reason has for it."""
_ALONE = {"role-other": "role", "address-other": "model"}
"""What needs nothing next to it."""
_NEAR = r"[^.!?\u3002\uff01\uff1f\n]{0,50}?"
_NEGATED = ("n'", "no ", "não ", "non ", "nie ", "не ", "att ", "不要", "请勿", "别")
_NEGATED_AFTER = ("nicht", "niet", "pas", "не", "ない", "しない")
_JOINED = re.compile(f"[{UNSPACED}\uac00-\ud7a3]")
"""Letters next to which a word may begin or end."""


def rules() -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the name, the pattern and the words that it needs of each kind of order."""
    table = tomllib.loads(
        files("sdrag.guardrails.injection")
        .joinpath("languages.toml")
        .read_text("utf-8")
    )
    roles: dict[str, list[str]] = {}
    for language in table.values():
        for role, words in language.items():
            roles.setdefault(role, []).extend(words)
    words_of = {role: _any_of(words) for role, words in roles.items()}
    words_of["forget"] = _not_denied(words_of["forget"])
    needs_of = {
        role: [_needed(word) for word in words] for role, words in roles.items()
    }
    for name, pairs in _PAIRS.items():
        for first, second in pairs:
            left, right = words_of[first], words_of[second]
            yield name, f"{left}{_NEAR}{right}", needs_of[first]
            yield name, f"{right}{_NEAR}{left}", needs_of[first]
    for name, role in _ALONE.items():
        end = ":" if role == "model" else ""
        yield name, f"{words_of[role]} ?{end}", needs_of[role]


def _needed(word: str) -> str:
    """Return what every spelling of a word of the table has in it."""
    return plain(word.rstrip("*"))


def _any_of(words: Sequence[str]) -> str:
    """
    Return a pattern of words as the scan reads them: folded.

    One look says of most characters that no word begins there.
    """
    spaced = [_ended(word) for word in words if not _JOINED.match(word)]
    joined = [_ended(word) for word in words if _JOINED.match(word)]
    patterns = [rf"(?<!\w)(?=\w)(?:{'|'.join(spaced)})"]
    if joined:
        patterns.append(rf"(?=[^\x00-\x7f])(?:{'|'.join(joined)})")
    return f"(?:{'|'.join(patterns)})"


def _ended(word: str) -> str:
    """Match a folded word up to its boundary, where its script has any."""
    stem = word.rstrip("*")
    ending = r"\w{0,12}+" if stem != word else ""
    after = "" if _JOINED.match(stem[-1]) else r"(?!\w)"
    return f"{re.escape(plain(stem))}{ending}{after}"


def _not_denied(pattern: str) -> str:
    """Leave out "do not forget the instructions"."""
    before = r"(?=\w)" + "".join(f"(?<!{_folded(word)})" for word in _NEGATED)
    after = "|".join(_folded(word) for word in _NEGATED_AFTER)
    return f"{before}{pattern}(?! ?(?:{after}))"


def _folded(word: str) -> str:
    """Fold a word and keep the space that ends it."""
    return plain(word) + " " * word.endswith(" ")
