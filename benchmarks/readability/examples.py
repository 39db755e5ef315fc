"""
Measure policies with examples and without, on documents that the examples are not of.

Each policy is a folder: `policy.yaml`; the documents, beside it or in a folder of it;
`phrases.jsonl`, whose rows have `file`, `constraint`, `hide` and `keep`; and
`examples.jsonl`, whose rows have `constraint`, `examples` and `keeps`, sentences that
stay. A constraint is named by its id or by its words. What counts as left, lost and
broken stands in `measure`; a document that holds an example is not measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.readability.documents import Rules, find_places
from benchmarks.readability.measure import add_up, measure
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.studio.documents.reading import read_files
from sdrag.text.folding import fold_text

_KEPT = ("text", "sensitivity", "keep")


def measure_folder(
    folder: Path, sensitivity: str | None = None, *, each: bool = False
) -> dict[str, Any]:
    """
    Measure every policy of a folder.

    Args:
        folder: Of policies.
        sensitivity: The policy's own when missing.
        each: Also give what is left, lost and broken in each document.
    """
    names = sorted(path.parent for path in folder.glob("**/policy.yaml"))
    if not names:
        raise UsageError(f"{folder} has no policy.yaml in it.", hint="Name a folder.")
    figures: dict[str, Any] = {}
    for label, taught in (("without", False), ("with", True)):
        rows = [
            {
                "document": f"{name.name}/{document['id']}",
                "unknown": document["unknown"],
            }
            | measure(document, rules if taught else _forget(rules), sensitivity, None)
            for name in names
            for rules, documents in [read_policy(name)]
            for document in documents
        ]
        total = add_up(rows)
        clean = total["clean_broken"]
        figures[label] = {
            "secrets_left": total["secrets_left"],
            "harmless_lost": total["harmless_lost"],
            "clean_intact": [clean[1] - clean[0], clean[1]],
            "hidden": total["hidden"],
            "not_in_text": sum(row["unknown"] for row in rows),
        }
        if each:
            figures[label]["each"] = rows
    return {"policies": len(names), **figures}


def _forget(rules: Rules) -> Rules:
    return [{k: v for k, v in rule.items() if k != "examples"} for rule in rules]


def read_policy(folder: Path) -> tuple[Rules, list[dict[str, Any]]]:
    """Read the rules of a policy, with their examples, and the documents to measure."""
    policy = Policy.read(folder / "policy.yaml")
    shown = [*_rows(folder / "examples.jsonl")]
    rules = []
    for entry in policy.constraints:
        own = entry.model_dump(include={*_KEPT}, exclude_defaults=True)
        listed = [row for row in shown if row["constraint"] in (entry.id, entry.text)]
        rules.append({"id": entry.id, **own, "examples": [*_examples(listed)]})
    texts = [fold_text(e["text"]) for rule in rules for e in rule["examples"]]
    ids = {entry.text: entry.id for entry in policy.constraints}
    documents: dict[str, dict[str, Any]] = {}
    for row in _rows(folder / "phrases.jsonl"):
        name = row["file"]
        if name not in documents:
            empty: dict[str, Any] = {"go": [], "stay": [], "absent": []}
            documents[name] = {"id": name, "text": _text_of(folder, name), **empty}
        document = documents[name]
        hide, keep = (_listed(row.get(key)) for key in ("hide", "keep"))
        ref = ids.get(row["constraint"], row["constraint"])
        document["go"].append({"constraint": ref, "phrases": hide})
        document["stay"] += keep
    return rules, [
        _check(document)
        for document in documents.values()
        if not any(text in fold_text(document["text"]) for text in texts)
    ]


def _examples(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        for example in row.get("examples", ()):
            yield {"text": example["text"], "hides": _listed(example["hides"])}
        for sentence in _listed(row.get("keeps")):
            yield {"text": sentence, "keeps": [sentence]}


def _check(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out phrases that the text does not have, and harmless ones in secrets."""
    text = document["text"]
    listed = [*document["stay"], *(p for e in document["go"] for p in e["phrases"])]
    document["unknown"] = sum(not find_places(text, each) for each in listed)
    for entry in document["go"]:
        entry["phrases"] = [p for p in entry["phrases"] if find_places(text, p)]
    secrets = [p for entry in document["go"] for p in entry["phrases"]]
    taken = find_places(text, *secrets)
    document["stay"] = [
        phrase
        for phrase in dict.fromkeys(document["stay"])
        for places in [find_places(text, phrase)]
        if places and not any(a < e and s < b for a, b in taken for s, e in places)
    ]
    return document


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [*(value or ())]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _text_of(folder: Path, name: str) -> str:
    tried = (folder / name, folder / "documents" / name)
    path = next((path for path in tried if path.is_file()), tried[0])
    read = read_files([path])
    return "\n\n".join(passage.text for passage in read.documents)
