"""
Draws the picture of the README: one answer before and after, as the demo asks it.

    python benchmarks/tools/before_after.py

It runs the demo's first question and writes docs/images/before-after.svg. The picture
loads nothing from outside, and can be read on light and on dark pages.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from sdrag.cli.demo import in_langchain
from sdrag.cli.demo.collection import story
from sdrag.evaluation.witnesses import witness_spans
from sdrag.policy import DisclosureSection

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "before-after.svg"
_WIDTH, _LINE, _COLUMNS = 760, 24, 74
_STYLE = (
    "text{font:15px ui-monospace,Menlo,Consolas,monospace;fill:#1d2433}"
    ".soft{font-family:system-ui,sans-serif;fill:#657086}"
    ".leak{fill:#b3261e;font-weight:700}.hidden{fill:#1b7a43;font-weight:700}"
)


def answers() -> tuple[str, str]:
    """Return what a hijacked model says, with a plain and with a wrapped retriever."""
    told = story()
    (question,) = told.questions
    with TemporaryDirectory() as folder:
        plain, wrapped = in_langchain.applications(
            told, Path(folder), 1, lambda _: None, lambda _: None, None
        )
        return plain(question.text), wrapped(question.text)


def picture(before: str, after: str) -> str:
    """Return the picture of two answers, as SVG."""
    told = story()
    (question,) = told.questions
    words = [word for listed in question.witnesses.values() for word in listed]
    leaks = [span.of(before) for span in witness_spans(before, words)]
    rows = [
        *_panel("Before: the model that answers receives", before, leaks, "leak", 62),
        *_panel("After: it receives", after, DisclosureSection().marks, "hidden", 182),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 290" '
        f'role="img" aria-label="One answer before and after">'
        f"<style>{_STYLE}</style>"
        f'<rect width="{_WIDTH}" height="290" rx="10" fill="#f5f7fa"/>'
        f'<text x="20" y="34" class="soft">{escape(question.text)}</text>'
        f"{''.join(rows)}</svg>\n"
    )


def _panel(
    title: str, text: str, marked: list[str], kind: str, top: int
) -> Iterator[str]:
    colour = {"leak": "#b3261e", "hidden": "#1b7a43"}[kind]
    yield (
        f'<rect x="20" y="{top - 8}" width="{_WIDTH - 40}" height="108" rx="6" '
        f'fill="#fff" stroke="{colour}"/>'
        f'<text x="34" y="{top + 16}" class="soft">{escape(title)}</text>'
    )
    found = re.compile("|".join(map(re.escape, sorted(marked, key=len, reverse=True))))
    # A marked text is one word while lines are broken.
    joined = found.sub(lambda match: match[0].replace(" ", "\0"), text)
    for number, line in enumerate(textwrap.wrap(joined, _COLUMNS), start=1):
        shown = found.sub(
            lambda match: f'<tspan class="{kind}">{match[0]}</tspan>',
            escape(line.replace("\0", " ")),
        )
        yield f'<text x="34" y="{top + 18 + _LINE * number}">{shown}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(*answers()), encoding="utf-8")
