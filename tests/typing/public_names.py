"""Read by mypy only: what a type checker knows of the names of `sdrag`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

import sdrag
from sdrag import (
    AuditEvent,
    Constraint,
    Limits,
    Passage,
    Policy,
    Principal,
    SdragError,
    UsageError,
    open_state,
)
from sdrag.effects.prompts import Labelled
from sdrag.highlight.exchange import Context, Highlighter


def names_have_types(policy: Policy, event: AuditEvent, limits: Limits) -> None:
    assert_type(sdrag.Policy.read("policy.yaml"), Policy)
    assert_type(Principal("someone"), Principal)
    assert_type(Passage("id", "text").text, str)
    assert_type(open_state(), sdrag.State)
    error: SdragError = UsageError("wrong")
    use(policy, event, limits, error, Constraint)
    use(sdrag.Polcy)  # type: ignore[attr-defined]  # a misspelt name is an error
    Principal(1)  # type: ignore[arg-type]  # and so is a wrong type


def highlight(question: Labelled, context: Context) -> list[str]:
    return [question.text, *(each.text for each in context.passages)]


async def ahighlight(question: Labelled, context: Context) -> list[str]:
    return highlight(question, context)


def highlights(question: Labelled, context: Context) -> Iterator[str]:
    yield from highlight(question, context)


async def ahighlights(question: Labelled, context: Context) -> AsyncIterator[str]:
    yield ""


def unlike_text(question: Labelled, context: Context) -> int:
    return len(highlight(question, context))


def own_functions_are_highlighters() -> None:
    own: list[Highlighter] = [highlight, ahighlight, highlights, ahighlights]
    wrong: Highlighter = unlike_text  # type: ignore[assignment]
    use(own, wrong)


def use(*_: object) -> None: ...
