"""
How officers word constraints, and what becomes of each wording without a model.

A wording comes with a text and the secrets in it. Either the constraint is refused when
the wrapper is built, or the text is redacted under it and its secrets are looked for in
what leaves. Only one outcome is a failure: accepted, and a secret released.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sdrag.disclosure.constraint_parser import parse
from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.steps import run
from sdrag.errors import UsageError
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.vocabulary import Constraint, Passage
from sdrag.wrapper_setup import local_embeddings

__all__ = ["Judged", "evaluate_wordings", "read_wordings"]

Outcome = Literal["withheld", "refused", "released"]

_OUTCOMES: tuple[Outcome, ...] = ("withheld", "refused", "released")
_FIELDS = frozenset({"id", "group", "expect", "constraint", "text", "secret"})
_BLANKET = "blanket"
_QUESTION = "What does it say?"


class Judged(NamedTuple):
    """
    A wording and what became of it.

    Args:
        wording: As it was read.
        outcome: Refused, or whether its secrets were withheld or released.
        left: What of the text was released.
    """

    wording: Mapping[str, Any]
    outcome: Outcome
    left: str


def read_wordings(path: Path | None = None) -> list[dict[str, Any]]:
    """
    Read wordings.

    Args:
        path: A file of JSON lines; the packaged one when missing.

    Raises:
        UsageError: If a line is no wording.
    """
    source = path or files("sdrag.evaluation").joinpath("wordings.jsonl")
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
        wordings = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError):
        raise UsageError("The wordings cannot be read as JSON lines.") from None
    for place, wording in enumerate(wordings, start=1):
        if not isinstance(wording, dict) or not wording.keys() >= _FIELDS:
            raise UsageError(
                f"Line {place} is no wording.",
                hint=f"Each needs {', '.join(sorted(_FIELDS))}.",
            )
    return wordings


def evaluate_wordings(
    wordings: Sequence[Mapping[str, Any]],
    look: Callable[[Sequence[Judged]], None] = lambda _judged: None,
) -> dict[str, Any]:
    """
    Try every wording on its text, with the local engine alone.

    Args:
        wordings: As `read_wordings` gives them.
        look: Is handed what became of each.

    Returns:
        The shares of what was withheld, refused and released: of the wordings that can
        be enforced, of the `others` (those to be refused, and blanket ones), and of
        each group.
    """
    judged = [_judge(wording) for wording in wordings]
    look(judged)
    others = [case for case in judged if _is_other(case.wording)]
    groups = dict.fromkeys(case.wording["group"] for case in judged)
    return {
        **_shares(case for case in judged if not _is_other(case.wording)),
        "others": _shares(others),
        "by_group": {
            group: _shares(c for c in judged if c.wording["group"] == group)
            for group in groups
        },
        "cases": len(judged),
    }


def _is_other(wording: Mapping[str, Any]) -> bool:
    return bool(wording["expect"] == "refuse" or wording["group"] == _BLANKET)


def _judge(wording: Mapping[str, Any]) -> Judged:
    text = str(wording["constraint"])
    if not text.strip():
        return Judged(wording, "refused", "")
    if parse(Constraint("wording", text)).status == "needs_model":
        return Judged(wording, "refused", "")
    left = _released(text, str(wording["text"]))
    told = any(secret.lower() in left.lower() for secret in wording["secret"])
    return Judged(wording, "released" if told else "withheld", left)


def _released(constraint: str, text: str) -> str:
    """Return what the pipeline releases of a text under one constraint."""
    engine = Engine.build({"constraints": [{"text": constraint}]})
    runner = PortRunner(Ports(embed=local_embeddings()))
    passages = (Passage("wording", text, document_id="wording"),)
    run(bind(passages, engine), runner)
    disclosure = run(disclose(passages, Request(_QUESTION), engine), runner)
    return "\n".join(passage.text for passage in disclosure.passages)


def _shares(judged: Iterable[Judged]) -> dict[str, float]:
    count = Counter(case.outcome for case in judged)
    total = max(1, count.total())
    return {outcome: round(count[outcome] / total, 4) for outcome in _OUTCOMES}
