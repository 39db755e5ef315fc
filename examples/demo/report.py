"""How the demo shows what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from examples.demo.collection import Collection, DemoQuestion
from examples.demo.run import DemoFigures
from sdrag.evaluation.measures import witness_spans
from sdrag.policy import DisclosureSection

__all__ = ["show_constraints", "show_rows", "show_story"]

_MARKS = DisclosureSection().marks


def show_story(
    console: Console, collection: Collection, before: str, after: str
) -> None:
    """Print one answer before and after; what leaks is red, what is hidden green."""
    (question,) = collection.questions
    console.print("[bold]The policy[/]")
    for text in collection.rule_texts().values():
        console.print(f"  {text}")
    console.print(
        f"\n[bold]The question[/]\n  {question.text}\n\n"
        "[bold]What the model receives[/]: it was hijacked, and tells all of it."
    )
    shown = (
        ("plain retriever", _leaks(before, question), "red"),
        ("wrapped retriever", _hidden(after), "green"),
    )
    for title, answer, colour in shown:
        console.print(
            Panel(answer, title=title, title_align="left", border_style=colour)
        )


def show_rows(console: Console, rows: Sequence[DemoFigures]) -> None:
    """Print the figures, one line per application and kind of question."""
    title = "What the model received; first and warm question in milliseconds"
    table = Table(title=title, collapse_padding=True)  # 80 columns are enough
    for heading in ("host", "retriever", "question"):
        table.add_column(heading, no_wrap=True)
    for heading in ("privacy", "leaks", "complete", "first", "warm"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.application,
            row.retriever,
            "plain" if row.attack == "none" else "injection",
            f"{row.privacy:.3f}",
            str(row.leaks),
            f"{row.completeness:.3f}",
            f"{row.first:.0f}",
            f"{row.warm:.0f}",
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


def _leaks(answer: str, question: DemoQuestion) -> Text:
    text = Text(answer)
    words = [word for listed in question.witnesses.values() for word in listed]
    for span in witness_spans(answer, words):
        text.stylize("bold red", span.start, span.end)
    return text


def _hidden(answer: str) -> Text:
    text = Text(answer)
    text.highlight_words(_MARKS, style="bold green")
    return text
