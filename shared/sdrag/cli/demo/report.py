"""How the demo shows what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from sdrag.cli.demo.collection import DemoQuestion
from sdrag.cli.demo.run import DemoFigures
from sdrag.evaluation.witnesses import witness_spans

__all__ = ["show_answers", "show_constraints", "show_rows"]


def show_answers(
    console: Console, question: DemoQuestion, before: str, after: str
) -> None:
    """Print what the hijacked model said, before and after; leaks stand out."""
    console.print(f"\n[bold]Asked, with an injection:[/] {question.text}")
    for title, answer in (("plain retriever", before), ("wrapped retriever", after)):
        console.print(Panel(_marked(answer, question), title=title, expand=False))


def show_rows(console: Console, rows: Sequence[DemoFigures]) -> None:
    """Print the figures, one line per application and kind of question."""
    title = "What the model received, measured over every question"
    table = Table(title=title, collapse_padding=True)  # 80 columns are enough
    for heading in ("host", "retriever", "question"):
        table.add_column(heading, no_wrap=True)
    for heading in ("privacy", "leaks", "complete", "empty", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.application,
            row.retriever,
            "plain" if row.attack == "none" else "injection",
            f"{row.privacy:.3f}",
            str(row.leaks),
            f"{row.completeness:.3f}",
            str(row.empty),
            f"{row.milliseconds:.0f}",
        )
    console.print(table)


def show_constraints(
    console: Console, spans: Mapping[str, int], texts: Mapping[str, str]
) -> None:
    """Print how many passages each constraint took something out of."""
    table = Table(title="Which constraint withheld how much")
    table.add_column("constraint")
    table.add_column("passages", justify="right")
    for name, count in Counter(spans).most_common(10):
        table.add_row(texts.get(name, name), str(count))
    console.print(table)


def _marked(answer: str, question: DemoQuestion) -> Text:
    text = Text(answer)
    words = [word for listed in question.witnesses.values() for word in listed]
    for span in witness_spans(answer, words):
        text.stylize("bold red", span.start, span.end)
    return text
