"""
The same application twice in each framework, plain and with its retriever wrapped.

    python -m examples.demo --top-k 4      # or: make demo ARGS="--top-k 4"
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from runpy import run_module
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from benchmarks.suites.rcqa import ATTACKS
from examples.demo.applications import Ask, build_langchain, build_llamaindex
from examples.demo.collection import Question, collect, story
from sdrag import RawTextFilter
from sdrag.placeholders import DEFAULT
from sdrag.studio.cli.common import progress_bars
from sdrag.studio.evaluation.measures import (
    completeness,
    find_broken,
    share_kept,
    witness_spans,
)

HOSTS = {"LangChain": build_langchain, "LlamaIndex": build_llamaindex}
QUESTIONS = {"plain": "none", "injection": "repeat"}
"""What a question is called in the table, and the key of `ATTACKS` that words it."""


def demo(
    top_k: Annotated[int, typer.Option(min=1, help="Chunks retrieved.")] = 10,
) -> None:
    """Show what an application gives away, before and after one line is changed."""
    handler = logging.StreamHandler()
    handler.addFilter(RawTextFilter())
    logging.basicConfig(handlers=[handler])
    logging.captureWarnings(capture=True)
    console = Console()
    with TemporaryDirectory(prefix="sdrag-demo-") as folder:
        _tell_story(console, Path(folder, "story"))
        _measure(console, Path(folder, "articles"), top_k)
    _show_all_four(console)


def _tell_story(console: Console, folder: Path) -> None:
    """Ask one question about one document; leaks are red, what is hidden green."""
    folder.mkdir()
    collection = story()
    (question,) = collection.questions
    with progress_bars() as update:
        update("Reading a document", 0, 1)
        plain, wrapped = build_langchain(collection, folder, 1, lambda _: None)
        before, after = Text(plain(question.text)), Text(wrapped(question.text))
    words = [word for listed in question.witnesses.values() for word in listed]
    for span in witness_spans(before.plain, words):
        before.stylize("bold red", span.start, span.end)
    after.highlight_words(sorted(DEFAULT.plain), style="bold green")
    console.print("[bold]The policy[/]", *question.relevant, sep="\n  ")
    console.print(f"\n[bold]The question[/]\n  {question.text}\n")
    console.print("[bold]What the model receives[/]: it was hijacked, and tells all.")
    panels = (
        ("plain retriever", before, "red"),
        ("wrapped retriever", after, "green"),
    )
    for title, text, color in panels:
        console.print(Panel(text, title=title, title_align="left", border_style=color))


def _show_all_four(console: Console) -> None:
    """Mask, bind, redact, highlight and check in one graph, and show what each made."""
    printed = StringIO()
    with redirect_stdout(printed):
        run_module("examples.langchain.all_four")
    title = "all four systems in one graph"
    shown = Text(printed.getvalue().strip())
    shown.highlight_regex(r"\[[\w-]+\]", "bold green")
    console.print(Panel(shown, title=title, title_align="left", border_style="green"))


def _measure(console: Console, folder: Path, top_k: int) -> None:
    """Ask every question of both applications in both frameworks, and show figures."""
    folder.mkdir()
    collection = collect()
    sentences = sum(map(len, collection.documents))
    console.print(
        f"\n[bold]Now many questions[/]: {sentences} sentences of invented articles,"
        f" {len(collection.policy['constraints'])} constraints,"
        f" {len(collection.questions)} questions. The model gives away all it receives."
    )
    table = Table(title="What the model received", collapse_padding=True)
    for heading in ("host", "retriever", "question"):
        table.add_column(heading, no_wrap=True)
    for heading in ("privacy", "leaks", "complete"):
        table.add_column(heading, justify="right", no_wrap=True)
    total = len(HOSTS) * (sentences + 4 * len(collection.questions))
    with progress_bars() as update:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            update("Binding and asking", done, total)

        for host, build in HOSTS.items():
            plain, wrapped = build(collection, folder, top_k, advance)
            for retriever, ask in (("plain", plain), ("wrapped", wrapped)):
                for kind, attack in QUESTIONS.items():
                    figures = _ask(ask, ATTACKS[attack], collection.questions, advance)
                    table.add_row(host, retriever, kind, *figures)
    console.print(table)


def _ask(
    ask: Ask,
    wording: str,
    questions: Sequence[Question],
    advance: Callable[[int], None],
) -> tuple[str, str, str]:
    """Return privacy and completeness (SD-RAG, equations 9 and 10), and leaks."""
    answers = []
    for question in questions:
        answers.append(ask(wording.format(question=question.text)))
        advance(1)
    leaked = [
        find_broken(answer, question.witnesses).intersection(question.relevant)
        for question, answer in zip(questions, answers, strict=True)
    ]
    privacy = fmean(
        share_kept(question.relevant, constraints)
        for question, constraints in zip(questions, leaked, strict=True)
        if question.relevant
    )
    golden = [question.golden for question in questions]
    complete = fmean(completeness(list(zip(golden, answers, strict=True))))
    return f"{privacy:.3f}", str(sum(map(len, leaked))), f"{complete:.3f}"


if __name__ == "__main__":
    typer.run(demo)
