"""`sdrag preview`: what would be withheld from documents or from one text, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.effects.progress import batched
from sdrag.errors import ConstraintNotUnderstoodError, UsageError
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    LOCAL,
    JsonAlone,
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
from sdrag.vocabulary import Passage, Principal

if TYPE_CHECKING:
    from sdrag.explanation import Explainer, Explanation
    from sdrag.studio.documents import ReadFiles
    from sdrag.studio.reports.preview import Preview

_AT_ONCE = 20
"""So many documents are read between two steps of the bar."""
_MAX_BYTES = 1_000_000
_NEXT = """
The words in colour, each with its reason, or under --against what changes:
  add --html preview.html
To change what goes or stays: sdrag suggest DOCUMENTS --policy POLICY --must-go WORDS
  --must-stay WORDS, which prints the policy with what makes it so"""


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
    as_json: JsonAlone = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .tsv .xlsx .parquet .pdf .docx .eml, and
    counts what it does not read of a file. Ends with 1 if a file cannot be read or a
    constraint is not enforced. The page holds the documents unredacted, and only its
    owner can open it. Of one text, from --text or stdin, the spans are printed.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    from sdrag.explanation import Explainer

    principal = Principal("preview", roles=frozenset(role)) if role else None
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    read = Policy.read(policy)
    explainer = Explainer(read, complete=model)
    if text is None and paths:
        check_writable(html)
        explainers = {str(policy): explainer}
        if against is not None:
            name = f"{against} (other)" if against == policy else str(against)
            explainers[name] = Explainer(Policy.read(against), complete=model)
        given = read_input(paths, rows=rows)
        result, lines = _preview_files(given, read, explainers, principal, html)
    elif paths or html is not None or against is not None:
        raise UsageError("--text and stdin take no files, no --html and no --against.")
    elif explainer.refused:
        raise ConstraintNotUnderstoodError(explainer.refused)
    else:
        passage = Passage("text", _stdin() if text is None else text)
        (explanation,) = explainer.explain([passage], principal)
        result = {"spans": explanation.as_dict()["spans"]}
        lines = [*_explain(explanation)]
    failures = explainer.model_failures
    if as_json:
        typer.echo(json.dumps({**result, "model_failures": failures}))
    else:
        typer.echo("\n".join(lines))
        show({"model_failures": failures}, as_json=False)
    failed = failures or result.get("skipped") or result.get("refused")
    raise typer.Exit(1 if failed else 0)


def _preview_files(
    given: ReadFiles,
    policy: Policy,
    explainers: Mapping[str, Explainer],
    principal: Principal | None,
    html: Path | None,
) -> tuple[dict[str, Any], list[str]]:
    """Preview documents, on a page too if one is named; return figures and lines."""
    from sdrag.studio.reports.preview import idle_keeps, render_preview

    previewed = _read(given, explainers, principal)
    if html is not None:
        write_private(html, render_preview(previewed))
    lines = [*previewed.lines()]
    lines += (f"not read: {f.path!r} {f.reason}" for f in given.skipped)
    lines += idle_keeps(policy, previewed.explanations)
    lines += [
        _NEXT if html is None else f"wrote {html}, with the documents as they are"
    ]
    return {**previewed.as_dict(), **given.as_dict()}, lines


def _read(
    given: ReadFiles, explainers: Mapping[str, Explainer], principal: Principal | None
) -> Preview:
    """Explain documents under a policy, and under another one if there is one."""
    from sdrag.studio.documents import chunks_of
    from sdrag.studio.reports.preview import Preview

    documents = given.documents
    explained: dict[str, list[Explanation]] = {name: [] for name in explainers}
    with progress_bars() as update:
        for number, some in enumerate(batched(documents, _AT_ONCE)):
            chunks = [chunk for document in some for chunk in chunks_of(document)]
            for name, explainer in explainers.items():
                explained[name] += explainer.explain(chunks, principal)
            update("Reading", number * _AT_ONCE + len(some), len(documents))
    first, *others = explained.values()
    remarks = [(file.path, text) for file in given.files for text in file.remarks]
    refused = {
        f"{name}: {constraint}" if others else constraint: why
        for name, explainer in explainers.items()
        for constraint, why in explainer.refused.items()
    }
    return Preview(
        next(iter(explainers.values())).constraints,
        refused,
        first,
        [*remarks, *((file.path, file.reason) for file in given.skipped)],
        len(documents),
        (next(iter(explainers)), [*explainers][-1]),
        others[0] if others else [],
    )


def _stdin() -> str:
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UsageError(f"The text is longer than {_MAX_BYTES:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError("The text on stdin is not UTF-8.") from None


def _explain(explanation: Explanation) -> Iterator[str]:
    """Yield what leaves of a text, then what each constraint hides of it, and why."""
    if not explanation.text.strip():
        raise UsageError(
            "There is no text.", hint="Name files, or give --text or text on stdin."
        )
    withheld = f"withheld ({explanation.reason})"
    yield withheld if explanation.released is None else explanation.released
    for state, spans in (
        ("hides", explanation.spans),
        ("considered, and does not hide", explanation.left),
    ):
        by_rule: dict[str, list[str]] = {}
        for each in spans:
            words = json.dumps(each.span.of(explanation.text), ensure_ascii=False)
            by_rule.setdefault(each.constraint_id, []).append(f"  {words}: {each.why}")
        for name, lines in by_rule.items():
            yield f"\n“{explanation.constraints[name]}” ({name}) {state}"
            yield from lines
    if not explanation.spans:
        yield "\nNothing is hidden."
