"""`sdrag mask IN OUT`: mask what links people across a corpus, before it is indexed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    LOCAL,
    AsJson,
    Graph,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    Rows,
    RunOn,
    SpillFolder,
    check_writable,
    llm_of,
    model_runner,
    open_pool,
    progress_bars,
    read_input,
    show,
    unwritable,
    write_graph,
    write_private,
)
from sdrag.studio.documents import ReadFiles, Skipped
from sdrag.vocabulary import Passage

if TYPE_CHECKING:
    from sdrag.effects.steps import EffectRunner
    from sdrag.linkage import Fitted, Masked
    from sdrag.linkage.masking import Passes

_NO_SENTENCE = (
    "sdrag: warning: none of the {count} sentences of the policy is applied. Masking"
    " takes out what links documents, by the policy's linkage section, and it has none."
    " The sentences hold for what questions retrieve; `sdrag preview` shows it."
)
_LINES, _TEXTS = ".jsonl", {".txt", ".md"}
_ROWS = {".json", _LINES, ".parquet"}


def mask(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A folder or a file.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A new folder, or a new file: .jsonl."),
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            help="A policy. Its linkage section is applied, and none of its sentences."
        ),
    ] = None,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="A secret of 16 bytes or more. The plan is kept in KEY_FILE.plan."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="An HTML report to write; it quotes no text.")
    ] = None,
    graph: Graph = None,
    rows: Rows = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Mask a corpus; with a key file, run again to follow the corpus as it changes.

    Reads the formats of `sdrag preview`. Text and Markdown keep their names; of JSON
    and Parquet the rows go to NAME.jsonl, of other formats the text to NAME.txt. What
    cannot be read or masked is listed, and the command then ends with 1. With a key
    file the plan is kept, encrypted: what was masked stays masked in a later run, under
    the same pseudonyms.

    Example: sdrag mask documents masked --policy policy.yaml --key-file key
    """
    started = perf_counter()
    rules = Policy() if policy is None else Policy.read(policy)
    key = None if key_file is None else _secret(key_file)
    plan = key_file and key_file.with_name(key_file.name + ".plan")
    _check_rules(rules, key, has_model=llm != LOCAL)
    _check_target(source, target)
    check_writable(target, plan, report, graph)
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    runner = model_runner(model)
    with open_pool(engine, llm, ray_spill) as pool, progress_bars() as update:
        from sdrag.linkage.masking import Passes

        corpus = read_input([source], rows=rows)
        if not corpus.files:
            first = corpus.skipped[0]
            raise UsageError(f"There is no document: {first.path!r} {first.reason}.")
        fitted = _fit(corpus, rules, llm, key, plan, runner, Passes(pool, update))
    if plan is not None:
        # First the plan: whoever is killed now goes on from it, and masks the same.
        fitted.save(plan, key)
    _write(target, list(_by_file(corpus, fitted)))
    _write_reports(fitted.masked, report, graph)
    failed = _skip_unmasked(corpus, fitted)
    result = {
        **_figures(fitted.masked),
        **corpus.as_dict(),
        "plan": None if plan is None else str(plan),
        "model_failures": {} if model is None else _find_causes(runner, failed),
        "seconds": round(perf_counter() - started, 3),
    }
    show(result, as_json=as_json)
    raise typer.Exit(1 if corpus.skipped else 0)


def _figures(masked: Masked) -> dict[str, Any]:
    """Count what is masked; pseudonyms, and why not, where they were asked for."""
    plan, refused = masked.plan, masked.masker.refused
    figures = {
        "documents": len(masked.documents),
        "entities": len(plan.corpus.entity_ids),
        "masked_entities": int(plan.masked.sum()),
        "links_before": len(plan.before),
        "links_after": len(plan.after),
    }
    if masked.masker.style != "pseudonym":
        return figures
    return {
        **figures,
        "pseudonyms": len(masked.entities) - len(refused),
        "pseudonyms_refused": dict(sorted(Counter(refused.values()).items())),
        "links_kept_by_pseudonyms": masked.links_kept,
    }


def _write_reports(masked: Masked, report: Path | None, graph: Path | None) -> None:
    if report is not None:
        from sdrag.studio.reports.linkage import render_linkage

        write_private(report, render_linkage(masked))
    if graph is not None:
        write_graph(graph, masked.graph)


def _find_causes(runner: EffectRunner, failed: int) -> dict[str, int]:
    """Return how a model failed on so many documents."""
    from sdrag.effects.runner import PortRunner

    if not failed or not isinstance(runner, PortRunner):
        return {}
    return dict.fromkeys(runner.meter.failures or ("unreadable",), failed)


def _secret(path: Path) -> bytes:
    from sdrag.linkage.plan_file import check_key

    try:
        return check_key(path.read_bytes().strip())
    except OSError as error:
        raise UsageError(
            f"The key file {path} cannot be read ({type(error).__name__}).",
            hint="Make one: `openssl rand -hex 32 > key`.",
        ) from None


