"""`sdrag preview`: what would be withheld from documents or from one text, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    Rows,
    check_writable,
    llm_of,
    progress_bars,
    read_input,
    show,
    write_private,
)
from sdrag.effects.progress import batched
from sdrag.errors import ConstraintNotUnderstoodError, UsageError
from sdrag.policy import Policy
from sdrag.vocabulary import Passage, Principal

if TYPE_CHECKING:
    from sdrag.cli.common import Input
    from sdrag.explanation import Explainer, Explanation
    from sdrag.reports.preview import Preview

_AT_ONCE = 20
"""So many documents are read between two steps of the bar."""
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
    against: Annotated[
        Path | None,
        typer.Option(help="Another policy: show what changes between them."),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--as", help="A role of the principal; may be repeated."),
    ] = None,
    rows: Rows = False,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    as_json: AsJson = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. What is not read of a
    file is counted. A file that cannot be read is listed, and so are a constraint that
    is not enforced and how a model failed; the command then ends with 1. The page holds
    the documents unredacted, and only its owner can open it. Of one text, from --text
    or stdin, the spans are printed.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    from sdrag.explanation import Explainer

    asker = Principal("preview", roles=frozenset(role)) if role else None
    rules = Policy.read(policy)
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    explainer = Explainer(rules, complete=model)
    if text is None and paths:
        if html is not None:
            check_writable(html)
        explainers = {str(policy): explainer}
        if against is not None:
            other = Explainer(Policy.read(against), complete=model)
            explainers[f"{against} (other)" if against == policy else str(against)] = (
                other
            )
        given = read_input(paths, rows=rows)
        started = perf_counter()
        previewed = _read(given, rules, explainers, asker)
        if html is not None:
            from sdrag.reports.preview import render_preview

            write_private(html, render_preview(previewed))
        failures = dict(explainer.model_failures)
        result = {
            **_figures(previewed),
            **given.as_dict(),
            "model_failures": failures,
            "seconds": round(perf_counter() - started, 3),
        }
        show(result, as_json=as_json)
        raise typer.Exit(1 if given.skipped or failures or previewed.refused else 0)
    if paths or html is not None or against is not None:
        raise UsageError("--text and stdin take no files, no --html and no --against.")
    if explainer.refused:
        raise ConstraintNotUnderstoodError(explainer.refused)
    passage = Passage("text", _stdin() if text is None else text)
    (explanation,) = explainer.explain([passage], asker)
    _show_text(explanation)
    result = {"model_failures": dict(explainer.model_failures)}
    show(result, as_json=False)
    if as_json:
        spans = explanation.as_dict()["spans"]
        typer.echo(json.dumps({"spans": spans, **result}))
    raise typer.Exit(1 if explainer.model_failures else 0)


def _read(
    given: Input,
    rules: Policy,
    explainers: Mapping[str, Explainer],
    asker: Principal | None,
) -> Preview:
    """Explain documents under a policy, and under another one if there is one."""
    from sdrag.documents import chunks_of
    from sdrag.reports.preview import Preview

    documents = given.documents
    explained: dict[str, list[Explanation]] = {name: [] for name in explainers}
    with progress_bars() as update:
        for number, some in enumerate(batched(documents, _AT_ONCE)):
            chunks = [chunk for document in some for chunk in chunks_of(document)]
            for name, explainer in explainers.items():
                explained[name] += explainer.explain(chunks, asker)
            update("Reading", number * _AT_ONCE + len(some), len(documents))
    first, *others = explained.values()
    remarks = [(file.path, text) for file in given.files for text in file.remarks]
    refused = {
        f"{name}: {constraint}" if others else constraint: why
        for name, explainer in explainers.items()
        for constraint, why in explainer.refused.items()
    }
    return Preview(
        {rule.id: rule.text for rule in rules.rules},
        refused,
        first,
        [*remarks, *((file.path, file.reason) for file in given.skipped)],
        len(documents),
        (next(iter(explainers)), [*explainers][-1]),
        others[0] if others else [],
    )


def _figures(previewed: Preview) -> dict[str, Any]:
    """Return what a preview counts; no word of the documents."""
    return {
        "documents": previewed.documents,
        "chunks": len(previewed.explanations),
        "withheld_chunks": previewed.withheld,
        "hidden_share": round(previewed.hidden_share, 4),
        "constraints": previewed.by_constraint(),
        **({"against": previewed.compared()} if previewed.others else {}),
        "refused": dict(previewed.refused),
    }


def _stdin() -> str:
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UsageError(f"The text is longer than {_MAX_BYTES:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError("The text on stdin is not UTF-8.") from None


def _show_text(explanation: Explanation) -> None:
    """Print what leaves of a text, then each span with its reason."""
    if not explanation.text.strip():
        raise UsageError(
            "There is no text.", hint="Name files, or give --text or text on stdin."
        )
    if explanation.released is None:
        typer.echo(f"withheld ({explanation.reason})\n")
    else:
        typer.echo(f"{explanation.released}\n")
    shown = (("hidden", explanation.spans), ("considered, shown", explanation.left))
    for heading, spans in shown:
        for explained in spans:
            words = json.dumps(explained.span.of(explanation.text), ensure_ascii=False)
            name = explained.constraint_id
            typer.echo(f"{heading}: {words} {name}: {explained.why}")
    if not explanation.spans:
        typer.echo("Nothing is hidden.")
