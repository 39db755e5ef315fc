"""`sdrag demo`: the same applications twice, plain and with their retriever wrapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status

from sdrag.cli.demo.collection import Collection, collect
from sdrag.cli.demo.report import show_answers, show_constraints, show_rows
from sdrag.cli.demo.run import Ask, DemoFigures, measure
from sdrag.evaluation.witnesses import broken
from sdrag.extras import require_extra
from sdrag.privacy.audit import AuditEvent

__all__ = ["demo"]


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
    console = Console()
    collection = collect()
    console.print(
        f"{len(collection.passages)} sentences of invented articles, "
        f"{len(collection.policy['constraints'])} constraints, "
        f"{len(collection.questions)} questions. The model that answers "
        + ("is " + llm if llm else "was hijacked: it gives away all it receives.")
    )
    passages: Counter[str] = Counter()

    def audit(event: AuditEvent) -> None:
        for decision in event.decisions:
            passages.update(decision.constraint_ids)

    folders = TemporaryDirectory(prefix="sdrag-demo-")
    with folders as folder, console.status("Building the applications") as status:
        built = _applications(collection, Path(folder), top_k, audit, llm)
        rows = list(_measured(collection, built, status))
    shown = _most_telling(collection, rows[1])
    show_answers(
        console,
        collection.questions[shown],
        rows[1].answers[shown],
        rows[3].answers[shown],
    )
    show_rows(console, rows)
    show_constraints(console, passages, collection.rule_texts())


def _applications(
    collection: Collection, folder: Path, top_k: int, audit: Any, llm: str | None
) -> Iterator[tuple[str, Ask, Ask]]:
    with require_extra("all", "The demo"):
        from sdrag.cli.demo import in_langchain, in_llamaindex
    model = None
    if llm is not None:
        from sdrag.cli.models import chat_model

        model = chat_model(llm.removeprefix("langchain:"))
    (folder / "langchain").mkdir()
    yield (
        "LangChain",
        *in_langchain.applications(
            collection, folder / "langchain", top_k, audit, model
        ),
    )
    if model is None:
        (folder / "llamaindex").mkdir()
        yield (
            "LlamaIndex",
            *in_llamaindex.applications(
                collection, folder / "llamaindex", top_k, audit
            ),
        )


def _measured(
    collection: Collection, built: Iterable[tuple[str, Ask, Ask]], status: Status
) -> Iterator[DemoFigures]:
    """Ask every application every question, with an injection and without."""
    for name, plain, wrapped in built:
        for kind, ask in (("plain", plain), ("wrapped", wrapped)):
            for attack in ("none", "repeat"):
                status.update(f"Asking {name} with its {kind} retriever")
                yield measure(name, kind, attack, ask, collection.questions)


def _most_telling(collection: Collection, row: DemoFigures) -> int:
    """Return the place of the question whose answer gives most away."""
    return max(
        range(len(row.answers)),
        key=lambda place: len(
            broken(
                row.answers[place],
                collection.questions[place].witnesses,
                collection.questions[place].relevant,
            )
        ),
    )
