"""`sdrag mask IN OUT`: mask what links people across a corpus, before it is indexed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    Input,
    Llm,
    RunOn,
    SpillFolder,
    check_creatable,
    check_engine,
    llm_of,
    open_pool,
    progress_bar,
    read_input,
    show_json,
    write_whole,
)
from sdrag.documents import SUFFIXES, file_of, files_of
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

if TYPE_CHECKING:
    from sdrag.effects.steps import EffectRunner
    from sdrag.linkage import Fitted
    from sdrag.linkage.masking import Passes

__all__ = ["mask"]

_ONE_FILE = frozenset({".jsonl", ".parquet"})


def mask(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A folder or a file.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A folder, or a file: .jsonl or .parquet."),
    ],
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    llm: Llm = LOCAL,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A secret of 16 bytes or more. With it the plan is kept."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="Where the plan is kept; by default KEY_FILE.plan."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="An HTML report to write.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT, with all that is in it.")
    ] = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Mask a corpus; with a key file, run again to follow the corpus as it changes.

    Reads .txt .md .html .json .jsonl .csv .parquet .pdf .docx. In a folder, .txt, .md,
    JSON and Parquet keep their names; of every other format the text is written, to
    NAME.txt. With a key file the plan is kept, encrypted: run again with more
    documents, what was masked stays masked, and pseudonyms stay what they are.

    Example: sdrag mask documents masked --policy policy.yaml --key-file key
    """
    started = perf_counter()
    check_engine(engine, llm)
    rules = Policy() if policy is None else Policy.read(policy)
    if not source.exists():
        raise UsageError(f"There is no {source}.", hint="Check the path.")
    _check_target(source, target, overwrite=overwrite)
    key = None if key_file is None else _secret(key_file)
    if plan is not None and key is None:
        raise UsageError("--plan needs --key-file.", hint="A plan is encrypted.")
    _check_linkage(rules, llm, key)
    kept_at = plan or (key_file and key_file.with_name(key_file.name + ".plan"))
    for path in filter(None, (kept_at, report)):
        if path.is_dir():
            raise UsageError(f"{path} is a folder.", hint="Name a file to write.")
        check_creatable(path)
    corpus, runner = _read(source), _runner(llm)
    with _passes(engine, ray_spill) as passes:
        fitted, gone = _fitted(corpus, rules, llm, key, kept_at, runner, passes)
    if kept_at is not None:
        # First the plan: whoever is killed now goes on from it, and masks the same.
        kept_at.parent.mkdir(parents=True, exist_ok=True)
        fitted.save(kept_at, key)
    _write(target, _by_file(corpus, fitted))
    if report is not None:
        from sdrag.reports.linkage import render_linkage

        report.parent.mkdir(parents=True, exist_ok=True)
        write_whole(report, render_linkage(fitted.masked))
    result = _result(fitted, corpus)
    result["seconds"] = round(perf_counter() - started, 3)
    for line in _lines(result, kept_at, gone):
        typer.echo(line)
    show_json(result, wanted=as_json)


def _secret(path: Path) -> bytes:
    from sdrag.linkage.plan_file import check_key

    try:
        return check_key(path.read_bytes().strip())
    except OSError as error:
        raise UsageError(
            f"The key file {path} cannot be read ({type(error).__name__}).",
            hint="Make one: `openssl rand -hex 32 > key`.",
        ) from None


def _check_linkage(rules: Policy, llm: str, key: bytes | None) -> None:
    """Refuse what cannot be replaced, before anything is read."""
    from sdrag.linkage.replacing import check_style

    check_style(rules.linkage.replace, key)
    if rules.linkage.replace == "rewrite" and llm == LOCAL:
        raise UsageError(
            "`linkage.replace: rewrite` needs a model.",
            hint="Give one: --llm langchain:PROVIDER:MODEL.",
        )


def _check_target(source: Path, target: Path, *, overwrite: bool) -> None:
    """
    See that OUT can be written, and that nothing is replaced that was not named.

    Raises:
        UsageError: It cannot, or there is something.
    """
    suffix, is_file = target.suffix.lower(), target.suffix.lower() in _ONE_FILE
    if not is_file and suffix in SUFFIXES:
        raise UsageError(
            f"{target} is neither a folder nor a .jsonl or .parquet file.",
            hint="OUT is one of these three.",
        )
    read, made = source.resolve(), target.resolve()
    if made == read or (source.is_dir() and made.is_relative_to(read)):
        raise UsageError(
            f"{target} is in {source}, which is read.",
            hint="Name an OUT that is not in IN.",
        )
    if target.exists() and target.is_dir() == is_file:
        kind = "a folder" if is_file else "a file"
        raise UsageError(f"{target} is {kind}.", hint="Name another OUT.")
    if overwrite and any(path.is_relative_to(made) for path in (read, Path.cwd())):
        raise UsageError(
            f"{target} holds more than what was masked.", hint="Name another OUT."
        )
    empty = target.is_dir() and not any(target.iterdir())
    if target.exists() and not (overwrite or empty):
        raise UsageError(
            f"{target} exists.", hint="Name another OUT, or pass --overwrite."
        )
    check_creatable(target)


