"""What a constraint asks for, as the parser understands it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sdrag.detectors.tagger import IDENTIFYING
from sdrag.vocabulary import Confidential, Constraint

Kind = Literal["types", "people", "named", "statement", "meaning", "everything", "only"]
"""What a constraint asks for: mentions of types, people by role, whom or what it names
itself, what it states, what must be understood, all there is, or all but something."""

Status = Literal["understood", "needs_model"]
"""Whether the local engine can enforce it."""

PATTERN = "PATTERN"
"""The type of what the policy's own patterns match; no detector finds it."""

_UNNAMED = Constraint("-", "-")
"""Whose constraint a text is makes no difference to what it asks for."""


@dataclass(frozen=True, slots=True)
class Topic:
    """
    A subject that a constraint speaks of, and what tells it in a text.

    Args:
        name: Of the table's section; `quoted` for what the constraint quotes, empty for
            words that only mentions of `types` may be beside.
        cues: Folded words and phrases; a sentence with one of them tells the subject.
        hints: Frequent words; two different ones next to each other tell it too, or
            one beside a mention of `types`.
        types: Mentions of these types count in a sentence with a cue or a hint.
        sure: Folded phrases that are hidden wherever they are.
    """

    name: str
    cues: frozenset[str]
    hints: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    sure: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, repr=False)
class ParsedConstraint(Confidential):
    """
    A constraint, understood.

    Args:
        constraint: What was parsed.
        kind: What it asks for, above all.
        types: Types of mentions it asks for.
        everywhere: Those of them that count wherever they are; the others count beside
            a cue of their topic.
        people: It asks for names.
        meaning: It must also be understood.
        asked: Its words without what it excepts; empty where it excepts nothing.
        subject: The constraint without the order it gives, folded.
        names: Whom or what it names itself, where it consists of names.
        about_names: It asks for everything about them.
        surely_names: Its names can be nothing else, so there is nothing to understand.
        statement: What it says itself that must not be said ("that Meyers is ill");
            empty where it only says what that is about.
        topics: What it speaks of, with the cues that tell it in a text.
        kinds: Kinds of numbers it asks for, by the detector's table.
        numbered: Types that count where they are of one of these kinds.
        implied: Types of `everywhere` that its subject brings and no word names.
        unheard: Words of its subject that decide nothing by themselves.
        status: Whether the local engine can enforce it.
        reason: Why not, in plain words that quote nothing; empty if it can.
    """

    constraint: Constraint = _UNNAMED
    kind: Kind = "types"
    types: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    people: bool = False
    meaning: bool = False
    asked: str = ""
    subject: str = ""
    names: tuple[str, ...] = ()
    about_names: bool = False
    surely_names: bool = False
    statement: str = ""
    topics: tuple[Topic, ...] = ()
    kinds: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()
    unheard: tuple[str, ...] = ()
    status: Status = "understood"
    reason: str = ""

    @property
    def cues(self) -> frozenset[str]:
        """Every word and phrase that tells one of its topics."""
        return frozenset().union(*(t.cues | t.hints for t in self.topics))

    @property
    def worded(self) -> frozenset[str]:
        """Types that its words name, and not only a subject it speaks of."""
        return self.everywhere | self.numbered

    @property
    def identifying(self) -> bool:
        """Whether it asks for whatever identifies somebody."""
        return IDENTIFYING in self.types

    @property
    def text(self) -> str:
        """What the networks read of it: its words without what it excepts."""
        return self.asked or self.constraint.text

    def __repr__(self) -> str:
        return f"ParsedConstraint(id={self.constraint.id!r}, kind={self.kind!r})"
