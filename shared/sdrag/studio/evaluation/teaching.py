"""
What the examples of constraints change: figures, odd ones, sentences of documents.

Only a constraint that must be understood learns from its examples. Whether they agree
is measured by leaving each out: the words of the constraint and the other examples have
to open it. An example is odd if it opens sentences of other kinds, or keeps closed what
another one hides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.by_example import judge, judge_left_out, read_bank, split
from sdrag.disclosure.local.by_meaning import THRESHOLDS, needs_meaning
from sdrag.embeddings import installed
from sdrag.explanation.explain import Explainer
from sdrag.policy import Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Constraint, Passage

_ENOUGH = 4
"""Examples from which on a share of them says something."""
_ODD = 0.1
"""The share of sentences of other kinds that no example should open."""
_MOST = 24
"""Examples of a constraint that are tried one by one."""


@dataclass(frozen=True, slots=True)
class OddExample:
    """
    An example that says something else than the others.

    Args:
        example: Its number among the constraint's, from 1.
        kind: `opens` sentences of other kinds, or `closes` what another example hides.
    """

    example: int
    kind: Literal["opens", "closes"]
    count: int


@dataclass(frozen=True, slots=True)
class Taught:
    """
    What the examples of a constraint teach.

    Args:
        shown: How many of their sentences hide something.
        found: How many of these are opened by the others; `None` of fewer than four.
    """

    constraint_id: str
    shown: int
    found: int | None
    odd: tuple[OddExample, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Change(Confidential):
    """Sentences of documents of which examples hide more, or no longer anything."""

    opened: tuple[str, ...] = field(default=())
    closed: tuple[str, ...] = field(default=())


def measure_teaching(policy: Policy) -> list[Taught]:
    """Measure the examples of each constraint of a policy that learns from them."""
    return [*map(_measure, filter(_learns, policy.rules))]


def _learns(rule: Constraint) -> bool:
    return bool(rule.examples) and installed() and needs_meaning(parse(rule))


def _measure(rule: Constraint) -> Taught:
    least = THRESHOLDS[rule.sensitivity or "balanced"].sentence
    few = replace(rule, examples=rule.examples[:_MOST])
    chances = judge_left_out(few)
    found = sum(chance >= least for chance in chances)
    return Taught(
        rule.id,
        len(chances),
        found if len(chances) >= _ENOUGH else None,
        tuple(_find_odd(few, least)),
    )


def _find_odd(rule: Constraint, least: float) -> Iterator[OddExample]:
    bank = read_bank()
    bare = _count(replace(rule, examples=()), bank, least)
    goes = [part.text for each in rule.examples for part in split(each) if part.spans]
    for number, example in enumerate(rule.examples, start=1):
        if example.hides:
            opened = _count(replace(rule, examples=(example,)), bank, least) - bare
            if opened >= _ODD * len(bank):
                yield OddExample(number, "opens", opened)
        elif goes:
            rest = tuple(each for each in rule.examples if each != example)
            before = _count(replace(rule, examples=rest), goes, least)
            if closed := before - _count(rule, goes, least):
                yield OddExample(number, "closes", closed)


def _count(rule: Constraint, texts: Sequence[str], least: float) -> int:
    return sum(chance >= least for chance in judge(rule, texts))


def compare_documents(
    policy: Policy, documents: Sequence[Passage]
) -> dict[str, Change]:
    """Return, by the ids of constraints with examples, what these change in texts."""
    bare = tuple(
        entry.model_copy(update={"examples": ()}) for entry in policy.constraints
    )
    taught = _find_hidden(policy, documents)
    before = _find_hidden(policy.model_copy(update={"constraints": bare}), documents)
    changes = {}
    for rule in filter(_learns, policy.rules):
        after, ago = taught.get(rule.id, {}), before.get(rule.id, {})
        changes[rule.id] = Change(
            tuple(text for text in after if text not in ago),
            tuple(text for text in ago if text not in after),
        )
    return changes


def _find_hidden(
    policy: Policy, documents: Sequence[Passage]
) -> dict[str, dict[str, None]]:
    """Return the sentences of which something is hidden, by constraint, in order."""
    hidden: dict[str, dict[str, None]] = {}
    for explained in Explainer(policy).explain(documents):
        for span in sentences(explained.text, cells=True):
            for each in explained.spans:
                if each.span.overlaps(span):
                    text = " ".join(span.of(explained.text).split())
                    hidden.setdefault(each.constraint_id, {})[text] = None
    return hidden
