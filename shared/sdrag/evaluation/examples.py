"""
The examples of a policy's constraints, run as tests of what the constraints mean.

Each example is one passage for which its constraint holds, and goes through the whole
of disclosure control with every other constraint of the policy. Guards and limits are
off: an example asks what the words withhold, not whether its text is fresh or ranks
high. A constraint that would be refused is left out, and its examples fail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from sdrag.disclosure.keep import find_kept
from sdrag.disclosure.setup import not_understood
from sdrag.effects.prompts import Prompt
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import ConstraintSection, ExampleSection, Policy
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Passage, Span

__all__ = ["ExampleFailure", "ExampleResults", "run_examples"]

Complete = Callable[[Prompt], str]
Release = Callable[[ConstraintSection, str, ExampleSection], str]
"""Returns what is shown of an example of a constraint; the name is its passage's."""


@dataclass(frozen=True, slots=True)
class ExampleFailure:
    """
    What an example says that is not so; numbers count from 1.

    Args:
        constraint_id: Whose example it is.
        example: Its number.
        kind: `hides`: it was shown; `kept`: it was, since a keep covers it; `keeps`:
            it was withheld; `refused`: the constraint is not understood.
        quoted: Which entry of `hides` or `keeps`; 0 where it is none.
    """

    constraint_id: str
    example: int
    kind: Literal["hides", "kept", "keeps", "refused"]
    quoted: int = 0


@dataclass(frozen=True, slots=True)
class ExampleResults:
    """How many examples hold, how many do not, and why not."""

    passed: int = 0
    failed: int = 0
    failures: tuple[ExampleFailure, ...] = ()


def run_examples(policy: Policy, complete: Complete | None = None) -> ExampleResults:
    """
    Run every example of a policy.

    Args:
        policy: Whose constraints' examples.
        complete: The model; the local engine when missing.
    """
    if not any(entry.examples for entry in policy.constraints):
        return ExampleResults()
    refused: set[str] = set()
    if complete is None and policy.when_not_understood == "refuse":
        refused = set(not_understood(policy))
    release = _releasing(policy, refused, complete)
    outcomes = [
        tuple(_failures(policy, entry, number, refused, release))
        for entry in policy.constraints
        for number in range(1, len(entry.examples) + 1)
    ]
    failed = sum(map(bool, outcomes))
    return ExampleResults(
        len(outcomes) - failed, failed, tuple(chain.from_iterable(outcomes))
    )


def _failures(
    policy: Policy,
    entry: ConstraintSection,
    number: int,
    refused: Collection[str],
    release: Release,
) -> Iterator[ExampleFailure]:
    """Yield what of an example is not so."""
    name, example = entry.id or "", entry.examples[number - 1]
    if name in refused:
        yield ExampleFailure(name, number, "refused")
        return
    shown = release(entry, f"{name} {number}", example)
    keeps = [each.keep() for each in (*entry.keep, *policy.keep)]
    for kind, quoted in _untrue(example, shown, find_kept(example.text, keeps)):
        yield ExampleFailure(name, number, kind, quoted)


def _untrue(
    example: ExampleSection, shown: str, kept: Sequence[Span]
) -> Iterator[tuple[Literal["hides", "kept", "keeps"], int]]:
    text, original = fold_text(shown), fold(example.text)
    for number, quoted in enumerate(example.hides, start=1):
        if fold_text(quoted) in text:
            places = list(original.find(fold_text(quoted)))
            collides = any(span.overlaps(place) for span in kept for place in places)
            yield ("kept" if collides else "hides"), number
    for number, quoted in enumerate(example.keeps, start=1):
        if fold_text(quoted) not in text:
            yield "keeps", number


def _releasing(
    policy: Policy, refused: Collection[str], complete: Complete | None
) -> Release:
    """Return what releases the text of an example of a constraint."""
    engine = Engine(_bare(policy, refused), llm=complete)

    def release(entry: ConstraintSection, name: str, example: ExampleSection) -> str:
        metadata = {key: list(values) for key, values in entry.where.items()}
        passage = Passage(name, example.text, metadata)
        shown, _ = engine.run(disclose([passage], Request(""), engine))
        return "\n".join(passage.text for passage in shown.passages)

    return release


def _bare(policy: Policy, refused: Collection[str]) -> Policy:
    """Return a policy's constraints without guards, limits and refused ones."""
    unlimited = {"top_k": None}
    return policy.model_copy(
        update={
            **dict.fromkeys(policy.guards),
            "constraints": tuple(c for c in policy.constraints if c.id not in refused),
            "disclosure": policy.disclosure.model_copy(update=unlimited),
        }
    )
