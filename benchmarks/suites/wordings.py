"""
How officers word constraints, and what becomes of each wording without a model.

A wording comes with a text and the secrets in it. Either the constraint is refused when
the wrapper is built, or the text is redacted under it and its secrets are looked for in
what leaves. Only one result is a failure: accepted, and a secret released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.suites.json_files import DATA, read_rows
from sdrag.disclosure.enforceable import not_understood
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

__all__ = ["TriedWording", "evaluate_wordings", "read_wordings"]

Result = Literal["withheld", "refused", "released"]

_RESULTS: tuple[Result, ...] = ("withheld", "refused", "released")
_FIELDS = frozenset({"id", "group", "expect", "constraint", "text", "secret"})
_BLANKET = "blanket"
_QUESTION = "What does it say?"


class TriedWording(NamedTuple):
    """
    A wording and what became of it.

    Args:
        wording: As it was read.
        result: Refused, or whether its secrets were withheld or released.
        left: What of the text was released.
    """

    wording: Mapping[str, Any]
    result: Result
    left: str


def read_wordings(path: Path | None = None) -> list[dict[str, Any]]:
    """
    Read wordings.

    Args:
        path: A file of JSON lines; the packaged one when missing.

    Raises:
        UsageError: A line is no wording.
    """
    source = path or DATA / "wordings.jsonl"
    return read_rows(source, _wording, f"a wording with {', '.join(sorted(_FIELDS))}")


def _wording(row: dict[str, Any]) -> dict[str, Any]:
    if not row.keys() >= _FIELDS:
        raise KeyError("a field is missing")
    return row


def evaluate_wordings(
    wordings: Sequence[Mapping[str, Any]],
    look: Callable[[Sequence[TriedWording]], None] = lambda _tried: None,
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
    tried = [_try(wording) for wording in wordings]
    look(tried)
    others = [case for case in tried if _is_other(case.wording)]
    groups = dict.fromkeys(case.wording["group"] for case in tried)
    return {
        **_shares(case for case in tried if not _is_other(case.wording)),
        "others": _shares(others),
        "by_group": {
            group: _shares(c for c in tried if c.wording["group"] == group)
            for group in groups
        },
        "cases": len(tried),
    }


def _is_other(wording: Mapping[str, Any]) -> bool:
    return bool(wording["expect"] == "refuse" or wording["group"] == _BLANKET)


def _try(wording: Mapping[str, Any]) -> TriedWording:
    text = str(wording["constraint"])
    if not text.strip():
        return TriedWording(wording, "refused", "")
    if not_understood(Policy.read([text])):
        return TriedWording(wording, "refused", "")
    left = _released(text, str(wording["text"]))
    leaked = any(secret.lower() in left.lower() for secret in wording["secret"])
    return TriedWording(wording, "released" if leaked else "withheld", left)


def _released(constraint: str, text: str) -> str:
    """Return what the pipeline releases of a text under one constraint."""
    engine = Engine({"constraints": [{"text": constraint}]})
    passages = (Passage("wording", text, document_id="wording"),)
    engine.run(bind(passages, engine))
    disclosure, _ = engine.run(disclose(passages, Request(_QUESTION), engine))
    return "\n".join(passage.text for passage in disclosure.passages)


def _shares(tried: Iterable[TriedWording]) -> dict[str, float]:
    count = Counter(case.result for case in tried)
    total = max(1, count.total())
    return {result: round(count[result] / total, 4) for result in _RESULTS}