def _read(source: Path) -> Input:
    corpus = read_input([source], rows=True)
    if not corpus.files:
        first = corpus.skipped[0]
        raise UsageError(
            f"There is no document in {source}: {first.path} {first.reason}.",
            hint="See `--help`.",
        )
    return corpus


@contextmanager
def _passes(engine: str, spill: Path | None) -> Iterator[Passes]:
    """Yield how the texts are gone through: with a bar for each pass."""
    from sdrag.linkage.masking import Passes

    with open_pool(engine, spill) as pool, ExitStack() as bars:
        updates: dict[str, Any] = {}

        def progress(name: str, done: int, total: int) -> None:
            if name not in updates:
                bars.close()
                updates[name] = bars.enter_context(progress_bar(name, total))
            updates[name](done, total)

        yield Passes(pool, progress)


def _runner(llm: str) -> EffectRunner:
    """Return what answers effects: MiniLM, and a model where one is asked for."""
    from sdrag.effects.runner import Port, PortRunner, Ports
    from sdrag.framework import local_embeddings
    from sdrag.linkage.schema import local_runner

    model = llm_of(llm)
    if not model:
        return local_runner()
    return PortRunner(Ports(complete=Port(model["complete"]), embed=local_embeddings()))


def _fitted(
    corpus: Input,
    rules: Policy,
    llm: str,
    key: bytes | None,
    kept_at: Path | None,
    runner: EffectRunner,
    passes: Passes,
) -> tuple[Fitted, int]:
    """Return the plan, and how many documents of the one that was kept are gone."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.linkage import Fitted, fit
    from sdrag.linkage.extractor import ModelExtractor
    from sdrag.linkage.schema import Schema

    settings, documents = rules.linkage, corpus.documents
    detector: Any = LocalDetector()
    if llm != LOCAL:
        detector = ModelExtractor(Schema(settings))
    if kept_at is None or key is None or not kept_at.exists():
        fitted = fit(
            documents, settings, detector, key=key, runner=runner, passes=passes
        )
        return fitted, 0
    earlier = Fitted.open(kept_at, key, runner)
    known = earlier.documents
    changed = [d for d in documents if known.get(d.id) != d]
    gone = known.keys() - {document.id for document in documents}
    update = earlier.updated(
        changed, gone, detector, settings=settings, runner=runner, passes=passes
    )
    return update.fitted, len(gone)


def _by_file(corpus: Input, fitted: Fitted) -> dict[str, list[Passage]]:
    """Return the masked documents by file, under names that hold nothing masked."""
    masker = fitted.masked.masker
    clean = dict(zip(fitted.documents, fitted.masked.documents, strict=True))
    files: dict[str, list[Passage]] = {}
    for file in corpus.files:
        kept = [clean[d.id] for d in file.documents if d.id in clean]
        if kept and masker.alias(file.path) != file.path:
            alias = kept[0].id + Path(file.path).suffix
            files[alias] = [_renamed(document, file.path, alias) for document in kept]
        elif kept:
            files[file.path] = kept
    return files


def _renamed(document: Passage, name: str, alias: str) -> Passage:
    """Return a document whose metadata names its file as it is called now."""
    if document.metadata.get("source") != name:
        return document
    return replace(document, metadata={**document.metadata, "source": alias})


def _write(target: Path, documents: Mapping[str, Sequence[Passage]]) -> None:
    """Write OUT as a whole; the umask says who may read it."""
    partial = target.with_name(f".{target.name}.sdrag-partial")
    before = target.with_name(f".{target.name}.sdrag-before")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix.lower() in _ONE_FILE:
            rows = (document for found in documents.values() for document in found)
            write_whole(target, file_of(target.name, rows), shared=True)
            return
        for path in (partial, before):  # of a run that was killed
            shutil.rmtree(path, ignore_errors=True)
        partial.mkdir()
        for name, content in files_of(documents).items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(partial / name, content, shared=True)
        if target.exists():
            target.replace(before)
        partial.replace(target)
        shutil.rmtree(before, ignore_errors=True)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written ({type(error).__name__})."
        ) from None


def _result(fitted: Fitted, corpus: Input) -> dict[str, Any]:
    plan, alias = fitted.masked.plan, fitted.masked.masker.alias
    unread = [
        {"path": alias(document.id), "reason": "could not be read to its end"}
        for document in corpus.documents
        if document.id not in fitted.documents
    ]
    files = [
        {"path": skipped.path, "reason": skipped.reason} for skipped in corpus.skipped
    ]
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
    for skipped in result["skipped"]:
        yield f"  not written: {skipped['path']} {skipped['reason']}"
    if gone:
        yield (
            f"{gone} documents of the plan are not in IN: they link nothing now, and "
            "what was masked in them stays masked."
        )
    if kept_at is None:
        yield "The plan is not kept: that needs --key-file."
    else:
        yield f"The plan is in {kept_at}, encrypted: keep it, and run again with it."
