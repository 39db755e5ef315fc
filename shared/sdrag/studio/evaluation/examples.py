"""
The examples of a policy's constraints, run as tests of what the constraints mean.

Each example is one passage for which its constraint holds, and goes through the whole
of disclosure control with every other constraint of the policy. Guards and limits are
off: an example asks what the words withhold, not whether its text is fresh or ranks
high. A constraint that would be refused is left out, and its examples fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sdrag.disclosure.enforceable import not_understood
from sdrag.disclosure.keep import find_kept
from sdrag.effects.prompts import Prompt
from sdrag.framework import Model
from sdrag.options import Options
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import ConstraintSection, ExampleSection, Policy
from sdrag.privacy.audit import AuditEvent, count_failures
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Passage, Span


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
        shown: What is shown of the example's text.
    """

    constraint_id: str
    example: int
    kind: Literal["hides", "kept", "keeps", "refused"]
    quoted: int = 0
    shown: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ExampleResults:
    """How many examples hold, how many do not, and why not."""

    passed: int = 0
    failed: int = 0
    failures: tuple[ExampleFailure, ...] = ()
    model_failures: Mapping[str, int] = field(default_factory=dict)


def run_examples(
    policy: Policy, llm: Callable[[Prompt], str] | Model | None = None
) -> ExampleResults:
    """Run every example of a policy."""
    if not any(entry.examples for entry in policy.constraints):
        return ExampleResults()
    refused: set[str] = set()
    if llm is None and policy.when_not_understood == "refuse":
        refused = set(not_understood(policy))
    constraints = tuple(c for c in policy.constraints if c.id not in refused)
    bare = policy.without_limits().model_copy(
        update={**dict.fromkeys(policy.guards), "constraints": constraints}
    )
    events: list[AuditEvent] = []
    options = Options(audit=events.append)
    engine = Engine(bare, llm=llm, options=options, stage="view")
    passed = failed = 0
    failures: list[ExampleFailure] = []
    for entry in policy.constraints:
        name = entry.id or ""
        keeps = [each.keep() for each in (*entry.keep, *policy.keep)]
        for number, example in enumerate(entry.examples, start=1):
            wrong = [ExampleFailure(name, number, "refused")]
            if name not in refused:
                shown = _release(engine, entry, f"{name} {number}", example)
                kept = find_kept(example.text, keeps)
                wrong = [
                    ExampleFailure(name, number, kind, quoted, shown)
                    for kind, quoted in _untrue(example, shown, kept)
                ]
            passed, failed = passed + (not wrong), failed + bool(wrong)
            failures += wrong
    causes = count_failures(events)
    return ExampleResults(passed, failed, tuple(failures), causes)


def _release(
    engine: Engine, entry: ConstraintSection, name: str, example: ExampleSection
) -> str:
    """Return what is shown of an example."""
    metadata = {key: list(values) for key, values in entry.where.items()}
    passage = Passage(name, example.text, metadata)
    shown, _ = engine.run(disclose([passage], Request(""), engine))
    return "\n".join(passage.text for passage in shown.passages)


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
