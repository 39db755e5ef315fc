"""
Documents with canaries, two policies, and what an answer gave away.

Each document has two canaries, a name and an e-mail address. Each policy hides one of
them. Its telephone number is a third canary, which both hide. No two documents share
one.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path

TENANTS = ("harbour", "airport")
NOUNS = ("crane", "ledger", "manifest", "pilot", "ferry", "rope", "tide", "cargo")
QUESTIONS = tuple(f"Who watched the {noun}?" for noun in NOUNS)
_FIRST = ("Kar", "Lin", "Mor", "Tor", "Bel", "Dra", "Hal", "Jan", "Per", "Sel")
_LAST = ("solin", "deberg", "vamann", "riquist", "musen", "lifeld", "nagard", "tostrom")
_COLOURS = (
    "copper",
    "silver",
    "yellow",
    "purple",
    "orange",
    "golden",
    "crimson",
    "grey",
)
_THINGS = (
    "window",
    "basket",
    "ladder",
    "candle",
    "button",
    "pillow",
    "bottle",
    "carpet",
)

_COMMON = """
access: {tenant_key: tenant, required: [tenant]}
metadata: {allow: [source]}
"""
POLICIES = {
    "name": "constraints: [Remove names of witnesses, Remove phone numbers]" + _COMMON,
    "mail": "constraints: [Remove e-mail addresses, Remove phone numbers]" + _COMMON,
}
"""By what each hides."""

_WORD = re.compile(r"[a-z]+(?:-[a-z]+)?")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Shown:
    """
    What one answer shows.

    Args:
        kinds: Of the canaries in it.
        canaries: How many are in it.
        secret: It holds what both policies hide.
        foreign: It holds what belongs to another tenant.
    """

    kinds: frozenset[str]
    canaries: int
    secret: bool
    foreign: bool


class Corpus:
    """
    The documents of both tenants.

    Args:
        size: How many each tenant has; 32 at most.
    """

    def __init__(self, size: int) -> None:
        names = [a + b for b, a in itertools.product(_LAST, _FIRST)]
        mails = [f"{a}-{b}" for a, b in itertools.product(_COLOURS, _THINGS)]
        self.known: dict[str, tuple[str, str]] = {}
        self.lines: list[str] = []
        for n in range(2 * size):
            tenant, name, mail = TENANTS[n % 2], names[n], mails[n]
            self.known[name.lower()] = "name", tenant
            self.known[mail] = "mail", tenant
            noun = NOUNS[n // 2 % len(NOUNS)]
            text = (
                f"The witness Anna {name} watched the {noun} at the quay."
                f" Write to desk.{mail}@quay.example about the {noun}."
                f" The phone of the desk is +1 202-555-{1000 + n}."
            )
            note = {"source": f"{tenant}-{n}", "tenant": tenant, "text": text}
            self.lines.append(json.dumps(note))

    def write(self, path: Path) -> None:
        """Write the documents, one JSON object a line."""
        path.write_text("\n".join(self.lines), encoding="utf-8")

    def shown(self, text: str, tenant: str) -> Shown:
        """Say what an answer to a tenant shows; no document has another digit."""
        found = {
            word: self.known[word]
            for word in _WORD.findall(text.lower())
            if word in self.known
        }
        foreign = any(owner != tenant for _, owner in found.values())
        kinds = frozenset(kind for kind, _ in found.values())
        return Shown(kinds, len(found), bool(_DIGIT.search(text)), foreign)

    def canaries_in(self, text: str) -> int:
        """Count the canaries in a log or in metrics, where none may be."""
        words = set(_WORD.findall(text.lower())) & {*self.known}
        return len(words) + len(re.findall(r"202-555-\d{4}", text))
