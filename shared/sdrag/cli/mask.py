"""`sdrag mask IN OUT`: mask what links people across a corpus, before it is indexed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    RunOn,
    SpillFolder,
    check_creatable,
    write_whole,
)
from sdrag.cli.mask_target import Target
from sdrag.cli.ray_engine import check_engine, placement_of
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.cli.mask_corpus import Corpus, Findings
    from sdrag.linkage.fitting import Fitted
    from sdrag.linkage.placement import Placement
    from sdrag.linkage.plan_file import Saved
    from sdrag.vocabulary import Passage

__all__ = ["mask"]


def mask(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A folder or a file.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A folder, or a file: .jsonl or .parquet."),
    ],
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    llm: Annotated[
        str, typer.Option(help="Who reads: local, or langchain:PROVIDER:MODEL.")
    ] = LOCAL,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A secret of 16 bytes or more. With it the plan is kept."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="Where the plan is kept; by default KEY_FILE.plan."),
    ] = None,
    originals: Annotated[
        Path | None, typer.Option(help="What undoes the masking, to write sealed.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="An HTML report to write.")
    ] = None,
    given: Annotated[
        bool, typer.Option("--given", help="Use the entities that the input brings.")
    ] = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Mask a corpus; run again to resume what was interrupted, or to follow the corpus.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. In a folder, .txt, .md,
    JSON and Parquet keep their names; of every other format the text is written, to
    NAME.txt. With a key file the plan is kept, sealed: run again with more documents,
    what was masked stays masked, and pseudonyms stay what they are.

    Example: sdrag mask documents masked --policy policy.yaml --key-file key
    """
    started = perf_counter()
    check_engine(engine, llm)
    rules = Policy() if policy is None else Policy.read(policy)
    place = Target(target)
    if not source.exists():
        raise UsageError(f"There is no {source}.", hint="Check the path.")
    key = None if key_file is None else _secret(key_file)
    _check(rules, llm, key, place, source, given=given)
    _check_kept(key, plan, originals)
    for path in (originals, report):
        if path is not None:
            _check_file(path)
    kept_at = plan or (key_file and key_file.with_name(key_file.name + ".plan"))
    saved = _saved(kept_at, key)
    wrote: dict[str, list[str]] = dict(saved.notes["wrote"]) if saved else {}
    place.check_free(ours=place.name in wrote or place.progress.exists())

    with placement_of(engine, ray_spill) as placement:
        fitted, corpus, findings = _fitted(
            rules, llm, source, place, kept_at, saved, key, placement, given=given
        )
    contents = place.contents(_by_file(corpus, fitted))
    before = wrote.get(place.name, [])
    if kept_at is not None and key is not None:
        from sdrag.linkage.plan_file import save_plan

        # First the plan: whoever is killed now goes on from it, and masks the same.
        wrote[place.name] = sorted({*contents, *before})
        kept_at.parent.mkdir(parents=True, exist_ok=True)
        save_plan(fitted, kept_at, key, {"wrote": wrote})
    place.write(contents, before)
    _write_more(fitted, corpus, findings, originals, report, key)
    place.progress.unlink(missing_ok=True)
    result = _result(fitted, corpus, findings)
    result["seconds"] = round(perf_counter() - started, 3)
    gone = _gone(saved, findings)
    for line in _lines(result, kept_at, gone):
        typer.echo(line)
    if as_json:
        typer.echo(json.dumps(result))


def _secret(path: Path) -> bytes:
    from sdrag.linkage.sealing import Seal

    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(
            f"The key file {path} cannot be read ({type(error).__name__}).",
            hint="Make one: `openssl rand -hex 32 > key`.",
        ) from None
    return Seal(secret).secret


def _check(
    rules: Policy,
    llm: str,
    key: bytes | None,
    place: Target,
    source: Path,
    *,
    given: bool,
) -> None:
    """Refuse what cannot work, before anything is read."""
    from sdrag.linkage.replacing import check_style

    check_style(rules.linkage.replace, key)
    if rules.linkage.replace == "rewrite" and llm == LOCAL:
        raise UsageError(
            "`linkage.replace: rewrite` needs a model.",
            hint="Give one: --llm langchain:PROVIDER:MODEL.",
        )
    if given and not place.is_file:
        raise UsageError(
            "With --given, OUT is a .jsonl or .parquet file.",
            hint="Name one, or leave it out.",
        )
    place.check(source)


def _check_kept(key: bytes | None, plan: Path | None, originals: Path | None) -> None:
    for option, path in (("--plan", plan), ("--originals", originals)):
        if path is not None and key is None:
            raise UsageError(
                f"{option} needs --key-file.", hint="What it holds is written sealed."
            )


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name a file to write.")
    check_creatable(path)


