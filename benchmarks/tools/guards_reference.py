"""Makes the table of guards in `docs/guardrails.md`, from the one in the code."""

from __future__ import annotations

from pathlib import Path

from sdrag.policy import GUARDS

__all__ = ["PAGE", "reference", "written"]

PAGE = Path(__file__).parents[2] / "docs" / "guardrails.md"
_BEGIN, _END = "<!-- guards: begin -->\n", "<!-- guards: end -->\n"


def reference() -> str:
    """Return the table, a row for each guard at each stage."""
    rows = [
        f"| `{guard.section}` | {guard.stage} | {guard.does} |"
        f" {f'`{guard.judge}`' if guard.judge else ''} |"
        for guard in GUARDS
    ]
    return "\n".join(
        ["| section | stage | what it does | judge |", "|---|---|---|---|", *rows, ""]
    )


def written(page: str) -> str:
    """Return the page with the table between its two marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}{reference()}{_END}{after}"
