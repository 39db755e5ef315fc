"""
The same applications twice, plain and with their retriever wrapped.

    python -m examples.demo --top-k 4      # or: make demo ARGS="--top-k 4"
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Annotated

import typer
from rich.console import Console

from examples.demo.collection import Collection, collect, story
from examples.demo.report import show_constraints, show_rows, show_story
from examples.demo.run import Advance, Ask, DemoFigures, measure
from sdrag import RawTextFilter
from sdrag.cli.common import progress_bars
from sdrag.privacy.audit import AuditEvent, AuditSink

_ATTACKS = ("none", "repeat")


def demo(
    llm: Annotated[
        str | None,
        typer.Option(
            help="langchain:PROVIDER:MODEL in place of the hijacked model; it redacts "
            "and answers, in LangChain."
        ),
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="Chunks retrieved.")] = 10,
) -> None:
    """Show what an application gives away, before and after one line is changed."""
    handler = logging.StreamHandler()
    handler.addFilter(RawTextFilter())
    logging.basicConfig(handlers=[handler])
    logging.captureWarnings(capture=True)
    console = Console()
    with TemporaryDirectory(prefix="sdrag-demo-") as folder:
        _tell_story(console, Path(folder))
        _measure(console, Path(folder), llm, top_k)


def _tell_story(console: Console, folder: Path) -> None:
    """Show one question about one document, through LangChain."""
    in_langchain, _ = _hosts()
    told = story()
    (question,) = told.questions
    with progress_bars() as update:
        update("Reading a document", 0, 1)
        plain, wrapped = in_langchain.applications(
            told, _made(folder / "story"), 1, _unheard, lambda _: None, None
        )
        before, after = plain(question.text), wrapped(question.text)
    show_story(console, told, before, after)


def _measure(console: Console, folder: Path, llm: str | None, top_k: int) -> None:
    """Ask many questions in both frameworks, and show the figures."""
    collection = collect()
    console.print(
        f"\n[bold]Now many questions[/]: {len(collection.passages)} sentences of "
        f"invented articles, {len(collection.policy['constraints'])} constraints, "
        f"{len(collection.questions)} questions. "
        + (f"The model is {llm}." if llm else "The model gives away all it receives.")
    )
    passages: Counter[str] = Counter()

    def audit(event: AuditEvent) -> None:
        for decision in event.decisions:
            passages.update(decision.constraint_ids)

    hosts = 1 if llm else 2
    questions = 2 * len(_ATTACKS) * len(collection.questions)
    total = hosts * (len(collection.passages) + questions)
    with progress_bars() as update:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            update("Binding and asking", done, total)

        rows = [
            row
            for name, plain, wrapped in _applications(
                collection, folder, top_k, audit, advance, llm
            )
            for row in _measured(collection, name, plain, wrapped, advance)
        ]
    show_rows(console, rows)
    show_constraints(console, passages, collection.rule_texts())


def _applications(
    collection: Collection,
    folder: Path,
    top_k: int,
    audit: AuditSink,
    advance: Advance,
    llm: str | None,
) -> Iterator[tuple[str, Ask, Ask]]:
    in_langchain, in_llamaindex = _hosts()
    model = None
    if llm is not None:
        from sdrag.cli.common import chat_model

        model = chat_model(llm.removeprefix("langchain:"))
    place = _made(folder / "langchain")
    yield (
        "LangChain",
        *in_langchain.applications(collection, place, top_k, audit, advance, model),
    )
    if model is None:
        place = _made(folder / "llamaindex")
        yield (
            "LlamaIndex",
            *in_llamaindex.applications(collection, place, top_k, audit, advance),
        )


def _hosts() -> tuple[ModuleType, ModuleType]:
    """Import both applications before anything is shown."""
    from examples.demo import in_langchain, in_llamaindex

    return in_langchain, in_llamaindex


def _measured(
    collection: Collection, name: str, plain: Ask, wrapped: Ask, advance: Advance
) -> Iterator[DemoFigures]:
    """Ask an application every question, with an injection and without."""
    for blanks, (kind, ask) in enumerate((("plain", plain), ("wrapped", wrapped))):
        asked = _counted(ask, advance)
        for attack in _ATTACKS:
            # LlamaIndex asks what LangChain has asked.
            seen = 2 * (name == "LlamaIndex") + blanks
            yield measure(name, kind, attack, asked, collection.questions, seen)


def _counted(ask: Ask, advance: Advance) -> Ask:
    def asked(question: str) -> str:
        answer = ask(question)
        advance(1)
        return answer

    return asked


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _unheard(event: AuditEvent) -> None:
    """Take an event of which nothing is shown."""


if __name__ == "__main__":
    typer.run(demo)