def _saved(path: Path | None, key: bytes | None) -> Saved | None:
    from sdrag.linkage.plan_file import saved_plan

    if path is None or key is None:
        return None
    if path.exists():
        return saved_plan(path, key)
    _check_file(path)
    return None


def _fitted(
    rules: Policy,
    llm: str,
    source: Path,
    place: Target,
    kept_at: Path | None,
    saved: Saved | None,
    key: bytes | None,
    placement: Placement,
    *,
    given: bool,
) -> tuple[Fitted, Corpus, Findings]:
    from sdrag.cli.mask_corpus import Engine, find, fit_plan, read_corpus, stamp
    from sdrag.cli.shown_placement import ShownPlacement

    settings = rules.linkage
    engine = Engine.of(llm, rules)
    corpus = read_corpus(source, key, given=given)
    place.path.parent.mkdir(parents=True, exist_ok=True)
    progress = place.progress, stamp(source, kept_at, settings)
    shown = ShownPlacement(placement)
    findings = find(corpus, settings, engine, saved, progress, shown)
    fitted = fit_plan(findings, settings, engine, saved, key, shown)
    return fitted, corpus, findings


def _by_file(corpus: Corpus, fitted: Fitted) -> dict[str, list[Passage]]:
    """Return the masked documents by file, under names that hold nothing masked."""
    masker = fitted.masked.masker
    clean = dict(zip(fitted.documents, fitted.masked.documents, strict=True))
    files: dict[str, list[Passage]] = {}
    for name, documents in corpus.files.items():
        kept = [clean[one.id] for one in documents if one.id in clean]
        if kept and masker.alias(name) != name:
            alias = kept[0].id + Path(name).suffix
            files[alias] = [_renamed(one, name, alias) for one in kept]
        elif kept:
            files[name] = kept
    return files


def _renamed(document: Passage, name: str, alias: str) -> Passage:
    """Return a document whose metadata names its file as it is called now."""
    named = document.metadata.get("source")
    if named != name:
        return document
    return replace(document, metadata={**document.metadata, "source": alias})


def _write_more(
    fitted: Fitted,
    corpus: Corpus,
    findings: Findings,
    originals: Path | None,
    report: Path | None,
    key: bytes | None,
) -> None:
    for path in (originals, report):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if originals is not None and key is not None:
        from sdrag.linkage.sealing import Seal

        write_whole(originals, fitted.masked.originals.sealed(Seal(key).encrypt))
    if report is not None:
        from sdrag.reports.linkage_report import render_linkage
        from sdrag.vocabulary import Decision

        alias = fitted.masked.masker.alias
        lost = [
            Decision(alias(one.id), "withheld", "linkage", "detector-failed")
            for one in corpus.documents
            if one.id not in findings.documents
        ]
        decisions = (*fitted.masked.decisions, *lost)
        write_whole(report, render_linkage(replace(fitted.masked, decisions=decisions)))


def _gone(saved: Saved | None, findings: Findings) -> int:
    known = {} if saved is None else saved.plan.documents
    return len(known.keys() - findings.documents.keys())


def _result(fitted: Fitted, corpus: Corpus, findings: Findings) -> dict[str, Any]:
    plan, alias = fitted.masked.plan, fitted.masked.masker.alias
    unread = [
        {"path": alias(one.id), "reason": "could not be read to its end"}
        for one in corpus.documents
        if one.id not in findings.documents
    ]
    files = [{"path": one.path, "reason": one.reason} for one in corpus.skipped]
    return {
        "documents": len(fitted.masked.documents),
        "withheld": len(unread),
        "masked_entities": int(plan.masked.sum()),
        "entities": len(plan.corpus.entity_ids),
        "links_before": len(plan.before),
        "links_after": len(plan.after),
        "skipped": [*files, *unread],
    }


def _lines(result: dict[str, Any], kept_at: Path | None, gone: int) -> Iterator[str]:
    yield (
        f"{result['documents']} documents written, {result['withheld']} withheld; "
        f"{result['masked_entities']} of {result['entities']} entities masked."
    )
    yield f"{result['links_before']} links before, {result['links_after']} after."
    for one in result["skipped"]:
        yield f"  not written: {one['path']} {one['reason']}"
    if gone:
        yield (
            f"{gone} documents of the plan are not in IN: they link nothing now, and "
            "what was masked in them stays masked."
        )
    if kept_at is None:
        yield "The plan is not kept: that needs --key-file."
    else:
        yield f"The plan is in {kept_at}, sealed: keep it, and run again with it."
