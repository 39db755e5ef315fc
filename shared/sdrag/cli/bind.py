"""`sdrag bind`: bind a policy to chunks, or to an index that exists already."""

from __future__ import annotations

import json
import math
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from sdrag.cli.chunks import Chunks, chunks_in
from sdrag.cli.common import (
    LOCAL,
    AsJson,
    KeyFile,
    RunOn,
    SpillFolder,
    chat_model,
    progress_bar,
)
from sdrag.cli.ray_engine import check_engine
from sdrag.effects.batches import batched
from sdrag.errors import UsageError
from sdrag.policy import Policy

__all__ = ["bind"]

_AT_ONCE = 1000


def bind(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Chunks, .jsonl or .parquet: id, text, metadata."),
    ] = None,
    chroma: Annotated[Path | None, typer.Option(help="A folder of Chroma.")] = None,
    collection: Annotated[str, typer.Option(help="Of the folder.")] = "langchain",
    state: Annotated[
        str | None,
        typer.Option(
            help="The file, or postgresql://..., that the retriever is given."
        ),
    ] = None,
    key: KeyFile = None,
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the work, and write nothing.")
    ] = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Bind a policy: locate what its constraints withhold once, not at every question.

    Can be interrupted: what was located is kept, and the next run goes on from there.

    Example: sdrag bind policy.yaml --chroma ./chroma --state sdrag.sqlite
    """
    check_engine(engine, llm)
    rules = Policy.read(policy)
    if (chroma is None) == (not paths):
        raise UsageError("Give files of chunks, or --chroma and --collection.")
    source = chunks_in(paths or (), chroma, collection)
    if not source.count:
        raise UsageError("There is no chunk to bind.", hint="See `--help`.")
    if dry_run:
        _print(_count(rules, source, has_model=llm != LOCAL), as_json=as_json)
        return
    if state is None:
        raise UsageError("--state names what is written.")
    if engine == LOCAL:
        found = _bound(rules, source, (state, key), llm)
    else:
        found = _bound_on_ray(rules, source, (state, key), ray_spill)
    _print(found, as_json=as_json)


def _count(rules: Policy, source: Chunks, *, has_model: bool) -> dict[str, float | int]:
    """Count the chunks, their documents and the model's calls for whole documents."""
    from sdrag.disclosure.texts import with_documents

    documents: Counter[str] = Counter()
    for some in batched(source.passages(), _AT_ONCE):
        known = with_documents(some, rules.disclosure.document_keys)
        documents.update(passage.document_id or passage.id for passage in known)
    batches = math.ceil(len(rules.rules) / rules.disclosure.batch_size)
    return {
        "chunks": documents.total(),
        "documents": len(documents),
        "calls": len(documents) * batches if has_model else 0,
    }


def _bound(
    rules: Policy, source: Any, state: tuple[str, Path | None], llm: str
) -> dict[str, float | int]:
    from sdrag.disclosure import Ingested
    from sdrag.effects.runner import PortRunner, Ports
    from sdrag.effects.steps import run
    from sdrag.embeddings import installed
    from sdrag.pipeline import Engine
    from sdrag.pipeline import bind as bind_passages
    from sdrag.state import open_state
    from sdrag.wrapper_setup import local_embeddings

    asked, complete = _model(llm)
    asked["has_embeddings"] = installed()
    where, key = state
    opened = open_state(where, key=key)
    engine = Engine.build(rules, state=opened, releasing=False, **asked)
    runner = PortRunner(Ports(complete=complete, embed=local_embeddings()))
    started, done = perf_counter(), Ingested()
    with progress_bar("Binding", source.count) as tell:
        for some in batched(source.passages(), _AT_ONCE):
            before = done.passages

            def progress(now: int, _all: int, before: int = before) -> None:
                tell(before + now, source.count)

            with _covered(rules, llm):
                done += run(bind_passages(some, engine, progress), runner)
            tell(done.passages, source.count)
    return {
        "chunks": done.passages,
        "located": done.located,
        "read": done.read,
        "calls": runner.meter.calls,
        "tokens_in": runner.meter.tokens_in,
        "tokens_out": runner.meter.tokens_out,
        "seconds": round(perf_counter() - started, 3),
    }


def _bound_on_ray(
    rules: Policy, source: Chunks, state: tuple[str, Path | None], spill: Path | None
) -> dict[str, float | int]:
    from sdrag.distributed import RayOptions, bind_corpus
    from sdrag.state import open_state

    where, key = state
    opened = open_state(where, key=key)
    started, options = perf_counter(), RayOptions(spill=spill)
    with progress_bar("Binding", source.count) as tell:
        done = bind_corpus(
            source.passages, rules, opened, options=options, progress=tell
        )
    return {
        "chunks": done.passages,
        "located": done.located,
        "read": done.read,
        "calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "seconds": round(perf_counter() - started, 3),
    }


def _model(llm: str) -> tuple[dict[str, Any], Any]:
    """Return the arguments that describe a model to an engine, and the model's port."""
    if llm == LOCAL:
        return {}, None
    from langchain_sdrag.effects import completing, model_name
    from langchain_sdrag.windows import context_window

    model = chat_model(llm.removeprefix("langchain:"))
    facts = {"model_id": model_name(model), "window": context_window(model)}
    return {"has_model": True, **facts}, completing(model)


def _covered(rules: Policy, llm: str) -> AbstractContextManager[None]:
    """Hide a model's calls from tracers: its prompts hold unredacted text."""
    if llm == LOCAL:
        return nullcontext()
    from langchain_sdrag.tracing import hide_from_tracers

    return hide_from_tracers(rules, None)


def _print(result: dict[str, float | int], *, as_json: bool) -> None:
    for name, value in result.items():
        typer.echo(f"{name}: {value}")
    if as_json:
        typer.echo(json.dumps(result))
