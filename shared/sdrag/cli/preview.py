"""`sdrag preview`: what would be withheld from documents or from one text, and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    Llm,
    Rows,
    check_writable,
    complete_with,
    counted,
    progress_bar,
    read_input,
    show_json,
    write_whole,
)
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.explanation import Explainer, Explanation
    from sdrag.reports.preview import Preview
    from sdrag.vocabulary import Passage, Principal

_AT_ONCE = 20
"""So many chunks are read between two steps of the bar."""
_MAX_BYTES = 1_000_000


def preview(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files or folders to read; without one, the text on stdin.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A text to read instead of files.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page that shows the spans in colour.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--as", help="A role of whoever asks; may be repeated."),
    ] = None,
    rows: Rows = False,
    llm: Llm = LOCAL,
    as_json: AsJson = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. What is not read of a
    file is counted. A file that cannot be read is listed, and the command then ends
    with 1. The page holds the documents unredacted, and only its owner can open it. Of
    one text, from --text or stdin, the spans are printed.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    read = Policy.read(policy)
    asker = _principal(role)
    if not paths or text is not None:
        if paths or html is not None:
            raise UsageError("--text and stdin take no files and no --html.")
        _preview_text(_stdin() if text is None else text, read, asker, llm, as_json)
        return
    if html is not None:
        check_writable(html)
    from sdrag.documents import chunks_of
    from sdrag.explanation import Explainer
    from sdrag.reports.preview import Preview, render_preview

    started = perf_counter()
    explainer = Explainer(read, complete=complete_with(llm, "--llm"))
    given = read_input(paths, rows=rows)
    chunks = [list(chunks_of(document)) for document in given.documents]
    previewed = Preview(
        {rule.id: rule.text for rule in read.rules},
        explainer.refused,
        _explain(chunks, explainer, asker),
        [*given.remarks, *((file.path, file.reason) for file in given.skipped)],
        len(chunks),
    )
    if html is not None:
        write_whole(html, render_preview(previewed))
    _show(previewed)
    given.show()
    if html is not None:
        typer.echo(f"Open {html} in a browser.")
    result = {
        "documents": previewed.documents,
        "chunks": len(previewed.explanations),
        "withheld_chunks": previewed.withheld,
        "hidden_share": round(previewed.hidden_share, 4),
        "constraints": previewed.by_constraint(),
        "refused": dict(previewed.refused),
        **given.as_dict(),
        "seconds": round(perf_counter() - started, 3),
    }
    show_json(result, wanted=as_json)
    raise typer.Exit(1 if given.skipped else 0)


def _principal(roles: list[str] | None) -> Principal | None:
    from sdrag.vocabulary import Principal

    return Principal("preview", roles=frozenset(roles)) if roles else None


def _explain(
    documents: list[list[Passage]], explainer: Explainer, asker: Principal | None
) -> list[Explanation]:
    """Explain the documents, some at a time; the chunks of one stay together."""
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


def _show(previewed: Preview) -> None:
    typer.echo(
        f"{counted(previewed.documents, 'document')}, "
        f"{counted(len(previewed.explanations), 'chunk')}: "
        f"{previewed.hidden_share:.1%} of the text is hidden, "
        f"{counted(previewed.withheld, 'chunk')} withheld."
    )
    for name, counts in previewed.by_constraint().items():
        if name in previewed.refused:
            typer.echo(f"  {name}: not enforced; {previewed.refused[name]}")
        else:
            spans = counted(counts["spans"], "span")
            typer.echo(f"  {name}: {spans} in {counted(counts['chunks'], 'chunk')}")


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


def _preview_text(
    text: str,
    policy: Policy,
    asker: Principal | None,
    llm: str,
    as_json: bool,  # noqa: FBT001 -- an option's value
) -> None:
    """Print what leaves of a text, then each span with its reason."""
    from sdrag.explanation import explain

    if not text.strip():
        raise UsageError(
            "There is no text.", hint="Name files, or give --text or text on stdin."
        )
    complete = complete_with(llm, "--llm")
    explanation = explain(text, policy, principal=asker, complete=complete)
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
        for explained in spans:
            words = json.dumps(explained.span.of(text), ensure_ascii=False)
            typer.echo(f"  {words}  {explained.constraint_id}: {explained.why}")
    if not explanation.spans:
        typer.echo("Nothing is hidden.")
    show_json({"spans": explanation.as_dict()["spans"]}, wanted=as_json)
