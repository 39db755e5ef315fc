"""
Writes every page of the documentation that is made from the code.

    python benchmarks/tools/reference.py
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.tools import guards_reference
from benchmarks.tools.reference_of_api import PACKAGES, api_page
from benchmarks.tools.reference_of_commands import command_page
from benchmarks.tools.reference_of_policy import policy_page
from sdrag.policy import policy_schema
from sdrag.privacy.audit_log import event_schema
from sdrag.reasons import GROUPS, WARNED

__all__ = ["DOCS", "pages"]

DOCS = Path(__file__).parents[2] / "docs"


def pages() -> dict[Path, str]:
    """Return the text of each page that is made, by its path."""
    guards = guards_reference.PAGE
    reference = DOCS / "reference"
    made = {
        DOCS / "reasons.md": reasons_page(),
        guards: guards_reference.written(guards.read_text(encoding="utf-8")),
        reference / "policy.md": policy_page(),
        reference / "commands.md": command_page(),
        reference / "policy.schema.json": _as_json(policy_schema()),
        reference / "audit.schema.json": _as_json(event_schema()),
    }
    apis = {reference / "api" / f"{name}.md": api_page(name) for name in PACKAGES}
    return made | apis


def reasons_page() -> str:
    """Return the page `docs/reasons.md`."""
    lines = [
        "# Reasons",
        "",
        "Every decision carries a short code and no text. This page is made from",
        "`sdrag.reasons`: what each code says, and what to do about it. A code of the",
        "injection scan may have before it where the order was hidden, as in",
        "`metadata:base64:override`. Wrappers warn of the codes in bold, once each, on",
        "the logger `sdrag`.",
    ]
    for title, reasons in GROUPS.items():
        lines += ["", f"## {title}", "", "| code | what happened | what to do |"]
        lines += ["|---|---|---|"]
        for code, (happened, mend) in reasons.items():
            name = f"**`{code}`**" if code in WARNED else f"`{code}`"
            lines.append(f"| {name} | {happened} | {mend} |")
    return "\n".join(lines) + "\n"


def _as_json(schema: object) -> str:
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
