"""
How officers word constraints, and what becomes of each wording without a model.

A wording comes with a text and the secrets in it. Either the constraint is refused when
the wrapper is built, or the text is redacted under it and its secrets are looked for in
what leaves. Only one result is a failure: accepted, and a secret released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import sdrag
from benchmarks.suites.json_files import DATA, read_rows
from sdrag.disclosure.enforceable import not_understood
from sdrag.policy import Policy

Result = Literal["withheld", "refused", "released"]
_RESULTS: tuple[Result, ...] = ("withheld", "refused", "released")
_FIELDS = ("id", "group", "expect", "constraint", "text", "secret")
_Tried = tuple[Mapping[str, Any], Result, str]
"""A wording, what became of it, and what of its text was released."""


def wordings(data: Path = DATA / "wordings.jsonl") -> dict[str, Any]:
    """
    Try wordings of constraints on texts, with the local engine alone.

    The shares of what was withheld, refused and released: of the wordings that can be
    enforced, of the `others` (those to be refused, and blanket ones), and by group.
    """
    tried = [_try(wording) for wording in read_wordings(data)]
    groups = dict.fromkeys(wording["group"] for wording, _, _ in tried)
    return {
        **_shares(case for case in tried if not _is_other(case[0])),
        "others": _shares(case for case in tried if _is_other(case[0])),
        "by_group": {
            group: _shares(case for case in tried if case[0]["group"] == group)
            for group in groups
        },
        "cases": len(tried),
        "errors": [
            {
                "kind": f"{result}, {wording['group']}",
                "before": wording["constraint"],
                "text": "; ".join(wording["secret"]),
                "after": left,
            }
            for wording, result, left in tried
            if result == "released"
            or (result == "refused" and wording["expect"] == "enforce")
        ],
    }


def read_wordings(path: Path) -> list[dict[str, Any]]:
    """Read rows with `id`, `group`, `expect`, `constraint`, `text` and `secret`."""
    return read_rows(path, lambda row: {field: row[field] for field in _FIELDS})


def _is_other(wording: Mapping[str, Any]) -> bool:
    return bool(wording["expect"] == "refuse" or wording["group"] == "blanket")


def _try(wording: Mapping[str, Any]) -> _Tried:
    rule = str(wording["constraint"])
    if not rule.strip() or not_understood(Policy.read([rule])):
        return wording, "refused", ""
    left = sdrag.explain(wording["text"], {"constraints": [rule]}).released or ""
    leaked = any(secret.lower() in left.lower() for secret in wording["secret"])
    return wording, "released" if leaked else "withheld", left


def _shares(tried: Iterable[_Tried]) -> dict[str, float]:
    count = Counter(result for _, result, _ in tried)
    total = max(1, count.total())
    return {result: round(count[result] / total, 4) for result in _RESULTS}
