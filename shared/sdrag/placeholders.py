"""
Placeholders: what stands in a text in place of a hidden value.

Redaction, masking, sessions and the guard of answers put them there, and each reads
what the others, or itself, put there before. What one looks like is said here, for
those who write and for those who read.

| looks like | is one |
|---|---|
| `[withheld]`, `[person]`, `[NAME]`, `[REDACTED]` | as it is: it says a type, no more |
| `[person-48213370]`, `[NAME-47649025]` | if the last three digits are right |
| `[NAME_e3dbab8d9bc71ff8]` | if the last five digits are right |

A number or a pseudonym could be a secret that somebody wrote in brackets, so its last
digits are a hash of the others under the key of the state. What only looks like one, of
another state or a document's author, is text: where some of it must go, all of it does.
There is no space in a placeholder, so what splits a text at spaces splits none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from hmac import compare_digest
from typing import Self

from sdrag.policy import Policy
from sdrag.policy.sections import NOUNS, SYNONYMS, WITHHELD
from sdrag.state.keys import PROCESS_KEYS
from sdrag.text.cells import Layout
from sdrag.text.spans import splice
from sdrag.vocabulary import Confidential, Span

PLAIN = ("[REDACTED]", "[***]", "[\u2026]", "\u2588\u2588\u2588")
"""What masking puts in place of values where it may say no type, the first fitting."""
BLOCK = "\u2588"
"""What stands where nothing else may."""
NUMBERED = re.compile(r"\[[^\[\]\n]{1,60}-[1-9]\d{7}\]")
"""What may be a numbered one."""
_PSEUDONYM = re.compile(r"\[(?:[^\[\]\n]{1,60}_)?[0-9a-f]{16}\]")
_LIKENESS = re.compile(r"\[[^\W\d_][\w -]{0,60}[ _-][\da-f]{5,16}\]")
_LAST = re.compile(r"-\d{8}|_[0-9a-f]{16}")
_DIGITS, _CHECK = 5, 3
_TOKEN, _TAG = 11, 5


@dataclass(frozen=True, slots=True, repr=False)
class Placeholders(Confidential):
    """
    The placeholders of a policy and a state.

    Args:
        plain: Those that are one as they are.
        secret: What the last digits of all others are made with.
    """

    plain: frozenset[str]
    secret: bytes
    _pattern: re.Pattern[str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", _any_of(self.plain))

    @classmethod
    def of(cls, policy: Policy, secret: bytes) -> Self:
        """
        Return all that may be in a text already, whatever the policy was then.

        `secret`: of the state, `Keys.placeholders`.
        """
        types = {*NOUNS, *policy.linkage.type_names}
        types |= {p.noun for each in policy.patterns for p in each.described()}
        given = {WITHHELD, policy.disclosure.placeholder, *PLAIN}
        return cls(frozenset({*given, *(f"[{type_}]" for type_ in types)}), secret)

    def find(self, text: str) -> tuple[Span, ...]:
        """Return where the genuine ones are, in order."""
        return tuple(
            Span(*match.span())
            for match in self._pattern.finditer(text)
            if self.holds(match.group())
        )

    def find_alike(self, text: str) -> tuple[Span, ...]:
        """Return where something looks like one, genuine or not, in order."""
        matches = (*self._pattern.finditer(text), *_LIKENESS.finditer(text))
        return tuple(sorted({Span(*match.span()) for match in matches}))

    def holds(self, surface: str) -> bool:
        """Say whether words are a genuine one, all of them."""
        if surface in self.plain or (surface and not surface.strip(BLOCK)):
            return True
        if NUMBERED.fullmatch(surface):
            body, check = surface[1 : -_CHECK - 1], surface[-_CHECK - 1 : -1]
            return compare_digest(check, self._check(body))
        if _PSEUDONYM.fullmatch(surface):
            body, tag = surface[1 : -_TAG - 1], surface[-_TAG - 1 : -1]
            return compare_digest(tag, self._hash(body)[:_TAG])
        return False

    def types_in(self, texts: Iterable[str]) -> frozenset[str]:
        """Return what detectors call the values that texts have them in place of."""
        said = (span.of(text)[1:-1] for text in texts for span in self.find(text))
        return frozenset().union(*(_types_of(_LAST.sub("", each)) for each in said))

    def blank(self, text: str) -> str:
        """Return a text of the same length in which there are spaces instead."""
        return splice(text, self.find(text), lambda span: " " * len(span))

    def number(self, type_: str, digest: str) -> str:
        """
        Return one that says a type and which value it was.

        `digest`: hexadecimal, of the value and whatever else it must tell apart.
        """
        least = 10 ** (_DIGITS - 1)
        which = int(self._hash(f"{type_} {digest}"), 16)
        body = f"{type_}-{least + which % (9 * least)}"
        return f"[{body}{self._check(body)}]"

    def pseudonym(self, type_: str, digest: str) -> str:
        """Return one that is the same wherever its value is; `type_` may be empty."""
        body = f"{type_}_{digest[:_TOKEN]}" if type_ else digest[:_TOKEN]
        return f"[{body}{self._hash(body)[:_TAG]}]"

    def _check(self, body: str) -> str:
        return f"{int(self._hash(body), 16) % 10**_CHECK:0{_CHECK}}"

    def _hash(self, body: str) -> str:
        data = body.encode("utf-8", "surrogatepass")
        return blake2b(data, key=self.secret, digest_size=16).hexdigest()


def with_brackets(layout: Layout, span: Span) -> Span:
    """
    Take along the brackets right around what a placeholder is put in place of.

    Those of a list stay: they are no part of the cell that the words are in.
    """
    text, whole = layout.text, Span(max(0, span.start - 1), span.end + 1)
    if not span.start or (text[whole.start], text[span.end : whole.end]) != ("[", "]"):
        return span
    cell = layout.at(span.start)
    is_inside = cell is None or cell.span.contains(whole)
    return whole if is_inside else span


@lru_cache(maxsize=256)
def _types_of(label: str) -> frozenset[str]:
    """Return the types that a noun or a type of linkage stands for."""
    _, types = NOUNS.get(label, ("", ""))
    called = {name for name, type_ in SYNONYMS.items() if type_ == label}
    return frozenset({*types.split(), *called})


@lru_cache(maxsize=64)
def _any_of(plain: Iterable[str]) -> re.Pattern[str]:
    """Return what finds plain ones, and what may be a genuine one of another kind."""
    longest_first = sorted(plain, key=lambda item: (-len(item), item))
    known = map(re.escape, longest_first)
    return re.compile(
        "|".join((NUMBERED.pattern, _PSEUDONYM.pattern, *known, f"{BLOCK}+"))
    )


DEFAULT = Placeholders.of(Policy(), PROCESS_KEYS.placeholders)
"""Those of a policy that says nothing of them, and of a state in memory."""
