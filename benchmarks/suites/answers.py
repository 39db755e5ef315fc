"""
Answers that say what their source says, and answers that turn it around.

Each row has a source, a claim and whether the source supports it. The claim is given to
the guard after the answer, as a host would. It passes if the guard returns it as
`checked`. A claim that was turned around and passes is the failure that counts. The
rows of the part `aside` are for measuring alone; no rule was chosen by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.suites.json_files import DATA, read_rows
from sdrag.guardrails.answer_work import Draft
from sdrag.pipeline import Engine, check_answer
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

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


_Tried = tuple[AnswerRow, Mapping[str, bool]]
"""A row, and whether the guard passed its claim, by the name of the policy."""


def answers(
    data: Path = DATA / "answers.jsonl",
    part: Literal["all", "development", "aside"] = "all",
    claims: Path | None = None,
) -> dict[str, Any]:
    """
    Give claims that are true to a source, and claims turned around, to the guard.

    The shares of the false and of the true claims that pass the local scorer alone; or
    of claims in other words, from a file of sources with facts.
    """
    rows = read_rows(data, lambda row: AnswerRow(*(row[f] for f in AnswerRow._fields)))
    rows = [row for row in rows if part in {"all", row.part}]
    if claims:
        rows = [row for source in read_rows(claims, _claims_of) for row in source]
    engines = {
        name: Engine(Policy.read(policy), stage="answer")
        for name, policy in _POLICIES.items()
    }
    tried: list[_Tried] = [
        (row, {name: _passes(row, engine) for name, engine in engines.items()})
        for row in rows
    ]
    kinds = dict.fromkeys(row.kind for row in rows)
    return {
        **_shares(tried),
        "with_contradictions": _shares(tried, "with_contradictions"),
        "by_kind": {
            kind: _shares(case for case in tried if case[0].kind == kind)
            for kind in kinds
        },
        "pairs": len(rows),
        "errors": [
            {
                "kind": f"{'true' if row.supported else 'false'}, {row.kind}",
                "before": row.source,
                "text": row.claim,
                "after": "passed" if passed["grounding"] else "not passed",
            }
            for row, passed in tried
            if passed["grounding"] != row.supported
        ],
    }


def _claims_of(given: Mapping[str, Any]) -> list[AnswerRow]:
    return [
        AnswerRow("other words", "aside", given["source"], claim, name == "right")
        for fact in given["facts"]
        for name in ("right", "wrong")
        for claim in fact[name]
    ]


def _passes(row: AnswerRow, engine: Engine) -> bool:
    """Say whether the guard returns the claim unmarked."""
    draft = Draft("", row.claim, (Passage("source", row.source),))
    checked, _ = engine.run(check_answer(draft, engine, None, now=_NOW))
    return checked.status == "checked"


def _shares(tried: Iterable[_Tried], policy: str = "grounding") -> dict[str, float]:
    passed: dict[bool, list[bool]] = {False: [], True: []}
    for row, outcomes in tried:
        passed[row.supported].append(outcomes[policy])
    return {
        f"{name}_passed": round(sum(values) / max(1, len(values)), 4)
        for name, values in (("false", passed[False]), ("true", passed[True]))
    }
