"""
Answers that say what their source says, and answers that turn it around.

Each row has a source, a claim and whether the source supports it. The claim is given to
the guard after the answer, as a host would. It passes if the guard returns it as
`checked`. A claim that was turned around and passes is the failure that counts. The
rows of the part `aside` are for measuring alone; no rule was chosen by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.suites.json_files import DATA, read_rows
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.guardrails.answer_work import Draft
from sdrag.pipeline import Engine, check_answer
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

__all__ = [
    "AnswerRow",
    "Part",
    "TriedAnswer",
    "evaluate_answers",
    "read_answers",
    "read_claims",
]

Part = Literal["all", "development", "aside"]

_PARTS = frozenset({"development", "aside"})
_POLICIES: Mapping[str, Mapping[str, Any]] = {
    "grounding": {"grounding": {}},
    "with_contradictions": {"grounding": {}, "contradictions": {}},
}
_NOW = datetime(2025, 1, 1, tzinfo=UTC)


class AnswerRow(NamedTuple):
    """
    A claim and its source.

    Args:
        kind: What was turned around, or could have been: `number`, `date` and so on.
        part: `development` or `aside`.
        source: The text that the answer was made from.
        claim: The answer, one sentence.
        supported: Whether the source says so.
    """

    kind: str
    part: str
    source: str
    claim: str
    supported: bool


class TriedAnswer(NamedTuple):
    """
    A row, and whether the guard passed its claim.

    Args:
        row: As it was read.
        passed: Under each of the policies, by name.
    """

    row: AnswerRow
    passed: Mapping[str, bool]


def read_answers(path: Path | None = None, part: Part = "all") -> list[AnswerRow]:
    """
    Read the rows.

    Args:
        path: A file of JSON lines; the packaged one when missing.
        part: All of them, or one part.

    Raises:
        UsageError: A line is no row.
    """
    source = path or DATA / "answers.jsonl"
    form = f"an answer with {', '.join(AnswerRow._fields)}"
    rows = read_rows(source, _row, form)
    return [row for row in rows if part in {"all", row.part}]


def read_claims(path: Path) -> list[AnswerRow]:
    """
    Read sources with claims in other words, right ones and wrong ones: a row each.

    Raises:
        UsageError: A line is no source with its facts.
    """
    form = "a source with facts, each with right and wrong claims"
    return [row for source in read_rows(path, _claims_of, form) for row in source]


def _claims_of(given: Mapping[str, Any]) -> list[AnswerRow]:
    return [
        AnswerRow("other words", "aside", given["source"], claim, name == "right")
        for fact in given["facts"]
        for name in ("right", "wrong")
        for claim in fact[name]
    ]


def _row(given: Mapping[str, Any]) -> AnswerRow:
    row = AnswerRow(*(given[name] for name in AnswerRow._fields))
    texts = (row.kind, row.part, row.source, row.claim)
    if not all(isinstance(text, str) for text in texts) or row.part not in _PARTS:
        raise ValueError("a text or the part is wrong")
    if not isinstance(row.supported, bool):
        raise TypeError("`supported` is no truth value")
    return row


def evaluate_answers(
    rows: Sequence[AnswerRow],
    look: Callable[[Sequence[TriedAnswer]], None] = lambda _tried: None,
) -> dict[str, Any]:
    """
    Give every claim to the guard, with the local scorer alone.

    Args:
        rows: As `read_answers` gives them.
        look: Is handed what became of each.

    Returns:
        The shares of the false and of the true claims that passed: under `grounding`
        alone, of all and of each kind, and with `contradictions` in addition.
    """
    tried = [
        TriedAnswer(row, {name: _passes(row, name) for name in _POLICIES})
        for row in rows
    ]
    look(tried)
    kinds = dict.fromkeys(row.kind for row in rows)
    return {
        **_shares(tried, "grounding"),
        "with_contradictions": _shares(tried, "with_contradictions"),
        "by_kind": {
            kind: _shares(case for case in tried if case.row.kind == kind)
            for kind in kinds
        },
        "pairs": len(rows),
    }


def _passes(row: AnswerRow, name: str) -> bool:
    """Say whether the guard returns the claim unmarked."""
    draft = Draft("", row.claim, (Passage("source", row.source),))
    steps = check_answer(draft, _engine(name), None, now=_NOW)
    return run(steps, PortRunner(Ports())).status == "checked"


@cache
def _engine(name: str) -> Engine:
    return Engine(Policy.read(_POLICIES[name]), stage="answer")


def _shares(
    tried: Iterable[TriedAnswer], policy: str = "grounding"
) -> dict[str, float]:
    passed: dict[bool, list[bool]] = {False: [], True: []}
    for case in tried:
        passed[case.row.supported].append(case.passed[policy])
    return {
        f"{name}_passed": round(sum(values) / max(1, len(values)), 4)
        for name, values in (("false", passed[False]), ("true", passed[True]))
    }
