"""
What leaves in the carriers that people have: JSON, CSV, chats, forms, logs, mail.

Each case is a text under one constraint or two, with the secrets in it, the words
beside them that are to stay, and the form that it must still have: JSON, CSV, YAML, XML
or HTML that its parser reads, with the keys, columns and tags that it had.
"""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import sdrag
from benchmarks.suites.json_files import read_json
from sdrag.errors import ConstraintNotUnderstoodError

_SETS = Path(__file__).parents[1] / "carriers"
_LEAST = 0.95


class TriedCase(NamedTuple):
    """
    A case and what became of it.

    Args:
        case: As it was read.
        released: What left.
        left: Secrets that still stand in it.
        lost: Words that were to stay and are gone.
        broken: Its form is not what it was.
    """

    case: Mapping[str, Any]
    released: str
    left: tuple[str, ...]
    lost: tuple[str, ...]
    broken: bool


def carriers(data: Path | None = None) -> dict[str, Any]:
    """
    Redact JSON, CSV, chats, forms and logs: secrets gone, words kept, form whole.

    For each set `hidden`, the share of secrets that are gone; `kept`, of words that
    stand; `broken` of `forms`; and `under`, the kinds and carriers with less than .95
    of either, each with both shares.
    """
    paths = [data] if data else sorted(_SETS.glob("*.jsonl"))
    tried = {path.stem: [_try(case) for case in read_json(path)] for path in paths}
    figures: dict[str, Any] = {name: _count(cases) for name, cases in tried.items()}
    wrong = (case for cases in tried.values() for case in cases)
    figures["errors"] = [
        {
            "kind": f"{case['carrier']}, {case['kind']}",
            "before": case["text"],
            "text": "; ".join([*left, *(f"-{w}" for w in lost), *["broken"] * broken]),
            "after": released,
        }
        for case, released, left, lost, broken in wrong
        if left or lost or broken
    ]
    return figures


def _count(cases: Iterable[TriedCase]) -> dict[str, Any]:
    counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
    for case, _, left, lost, broken in cases:
        row = (
            len(case["secrets"]) - len(left),
            len(case["secrets"]),
            len(case["keeps"]) - len(lost),
            len(case["keeps"]),
            int(broken),
            int(bool(case["form"])),
        )
        kinds = (("all", ""), ("kind", case["kind"]), ("carrier", case["carrier"]))
        for key in kinds:
            counts[key] = [a + b for a, b in zip(counts[key], row, strict=True)]
    total = counts.pop(("all", ""), [0] * 6)
    shares = {f"{by} {name}": _shares(row) for (by, name), row in counts.items()}
    under = {name: pair for name, pair in shares.items() if min(pair) < _LEAST}
    hidden, kept = _shares(total)
    return {
        "hidden": hidden,
        "kept": kept,
        "broken": total[4],
        "forms": total[5],
        "secrets": total[1],
        "words": total[3],
        "under": dict(sorted(under.items())),
    }


def _shares(row: list[int]) -> tuple[float, float]:
    """Return the share of secrets that are gone, and of words that stand."""
    gone, secrets, kept, words, *_ = row
    return round(gone / max(secrets, 1), 4), round(kept / max(words, 1), 4)


def _try(case: Mapping[str, Any]) -> TriedCase:
    """Redact a case as an application would; of what is refused, nothing is hidden."""
    asked = case.get("constraints") or [case["constraint"]]
    text, form = case["text"], case["form"]
    released = text
    with suppress(ConstraintNotUnderstoodError):
        released = sdrag.explain(text, {"constraints": asked}).released or ""
    left = [each for each in case["secrets"] if each.lower() in released.lower()]
    lost = [each for each in case["keeps"] if each not in released]
    broken = bool(form) and _shape(form, released) != _shape(form, text)
    return TriedCase(case, released, tuple(left), tuple(lost), broken)


def _shape(form: str, text: str) -> Any:
    """Return what must not change: keys, columns, tags; or that nothing reads it."""
    with suppress(ValueError, SyntaxError, yaml.YAMLError, csv.Error):
        return _SHAPES[form[:3]](text, form)
    return "unread"


def _shape_of_rows(text: str, form: str) -> list[int]:
    rows = csv.reader(io.StringIO(text), delimiter=form[3:] or ",")
    return [len(row) for row in rows]


def _shape_of_lines(text: str, form: str) -> Any:
    lines = [text] if form == "json" else filter(None, text.splitlines())
    return [_keys(json.loads(line)) for line in lines]


def _shape_of_tags(text: str, _: str) -> list[tuple[str, list[str]]]:
    tree = ET.fromstring(text)  # noqa: S314 -- texts of this repository
    return [(node.tag, sorted(node.attrib)) for node in tree.iter()]


def _keys(value: Any) -> Any:
    """Return the keys of a value, with how many items its lists have."""
    if isinstance(value, dict):
        return {key: _keys(inner) for key, inner in value.items()}
    return [_keys(inner) for inner in value] if isinstance(value, list) else None


_SHAPES: Mapping[str, Callable[[str, str], Any]] = {
    "csv": _shape_of_rows,
    "jso": _shape_of_lines,
    "yam": lambda text, _: _keys(yaml.safe_load(text)),
    "md": lambda text, _: [line.count("|") for line in text.splitlines()],
    "xml": _shape_of_tags,
    "htm": _shape_of_tags,
}
