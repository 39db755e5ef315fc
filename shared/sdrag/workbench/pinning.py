"""
Examples that are pinned: a sentence of a document, and words that must go or must stay.

The text of an example is the sentences around the words and no more, since whoever
saves examples stores real text. `sdrag check` runs them as this module does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sdrag.evaluation.examples import run_examples
from sdrag.policy import ConstraintSection, ExampleSection, Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage, Span
from sdrag.workbench.refusals import RefusedError
from sdrag.workbench.requests import Pin, Pinning

__all__ = ["pinned", "run_pins", "with_pins"]


def pinned(pinning: Pinning, policy: Policy, document: Passage) -> Pin:
    """
    Make an example of words of a document.

    Raises:
        RefusedError: The policy has no such constraint, or the document no such words.
    """
    if pinning.constraint not in {rule.id for rule in policy.rules}:
        raise RefusedError(422, "The policy has no such constraint any more.")
    quote = pinning.quote.strip()
    start = -1 if pinning.start is None else pinning.start
    if not quote or not document.text.startswith(quote, max(start, 0)) or start < 0:
        start = document.text.find(quote) if quote else -1
    if start < 0:
        raise RefusedError(422, "The document holds no such words.")
    around = _sentences_around(Span(start, start + len(quote)), document.text)
    return Pin(
        constraint=pinning.constraint, text=around, quote=quote, kind=pinning.kind
    )


def run_pins(policy: Policy, pins: Sequence[Pin]) -> list[dict[str, Any]]:
    """Say of each example whether it holds, and why not."""
    outcomes: list[dict[str, Any]] = []
    known = {rule.id for rule in policy.rules}
    run = [pin for pin in pins if pin.constraint in known]
    results = run_examples(with_pins(_bare(policy), run))
    failed = {(one.constraint_id, one.example): one.kind for one in results.failures}
    numbers: Counter[str] = Counter()
    for pin in pins:
        numbers[pin.constraint] += 1
        kind = failed.get((pin.constraint, numbers[pin.constraint]), "")
        if pin.constraint not in known:
            kind = "gone"
        outcomes.append({"holds": not kind, "why": _WHY[kind]})
    return outcomes


def with_pins(policy: Policy, pins: Sequence[Pin]) -> Policy:
    """
    Return a policy with examples added to those that it has.

    Args:
        policy: Not changed.
        pins: Of its constraints.
    """
    return policy.model_copy(
        update={
            "constraints": tuple(_with_own(rule, pins) for rule in policy.constraints)
        }
    )


def _bare(policy: Policy) -> Policy:
    """Return a policy without the examples that it has: these are numbered alone."""
    constraints = tuple(
        rule.model_copy(update={"examples": ()}) for rule in policy.constraints
    )
    return policy.model_copy(update={"constraints": constraints})


def _with_own(rule: ConstraintSection, pins: Sequence[Pin]) -> ConstraintSection:
    own = [_example(pin) for pin in pins if pin.constraint == rule.id]
    return rule.model_copy(update={"examples": (*rule.examples, *own)})


def _example(pin: Pin) -> ExampleSection:
    try:
        return ExampleSection.model_validate(
            {"text": pin.text, pin.kind: (pin.quote,)}, strict=False
        )
    except ValueError:
        raise RefusedError(422, "An example's words are not in its text.") from None


def _sentences_around(quoted: Span, text: str) -> str:
    """Return the sentences that some words are in."""
    touched = [span for span in sentences(text) if span.overlaps(quoted)]
    start = min((span.start for span in touched), default=quoted.start)
    end = max((span.end for span in touched), default=quoted.end)
    return text[min(start, quoted.start) : max(end, quoted.end)].strip()


_WHY = {
    "": "",
    "hides": "It is shown.",
    "keeps": "It is withheld.",
    "refused": "The constraint is not understood without a model.",
    "gone": "The policy has no such constraint any more.",
}
