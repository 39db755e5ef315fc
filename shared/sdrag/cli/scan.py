"""`sdrag scan PATH...`: what in a knowledge base a summarizer could obey."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.common import AsJson, check_writable, progress_bar
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.documents import Skipped
    from sdrag.effects.progress import Progress
    from sdrag.vocabulary import Passage

__all__ = ["scan"]


def scan(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.")],
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy, for its highlight and injection sections."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="JSON lines to write: id, span and score.")
    ] = None,
    classifier: Annotated[
        bool,
        typer.Option(help="Read with the local classifier too, not patterns only."),
    ] = False,
    quote: Annotated[
        bool, typer.Option("--quote", help="Print what was found, word for word.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Find what a summarizer could take as an order; no list of attacks is needed.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. Exit code 1 if there is
    an alarm.

    Example: sdrag scan documents --policy policy.yaml --quote
    """
    from sdrag.knowledge_base import scan_passages, scan_to

    if report is not None:
        check_writable(report)
    started = perf_counter()
    skipped: list[Skipped] = []
    documents = _documents(paths, skipped)
    texts = {document.id: document.text for document in documents}
    with progress_bar("Scanning", len(documents)) as update:
        alarms = list(
            scan_passages(_shown(documents, update), _policy(policy, classifier))
        )
    result = {
        "documents": len(documents),
        **scan_to(report, alarms),
        "skipped": [{"path": one.path, "reason": one.reason} for one in skipped],
        "seconds": round(perf_counter() - started, 3),
    }
    for alarm in alarms:
        words = f": {alarm.span.of(texts[alarm.passage_id])}" if quote else ""
        place = f"{alarm.passage_id} {alarm.span.start}-{alarm.span.end}"
        typer.echo(f"{place} {alarm.score:.2f}{words}")
    for one in skipped:
        typer.echo(f"not read: {one.path} {one.reason}")
    typer.echo(f"{result['documents']} documents, {result['alarms']} alarms")
    if as_json:
        typer.echo(json.dumps(result))
    if alarms:
        sys.exit(1)


def _documents(paths: list[Path], skipped: list[Skipped]) -> list[Passage]:
    from sdrag.documents import Skipped, read_documents

    documents = []
    for found in read_documents(paths):
        if isinstance(found, Skipped):
            skipped.append(found)
        else:
            documents.append(found)
    if not documents:
        raise UsageError("There is no document to scan.", hint="See `--help`.")
    return documents


def _shown(documents: list[Passage], update: Progress) -> Iterator[Passage]:
    for number, document in enumerate(documents, start=1):
        yield document
        update(number, len(documents))


def _policy(path: Path | None, classifier: bool) -> dict[str, object]:  # noqa: FBT001 -- an option's value
    """Take of a policy what a scan reads; a constraint may need a model, a scan not."""
    from sdrag.policy import InjectionSection, Policy

    read = Policy.read(path if path is not None else {})
    section = read.injection
    if section is None:
        section = InjectionSection(local_classifier=classifier)
    return {
        "highlight": read.highlight.model_dump(mode="json"),
        "injection": section.model_dump(mode="json", exclude_none=True),
    }
