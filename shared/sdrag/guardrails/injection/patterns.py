"""
Phrases that speak to a model, found in linear time.

Trigger words alone prove nothing: "Can I ignore this warning?" is a question. So each
pattern of `patterns.toml` asks for a whole order: what to do *and* to what. Such are an
instruction that is to be disregarded, a role that is to be taken on, and an answer that
is to be changed. Gaps are counted in words.

In other languages than English, an instruction is two things near each other in a
sentence, such as a verb that tells somebody to forget and a word for instructions, by
the words of `languages.toml`. Which comes first differs between languages, so either
may. A word of a language that writes no spaces may be anywhere.

Most texts have none of the words that a pattern needs. One search for the words of all
patterns says which of them have to be tried.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from sdrag.guardrails.injection.disguises import plain
from sdrag.text.folding import UNSPACED, replace_surrogates

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
"""What is said together in an instruction, by the name that a reason has for it."""
_ALONE = {"role-other": "role", "address-other": "model"}
"""What needs nothing next to it."""
_NEAR = r"[^.!?\u3002\uff01\uff1f\n]{0,50}?"
_NEGATED = ("n'", "no ", "não ", "non ", "nie ", "не ", "att ", "不要", "请勿", "别")
_NEGATED_AFTER = ("nicht", "niet", "pas", "не", "ない", "しない")
_JOINED = re.compile(f"[{UNSPACED}\uac00-\ud7a3]")
"""Letters next to which a word may begin or end."""


class ScanPattern(NamedTuple):
    """A pattern of the scan; every match has one of the words in it that it needs."""

    match: str
    needs: Sequence[str]


def find(text: str, *, ciphered: bool = False) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    `ciphered`: it may have been encoded, where any order to act is one to a model; such
    are named `order`.
    """
    for name, patterns in find_possible(text, ciphered=ciphered).items():
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield name, match.start(), match.end()


def find_possible(text: str, *, ciphered: bool) -> dict[str, list[re.Pattern[str]]]:
    """Return the patterns by name of which a text has a word that they need."""
    named, numbers_of, automaton = _index(ciphered=ciphered)
    plain_text = replace_surrogates(text)
    hits = automaton.find_matches_as_indexes(plain_text, overlapping=True)
    words = {word for word, _, _ in hits}
    possible: dict[str, list[re.Pattern[str]]] = {}
    for number in sorted(set().union(*(numbers_of[word] for word in words))):
        name, pattern = named[number]
        possible.setdefault(name, []).append(pattern)
    return possible


def list_patterns(*, ciphered: bool = False) -> dict[str, list[ScanPattern]]:
    """Return the patterns by the name that a reason has for them."""
    table = _read_table("patterns")
    parts: dict[str, str] = table["parts"]
    read = table["patterns"] | (table["ciphered"] if ciphered else {})
    listed = {
        name: [
            ScanPattern(
                re.sub(r"@(\w+)@", lambda match: parts[match[1]], entry["match"]),
                entry["needs"],
            )
            for entry in entries
        ]
        for name, entries in read.items()
    }
    for name, match, needs in _language_rules():
        listed.setdefault(name, []).append(ScanPattern(match, needs))
    return listed


@lru_cache(maxsize=2)
def _index(
    *, ciphered: bool
) -> tuple[list[tuple[str, re.Pattern[str]]], list[set[int]], AhoCorasick]:
    """Return the named patterns, which of them need each word, and what finds words."""
    named: list[tuple[str, re.Pattern[str]]] = []
    numbers_of: dict[str, set[int]] = {}
    for name, patterns in list_patterns(ciphered=ciphered).items():
        for pattern in patterns:
            for word in pattern.needs:
                numbers_of.setdefault(word, set()).add(len(named))
            named.append((name, re.compile(pattern.match)))
    automaton = AhoCorasick(list(numbers_of), matchkind=MatchKind.Standard)
    return named, list(numbers_of.values()), automaton


def _language_rules() -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the name, the pattern and the words that it needs of each kind of order."""
    table = _read_table("languages")
    roles: dict[str, list[str]] = {}
    for language in table.values():
        for role, words in language.items():
            roles.setdefault(role, []).extend(words)
    words_of = {role: _any_of(words) for role, words in roles.items()}
    words_of["forget"] = _not_denied(words_of["forget"])
    needs_of = {
        role: [plain(word.rstrip("*")) for word in words]
        for role, words in roles.items()
    }
    for name, pairs in _PAIRS.items():
        for first, second in pairs:
            left, right = words_of[first], words_of[second]
            yield name, f"{left}{_NEAR}{right}", needs_of[first]
            yield name, f"{right}{_NEAR}{left}", needs_of[first]
    for name, role in _ALONE.items():
        end = ":" if role == "model" else ""
        yield name, f"{words_of[role]} ?{end}", needs_of[role]


def _any_of(words: Sequence[str]) -> str:
    """
    Return a pattern of words as the scan reads them: folded.

    One look says of most characters that no word begins there.
    """
    spaced = [_end_word(word) for word in words if not _JOINED.match(word)]
    joined = [_end_word(word) for word in words if _JOINED.match(word)]
    patterns = [rf"(?<!\w)(?=\w)(?:{'|'.join(spaced)})"]
    if joined:
        patterns.append(rf"(?=[^\x00-\x7f])(?:{'|'.join(joined)})")
    return f"(?:{'|'.join(patterns)})"


def _end_word(word: str) -> str:
    """Match a folded word up to its boundary, where its script has any."""
    stem = word.rstrip("*")
    ending = r"\w{0,12}+" if stem != word else ""
    after = "" if _JOINED.match(stem[-1]) else r"(?!\w)"
    return f"{re.escape(plain(stem))}{ending}{after}"


def _not_denied(pattern: str) -> str:
    """Leave out "do not forget the instructions"."""
    before = r"(?=\w)" + "".join(f"(?<!{_fold_word(word)})" for word in _NEGATED)
    after = "|".join(_fold_word(word) for word in _NEGATED_AFTER)
    return f"{before}{pattern}(?! ?(?:{after}))"


def _fold_word(word: str) -> str:
    """Fold a word and keep the space that ends it."""
    return plain(word) + " " * word.endswith(" ")


def _read_table(name: str) -> dict[str, Any]:
    source = files("sdrag.guardrails.injection").joinpath(f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))
