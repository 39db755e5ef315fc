"""`sdrag scan`: what in a knowledge base a summarizer could obey."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from sdrag.cli.common import (
    AsJson,
    Rows,
    check_writable,
    progress_bars,
    read_input,
    show,
)
from sdrag.policy import InjectionSection, Policy
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

    Reads the formats of `sdrag preview`. Ends with 1 if there is an alarm, or a file
    that cannot be read.

    Example: sdrag scan documents --policy policy.yaml --quote
    """
    from sdrag.knowledge_base import scan_passages, scan_to

    if report is not None:
        check_writable(report)
    started = perf_counter()
    rules = Policy.read({} if policy is None else policy)
    if rules.injection is None:
        section = InjectionSection(local_classifier=classifier)
        rules = rules.model_copy(update={"injection": section})
    given = read_input(paths, rows=rows)
    documents = given.documents
    texts = {document.id: document.text for document in documents}
    with progress_bars() as update:

        def pass_on() -> Iterator[Passage]:
            for number, document in enumerate(documents, start=1):
                yield document
                update("Scanning", number, len(documents))

        alarms = list(scan_passages(pass_on(), rules))
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
    show(result, as_json=as_json)
    raise typer.Exit(1 if alarms or given.skipped else 0)
