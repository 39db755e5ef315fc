"""`sdrag preview POLICY PATH...`: what would be withheld from documents, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.models import complete_with
from sdrag.cli.options import AsJson
from sdrag.cli.progress_bar import progress_bar
from sdrag.cli.writing import check_writable, write_whole
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.explanation import Explainer
    from sdrag.reports.preview_report import Preview
    from sdrag.vocabulary import Passage, Principal

__all__ = ["preview"]

_AT_ONCE = 50
"""So many chunks are read between two steps of the bar."""


def preview(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.")],
    html: Annotated[Path | None, typer.Option(help="A page to write.")] = None,
    role: Annotated[
        list[str] | None, typer.Option("--as", help="A role of who asks; repeatable.")
    ] = None,
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    as_json: AsJson = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .pdf .docx. The page holds the documents
    themselves: keep it where they may be kept.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    from sdrag.explanation import Explainer
    from sdrag.vocabulary import Principal

    read = Policy.read(policy)
    explainer = Explainer(read, complete=complete_with(llm, "--llm"))
    if html is not None:
        check_writable(html)
    asker = Principal("preview", roles=frozenset(role)) if role else None
    started = perf_counter()
    previewed = _previewed(paths, read, explainer, asker)
    if html is not None:
        from sdrag.reports.preview_report import render_preview

        write_whole(html, render_preview(previewed))
    result = {
        "documents": previewed.documents,
        "chunks": len(previewed.explanations),
        "withheld_chunks": previewed.withheld,
        "hidden_share": round(previewed.hidden_share, 4),
        "constraints": previewed.by_constraint(),
        "refused": dict(previewed.refused),
        "skipped": [
            {"path": file.path, "reason": file.reason} for file in previewed.skipped
        ],
        "seconds": round(perf_counter() - started, 3),
    }
    for line in _lines(previewed, html):
        typer.echo(line)
    if as_json:
        typer.echo(json.dumps(result))


def _previewed(
    paths: list[Path], policy: Policy, explainer: Explainer, asker: Principal | None
) -> Preview:
    """Read the documents and explain them, some chunks at a time."""
    from sdrag.documents import Skipped, chunks_of, read_documents
    from sdrag.reports.preview_report import Preview

    previewed = Preview(
        {rule.id: rule.text for rule in policy.rules}, explainer.refused
    )
    chunks: list[Passage] = []
    for found in read_documents(paths):
        if isinstance(found, Skipped):
            previewed.skipped.append(found)
        else:
            previewed.documents += 1
            chunks += chunks_of(found)
    if not chunks:
        raise UsageError("There is no document to preview.", hint="See `--help`.")
    with progress_bar("Reading", len(chunks)) as update:
        for some in _by_documents(chunks):
            previewed.explanations += explainer.explain(some, asker)
            update(len(previewed.explanations), len(chunks))
    return previewed


def _by_documents(chunks: list[Passage]) -> Iterator[list[Passage]]:
    """Yield the chunks of whole documents, some documents at a time."""
    some: list[Passage] = []
    for _, document in groupby(chunks, key=lambda chunk: chunk.document_id):
        some += document
        if len(some) >= _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _lines(previewed: Preview, html: Path | None) -> Iterator[str]:
    yield (
        f"{previewed.documents} documents, {len(previewed.explanations)} chunks: "
        f"{previewed.hidden_share:.1%} of the text is hidden, "
        f"{previewed.withheld} chunks are withheld."
    )
    for name, counts in previewed.by_constraint().items():
        if name in previewed.refused:
            yield f"  {name}: not enforced; {previewed.refused[name]}"
        else:
            yield f"  {name}: {counts['spans']} spans in {counts['chunks']} chunks"
    for file in previewed.skipped:
        yield f"  not read: {file.path} {file.reason}"
    if html is not None:
        yield f"Open {html} in a browser."
