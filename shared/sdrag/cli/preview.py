"""`sdrag preview POLICY PATH...`: what would be withheld from documents, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.models import LOCAL, complete_with
from sdrag.cli.options import AsJson, RunOn, SpillFolder
from sdrag.cli.output import counted
from sdrag.cli.progress_bar import progress_bar
from sdrag.cli.ray_engine import check_engine
from sdrag.cli.writing import check_writable, write_whole
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.cli.preview_journal import PreviewJournal
    from sdrag.documents import Skipped
    from sdrag.explanation import Explainer, Explanation
    from sdrag.reports.preview_report import Preview
    from sdrag.vocabulary import Passage, Principal

__all__ = ["preview"]

Explain = Callable[[Sequence[Sequence["Passage"]]], Iterable[Sequence["Explanation"]]]
_AT_ONCE = 20
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
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Show what a policy withholds from documents, by which constraint, and why.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. The page holds the
    documents themselves, and only its owner can read it: keep it where they may be
    kept. A preview with a page can be stopped: the same command goes on where it was.

    Example: sdrag preview policy.yaml documents --html preview.html
    """
    from sdrag.explanation import Explainer
    from sdrag.reports.preview_report import Preview
    from sdrag.vocabulary import Principal

    check_engine(engine, llm)
    read = Policy.read(policy)
    explainer = Explainer(read, complete=complete_with(llm, "--llm"))
    if html is not None:
        check_writable(html)
    asker = Principal("preview", roles=frozenset(role)) if role else None
    started = perf_counter()
    documents, skipped = _read(paths)
    journal = None
    if html is not None:
        from sdrag.cli.preview_journal import PreviewJournal

        about = (read.model_dump_json(), llm, *sorted(role or ()), version("sdrag"))
        journal = PreviewJournal(html, about)
    if engine == LOCAL:
        explain = _here(explainer, asker)
    else:
        explain = _on_ray(read, asker, ray_spill)
    explained = _explained(documents, read, explain, journal)
    previewed = Preview(
        {rule.id: rule.text for rule in read.rules},
        explainer.refused,
        explained,
        skipped,
        len(documents),
    )
    if html is not None and journal is not None:
        from sdrag.reports.preview_report import render_preview

        write_whole(html, render_preview(previewed))
        journal.remove()
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


def _here(explainer: Explainer, asker: Principal | None) -> Explain:
    return lambda batches: (explainer.explain(some, asker) for some in batches)


def _on_ray(policy: Policy, asker: Principal | None, spill: Path | None) -> Explain:
    from sdrag.distributed import RayOptions, preview_corpus

    options = RayOptions(spill=spill)
    return lambda batches: preview_corpus(batches, policy, asker, options=options)


def _explained(
    documents: list[list[Passage]],
    policy: Policy,
    explain: Explain,
    journal: PreviewJournal | None,
) -> list[Explanation]:
    """Explain the documents, some at a time; those of the journal are known."""
    words = {rule.id: rule.text for rule in policy.rules}
    found = [journal.get(chunks, words) if journal else None for chunks in documents]
    total = sum(map(len, documents))
    done = sum(len(known) for known in found if known)
    unread = [index for index, known in enumerate(found) if known is None]
    some = list(_batches(unread, documents))
    batches = [[chunk for index in one for chunk in documents[index]] for one in some]
    with progress_bar("Reading", total) as update:
        update(done, total)
        for indices, answers in zip(some, explain(batches), strict=True):
            explained = iter(answers)
            for index in indices:
                made = list(islice(explained, len(documents[index])))
                found[index] = made
                done += len(made)
                if journal:
                    journal.put(documents[index], made)
            update(done, total)
    return [one for known in found for one in known or ()]


def _batches(unread: list[int], documents: list[list[Passage]]) -> Iterator[list[int]]:
    """Yield the indices of some documents at a time."""
    some: list[int] = []
    chunks = 0
    for index in unread:
        some.append(index)
        chunks += len(documents[index])
        if chunks >= _AT_ONCE:
            yield some
            some, chunks = [], 0
    if some:
        yield some


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
