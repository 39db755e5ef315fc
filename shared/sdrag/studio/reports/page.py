"""An HTML page of one file: no script, no link outside, every value escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files

_CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is HTML already."""

    html: str


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole document."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}"><meta '
        f'name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_style()}</style><body>{''.join(body)}</body></html>\n"
    )


def card(value: object, name: str) -> str:
    """Return one figure with its name."""
    return f'<div class="card"><b>{escape(str(value))}</b>{escape(name)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; numbers stand at the right."""
    held = [list(row) for row in rows]
    kinds = [isinstance(value, int) for value in held[0]] if held else []
    head = "".join(
        f"<th{' class=n' if number else ''}>{escape(name)}</th>"
        for name, number in zip(heads, kinds or [False] * len(heads), strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in held)
    return f"<table><tr>{head}</tr>{body}</table>"


def rest(count: int, shown: int) -> str:
    """Say how many rows a table leaves out."""
    more = count - shown
    return f'<p class="soft">and {more:,} more.</p>' if more > 0 else ""


@lru_cache(maxsize=1)
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return f"<td>{value.html}</td>"
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