def _check_rules(rules: Policy, key: bytes | None, *, has_model: bool) -> None:
    """Refuse what cannot be masked as the policy says; warn of what is not applied."""
    from sdrag.linkage.replacing import check_style

    check_style(rules.linkage.replace, key)
    if rules.linkage.replace == "rewrite" and not has_model:
        raise UsageError(
            "`linkage.replace: rewrite` needs a model.",
            hint="Give one: --llm langchain:PROVIDER:MODEL.",
        )
    if rules.constraints and "linkage" not in rules.model_fields_set:
        typer.echo(_NO_SENTENCE.format(count=len(rules.constraints)), err=True)


def _check_target(source: Path, target: Path) -> None:
    """Refuse an OUT that exists, is of another format, or is read."""
    if target.exists():
        raise UsageError(f"{target} exists.", hint="Name another OUT, or remove it.")
    if target.suffix and target.suffix != _LINES:
        raise UsageError(
            f"{target} is neither a folder nor a {_LINES} file.",
            hint="OUT is one of these two.",
        )
    if target.resolve().is_relative_to(source.resolve()):
        raise UsageError(
            f"{target} is in {source}, which is read.",
            hint="Name an OUT that is not in IN.",
        )


def _fit(
    corpus: ReadFiles,
    rules: Policy,
    llm: str,
    key: bytes | None,
    plan: Path | None,
    runner: EffectRunner,
    passes: Passes,
) -> Fitted:
    """Return the plan: a new one, or that which was kept, as it goes on."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.detectors.own_patterns import with_patterns
    from sdrag.linkage import Fitted, fit
    from sdrag.linkage.extractor import ModelExtractor

    settings, documents = rules.linkage, corpus.documents
    local = with_patterns(LocalDetector(), rules)
    detector: Any = local if llm == LOCAL else ModelExtractor()
    if plan is None or key is None or not plan.exists():
        return fit(documents, settings, detector, key=key, runner=runner, passes=passes)
    earlier = Fitted.open(plan, key, runner)
    changed = [d for d in documents if earlier.documents.get(d.id) != d]
    gone = earlier.documents.keys() - {document.id for document in documents}
    update = earlier.updated(
        changed, gone, detector, settings=settings, runner=runner, passes=passes
    )
    return update.fitted


def _skip_unmasked(corpus: ReadFiles, fitted: Fitted) -> int:
    """Add to what was skipped the documents that could not be masked; count them."""
    alias = fitted.masked.masker.alias
    failed = [d.id for d in corpus.documents if d.id not in fitted.documents]
    corpus.skipped.extend(
        Skipped(alias(name), "could not be masked") for name in failed
    )
    return len(failed)


def _by_file(corpus: ReadFiles, fitted: Fitted) -> Iterator[tuple[str, list[Passage]]]:
    """Yield the masked documents by file, under names that hold nothing masked."""
    alias = fitted.masked.masker.alias
    clean = dict(zip(fitted.documents, fitted.masked.documents, strict=True))
    for file in corpus.files:
        name, kept = file.path, [clean[d.id] for d in file.documents if d.id in clean]
        if kept and alias(name) != name:
            name = kept[0].id + Path(name).suffix
            kept = [
                replace(document, metadata={**document.metadata, "source": name})
                if document.metadata.get("source") == file.path
                else document
                for document in kept
            ]
        if kept:
            yield name, kept


def _write(target: Path, files: Sequence[tuple[str, list[Passage]]]) -> None:
    """Write OUT as a whole; the umask says who may read it."""
    partial = target.with_name(f".{target.name}.sdrag-partial")
    try:
        if target.suffix == _LINES:
            partial.write_bytes(
                _as_lines(d for _, documents in files for d in documents)
            )
        else:
            shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
            partial.mkdir()
            for name, documents in files:
                _write_file(partial / name, documents)
        partial.replace(target)
    except OSError as error:
        raise unwritable(target, error) from None


def _write_file(path: Path, documents: Sequence[Passage]) -> None:
    """Write the documents of a file as rows, or their text."""
    is_rows = path.suffix.lower() in _ROWS
    text = "\n\n".join(document.text for document in documents)
    content = _as_lines(documents) if is_rows else text.encode()
    suffix = _LINES if is_rows else ".txt"
    if path.suffix.lower() not in {_LINES, *_TEXTS}:
        path = path.with_name(path.name + suffix)
    while path.exists():
        path = path.with_name(path.name + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _as_lines(documents: Iterable[Passage]) -> bytes:
    """Return JSON lines; in ASCII, so that no reader sees the end of one too early."""
    rows = (
        {"id": d.id, "content": d.text, "metadata": dict(d.metadata)} for d in documents
    )
    return "".join(f"{json.dumps(row, default=str)}\n" for row in rows).encode()
