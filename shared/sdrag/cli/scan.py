"""`sdrag scan`: what in a knowledge base a summarizer could obey."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.common import (
    AsJson,
    Rows,
    check_writable,
    counted,
    progress_bar,
    read_input,
    show_json,
)

if TYPE_CHECKING:
    from sdrag.effects.progress import Progress
    from sdrag.vocabulary import Passage


def scan(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders to read.")],
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy; its sections highlight and injection are used."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write JSON lines of id, span and score, without text."),
    ] = None,
    classifier: Annotated[
        bool, typer.Option(help="Use the local classifier as well as the patterns.")
    ] = False,
    quote: Annotated[
        bool, typer.Option("--quote", help="Print the suspicious text itself.")
    ] = False,
    rows: Rows = False,
    as_json: AsJson = False,
) -> None:
    """
    Find text in documents that a model could take as an instruction.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. Ends with 1 if there is
    an alarm, or a file that cannot be read.

    Example: sdrag scan documents --policy policy.yaml --quote
    """
    from sdrag.knowledge_base import scan_passages, scan_to

    if report is not None:
        check_writable(report)
    started = perf_counter()
    rules = _policy(policy, classifier)
    given = read_input(paths, rows=rows)
    documents = given.documents
    texts = {document.id: document.text for document in documents}
    with progress_bar("Scanning", len(documents)) as update:
        alarms = list(scan_passages(_shown(documents, update), rules))
    for alarm in alarms:
        words = f": {alarm.span.of(texts[alarm.passage_id])}" if quote else ""
        place = f"{alarm.passage_id} {alarm.span.start}-{alarm.span.end}"
        typer.echo(f"{place} {alarm.score:.2f}{words}")
    result = {
        "documents": len(documents),
        **scan_to(report, alarms),
        **given.as_dict(),
        "seconds": round(perf_counter() - started, 3),
    }
    typer.echo(
        f"{counted(len(documents), 'document')}, {counted(len(alarms), 'alarm')}"
    )
    given.show()
    show_json(result, wanted=as_json)
    raise typer.Exit(1 if alarms or given.skipped else 0)


def _shown(documents: list[Passage], update: Progress) -> Iterator[Passage]:
    for number, document in enumerate(documents, start=1):
        yield document
        update(number, len(documents))


def _policy(path: Path | None, classifier: bool) -> dict[str, object]:  # noqa: FBT001 -- an option's value
    """Take of a policy what a scan reads; a constraint may need a model, a scan not."""
    from sdrag.policy import InjectionSection, Policy

    read = Policy.read(path if path is not None else {})
    section = read.injection or InjectionSection(local_classifier=classifier)
    return {
        "highlight": read.highlight.model_dump(mode="json"),
        "injection": section.model_dump(mode="json", exclude_none=True),
    }
