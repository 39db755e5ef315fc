"""`sdrag preview`: what would be withheld from documents or from one text, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    check_writable,
    complete_with,
    counted,
    progress_bar,
    write_whole,
)
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.documents import Skipped
    from sdrag.explanation import Explainer, Explanation
    from sdrag.reports.preview_report import Preview
    from sdrag.vocabulary import Passage, Principal

__all__ = ["preview"]

_AT_ONCE = 20
"""So many chunks are read between two steps of the bar."""
_MAX_BYTES = 1_000_000


def preview(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files or folders; stdin when missing.", show_default=False
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(help="One text, not a file.")] = None,
    html: Annotated[Path | None, typer.Option(help="A page to write.")] = None,
    role: Annotated[
        list[str] | None, typer.Option("--as", help="A role of who asks; repeatable.")
    ] = None,
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = LOCAL,
    as_json: AsJson = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. The page holds the
    documents themselves, and only its owner can read it: keep it where they may be
    kept. Of one text, from --text or stdin, the text itself is shown.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    from sdrag.explanation import Explainer
    from sdrag.explanation import explain as explain_text
    from sdrag.reports.preview_report import Preview
    from sdrag.vocabulary import Principal

    read = Policy.read(policy)
    explainer = Explainer(read, complete=complete_with(llm, "--llm"))
    asker = Principal("preview", roles=frozenset(role)) if role else None
    if not paths or text is not None:
        if paths or html is not None:
            raise UsageError("--text and stdin take no files and no --html.")
        given = _stdin() if text is None else text
        if not given.strip():
            raise UsageError(
                "There is no text.", hint="Name files, or give --text or text on stdin."
            )
        one = explain_text(
            given,
            read,
            principal=asker,
            complete=complete_with(llm, "--llm"),
        )
        _show_text(one)
        if as_json:
            typer.echo(json.dumps({"spans": one.as_dict()["spans"]}))
        return
    if html is not None:
        check_writable(html)
    started = perf_counter()
    documents, skipped = _read(paths)
    explained = _explain(documents, explainer, asker)
    previewed = Preview(
        {rule.id: rule.text for rule in read.rules},
        explainer.refused,
        explained,
        skipped,
        len(documents),
    )
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


def _read(paths: list[Path]) -> tuple[list[list[Passage]], list[Skipped]]:
    """Return the chunks of each document, and what cannot be read."""
    from sdrag.documents import Skipped, chunks_of, read_documents

    documents: list[list[Passage]] = []
    skipped: list[Skipped] = []
    for found in read_documents(paths):
        if isinstance(found, Skipped):
            skipped.append(found)
        else:
            documents.append(list(chunks_of(found)))
    if not any(documents):
        reasons = "; ".join(f"{file.path!r} {file.reason}" for file in skipped[:5])
        raise UsageError(
            "There is no document to preview.",
            hint=f"Not read: {reasons}." if reasons else "See `--help`.",
        )
    return documents, skipped


def _explain(
    documents: list[list[Passage]], explainer: Explainer, asker: Principal | None
) -> list[Explanation]:
    """Explain the documents, some at a time."""
    total = sum(map(len, documents))
    explanations: list[Explanation] = []
    some: list[Passage] = []
    with progress_bar("Reading", total) as update:
        for chunks in documents:
            some += chunks
            if len(some) >= _AT_ONCE:
                explanations += explainer.explain(some, asker)
                some = []
                update(len(explanations), total)
        if some:
            explanations += explainer.explain(some, asker)
        update(total, total)
    return explanations


def _stdin() -> str:
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UsageError(
            f"The text is longer than {_MAX_BYTES:,} bytes.", hint="Name a file."
        )
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UsageError("The text on stdin is not UTF-8.") from None
    return text


def _show_text(explanation: Explanation) -> None:
    """Print what leaves of a text, then each span with its reason."""
    if explanation.released is None:
        typer.echo(f"withheld ({explanation.reason})\n")
    else:
        typer.echo(f"{explanation.released}\n")
    for heading, spans in (
        ("hidden", explanation.spans),
        ("considered and shown", explanation.left),
    ):
        if spans:
            typer.echo(f"{heading}:")
        for found in spans:
            value = json.dumps(found.span.of(explanation.text), ensure_ascii=False)
            typer.echo(f"  {value}  {found.constraint_id}: {found.why}")
    if not explanation.spans:
        typer.echo("Nothing is hidden.")


def _lines(previewed: Preview, html: Path | None) -> Iterator[str]:
    yield (
        f"{counted(previewed.documents, 'document')}, "
        f"{counted(len(previewed.explanations), 'chunk')}: "
        f"{previewed.hidden_share:.1%} of the text is hidden, "
        f"{counted(previewed.withheld, 'chunk')} withheld."
    )
    for name, counts in previewed.by_constraint().items():
        if name in previewed.refused:
            yield f"  {name}: not enforced; {previewed.refused[name]}"
        else:
            spans = counted(counts["spans"], "span")
            yield f"  {name}: {spans} in {counted(counts['chunks'], 'chunk')}"
    for file in previewed.skipped:
        yield f"  not read: {file.path!r} {file.reason}"
    if html is not None:
        yield f"Open {html} in a browser."
