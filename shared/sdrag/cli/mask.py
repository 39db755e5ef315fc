"""`sdrag mask IN OUT`: mask what links people across a corpus, before it is indexed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sdrag.linkage.document_files import Ingested
    from sdrag.linkage.masking import Masked
    from sdrag.policy import LinkageSection
    from sdrag.vocabulary import Mention, Passage

__all__ = ["mask"]

_KEY_BYTES = 16


def mask(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A .json, .jsonl, .txt, or a folder.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A .jsonl file to write.")
    ],
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="An HTML report to write.")
    ] = None,
    given: Annotated[
        bool, typer.Option("--given", help="Use the entities that the input brings.")
    ] = False,
    key_file: Annotated[
        Path | None, typer.Option(help="A secret of 16 bytes or more, for ids.")
    ] = None,
) -> None:
    """Mask a corpus; run again to resume what was interrupted."""
    from sdrag.linkage.document_files import read_documents
    from sdrag.linkage.masking import mask_corpus
    from sdrag.linkage.settings import read_settings
    from sdrag.reports.linkage_report import render_linkage

    settings = read_settings(policy)
    key = _key(key_file) if key_file else None
    read = read_documents(source, key)
    checkpoint = target.with_name(target.name + ".progress")
    kept: Sequence[Passage] = read.documents
    mentions: Sequence[Any]
    if given:
        mentions = _given(read)
    else:
        kept, mentions = _found(read.documents, checkpoint, _stamp(source, settings))
    masked = mask_corpus(kept, settings, mentions=mentions, key=key)
    masked = _with_withheld(masked, read.documents, kept)
    _write(target, "".join(_line(document) for document in masked.documents))
    if report:
        _write(report, render_linkage(masked))
    checkpoint.unlink(missing_ok=True)
    _say(masked, len(read.documents) - len(kept))


def _key(path: Path) -> bytes:
    from sdrag.errors import UsageError

    key = path.read_bytes().strip()
    if len(key) < _KEY_BYTES:
        raise UsageError(
            f"The key file holds {len(key)} bytes.",
            hint=f"A key has {_KEY_BYTES} or more: a shorter one can be guessed.",
        )
    return key


def _given(read: Ingested) -> Sequence[Any]:
    from sdrag.errors import UsageError

    if read.entities is None:
        raise UsageError("The input brings no entities.", hint="Leave out `--given`.")
    return read.entities


def _found(
    documents: Sequence[Passage], checkpoint: Path, stamp: str
) -> tuple[list[Passage], list[tuple[Mention, ...]]]:
    """Detect with a progress bar; documents that could not be read are left out."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.linkage.checkpoint import detect_all
    from sdrag.linkage.second_look import look_again
    from sdrag.linkage.settings import local_runner

    with typer.progressbar(length=len(documents), label="Detecting") as bar:
        found = detect_all(
            documents, LocalDetector(), local_runner(), checkpoint, stamp, bar.update
        )
    pairs = [
        (document, mentions)
        for document, mentions in zip(documents, found, strict=True)
        if mentions is not None
    ]
    kept = [document for document, _ in pairs]
    texts = [document.text for document in kept]
    return kept, look_again(texts, [mentions for _, mentions in pairs])


def _with_withheld(
    masked: Masked, documents: Sequence[Passage], kept: Sequence[Passage]
) -> Masked:
    """Add to the decisions what could not be read, under ids that name nobody."""
    from sdrag.vocabulary import Decision

    read = {document.id for document in kept}
    withheld = (
        Decision(
            masked.masker.alias(document.id), "withheld", "linkage", "detector-failed"
        )
        for document in documents
        if document.id not in read
    )
    return replace(masked, decisions=(*masked.decisions, *withheld))


def _stamp(source: Path, settings: LinkageSection) -> str:
    """Name the input by its files' sizes and times, and the settings in force."""
    names = sorted(source.rglob("*")) if source.is_dir() else [source]
    files = [
        (str(name), stat.st_size, stat.st_mtime_ns)
        for name in names
        for stat in (name.stat(),)
    ]
    return json.dumps([files, settings.model_dump(mode="json")], sort_keys=True)


def _line(document: Passage) -> str:
    row = {
        "id": document.id,
        "content": document.text,
        "metadata": dict(document.metadata),
    }
    return json.dumps(row, ensure_ascii=False, default=str) + "\n"


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)  # noqa: PTH105 -- replaces what is there, at once


def _say(masked: Masked, withheld: int) -> None:
    plan = masked.plan
    typer.echo(
        f"{len(masked.documents)} documents written, {withheld} withheld; "
        f"{int(plan.masked.sum())} of {len(plan.corpus.entity_ids)} entities masked."
    )
