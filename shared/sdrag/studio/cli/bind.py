"""`sdrag bind`: bind a policy to chunks, or to an index that exists already."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.effects.progress import batched
from sdrag.effects.prompts import Prompt
from sdrag.effects.tokens import Completion, Meter
from sdrag.errors import HostError, UsageError, require_extra
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    LOCAL,
    AsJson,
    Graph,
    KeyFile,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    RunOn,
    SpillFolder,
    check_writable,
    llm_of,
    open_pool,
    progress_bars,
    show,
    write_graph,
)
from sdrag.vocabulary import Passage, name_document

if TYPE_CHECKING:
    from sdrag.disclosure import Ingested
    from sdrag.framework import Model
    from sdrag.state import State

_AT_ONCE = 1000
_SHARED = 200
"""From so many chunks on, it pays to start processes."""
_DATABASE = "chroma.sqlite3"
_NO_DOCUMENT = "None"
"""What LlamaIndex's stores write for a node that was cut from no document."""

Read = Callable[[], Iterator[Passage]]
"""Yields the chunks of an index, in its order; called more than once."""


def bind(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Chunks in JSON lines: id, text, metadata.", show_default=False
        ),
    ] = None,
    chroma: Annotated[
        Path | None, typer.Option(help="Read the chunks of a Chroma folder instead.")
    ] = None,
    collection: Annotated[
        str, typer.Option(help="The collection in the Chroma folder.")
    ] = "langchain",
    state: Annotated[
        str | None,
        typer.Option(
            help="What to write: the file, or postgresql://..., of the retriever."
        ),
    ] = None,
    key: KeyFile = None,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    graph: Graph = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the work, and write nothing.")
    ] = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Locate what a policy withholds in an index once, not at every question.

    A run that was interrupted goes on at the next. With a model, the bar shows calls,
    tokens and the time left.

    Example: sdrag bind policy.yaml --chroma ./chroma --state sdrag.sqlite
    """
    rules = Policy.read(policy)
    if (chroma is None) == (not paths):
        raise UsageError("Give files of chunks, or --chroma and --collection.")
    if state is None and not dry_run:
        raise UsageError("--state names what is written.")
    check_writable(graph)
    read = _of_files(paths or ()) if chroma is None else _of_chroma(chroma, collection)
    count = sum(1 for _ in read())
    workers = open_pool(engine, llm, ray_spill, heavy=count >= _SHARED)
    if not count:
        raise UsageError("There is no chunk to bind.", hint="See `--help`.")
    if dry_run or state is None:
        result = _count(rules, read, has_model=llm != LOCAL)
    else:
        started = perf_counter()
        model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
        with workers as pool, progress_bars() as bars:
            update = partial(bars, "Binding", total=count)
            if pool is None:
                from sdrag.state import open_state

                opened = open_state(state, key=key)
                result = _bind(rules, read, opened, model, update)
            else:
                from sdrag.ingest import bind_corpus

                done = bind_corpus(read(), rules, state, pool, update, key=key)
                result = _figures(done)
        if graph is not None:
            from sdrag.state import open_state

            write_graph(graph, open_state(state, key=key).bindings.graph(rules.rules))
        result["seconds"] = round(perf_counter() - started, 3)
    show(result, as_json=as_json)
    raise typer.Exit(1 if result.get("model_failures") else 0)


def _count(rules: Policy, read: Read, *, has_model: bool) -> dict[str, Any]:
    """Count the chunks, their documents and the model's calls for whole documents."""
    from sdrag.disclosure.texts import name_documents

    passages = name_documents(list(read()), rules.disclosure.document_keys)
    documents = {passage.document_id or passage.id for passage in passages}
    batches = math.ceil(len(rules.rules) / rules.disclosure.batch_size)
    return {
        "chunks": len(passages),
        "documents": len(documents),
        "calls": len(documents) * batches if has_model else 0,
    }


def _bind(
    rules: Policy,
    read: Read,
    state: State,
    model: Model | None,
    update: Callable[..., None],
) -> dict[str, Any]:
    """Bind in this process, and count what a model was asked."""
    from sdrag.disclosure import Ingested
    from sdrag.options import Options
    from sdrag.pipeline import Engine
    from sdrag.pipeline import bind as bind_passages
    from sdrag.privacy.audit import AuditEvent, count_failures

    meter, events = Meter(), list[AuditEvent]()
    ask: Any = model and model.complete

    def complete(prompt: Prompt) -> Completion | str:
        with meter.call(prompt.texts) as count:
            return count(ask(prompt))

    engine = Engine(
        rules,
        llm=model and replace(model, complete=complete),
        state=state,
        options=Options(audit=events.append),
        stage="bind",
    )
    done = Ingested()
    for batch in batched(read(), _AT_ONCE):
        before = done.passages

        def progress(now: int, _all: int, before: int = before) -> None:
            spent = f"{meter.calls} calls, {meter.tokens_in + meter.tokens_out} tokens"
            update(before + now, note=spent if model else "")

        done += engine.run(bind_passages(batch, engine, progress))[0]
        update(done.passages)
    return {
        **_figures(done),
        "calls": meter.calls,
        "tokens_in": meter.tokens_in,
        "tokens_out": meter.tokens_out,
        "model_failures": count_failures(events, done.reasons.elements()),
    }


def _figures(done: Ingested) -> dict[str, Any]:
    return {"chunks": done.passages, "located": done.located, "read": done.read}


def _of_files(paths: Sequence[Path]) -> Read:
    for path in paths:
        if path.suffix != ".jsonl" or not path.is_file():
            raise UsageError(f"{path.name} is no .jsonl file.")

    def passages() -> Iterator[Passage]:
        for path in paths:
            with path.open(encoding="utf-8") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield _of_line(line, f"{path.name}, line {number}")

    return passages


def _of_line(line: str, place: str) -> Passage:
    from sdrag.studio.documents import TEXT_KEYS

    try:
        row = json.loads(line)
        given = {key: value for key, value in row.items() if value is not None}
        text = next(given[key] for key in TEXT_KEYS if key in given)
        metadata = dict(given.get("metadata", {}))
        return _passage(str(given["id"]), str(text), metadata)
    except (ValueError, KeyError, AttributeError, StopIteration, RecursionError):
        raise UsageError(
            f"{place}: no chunk.", hint="A chunk is an object with an id and a text."
        ) from None


def _of_chroma(folder: Path, name: str) -> Read:
    """Read a collection of Chroma, of either framework."""
    if not (folder / _DATABASE).is_file():  # Chroma would make one
        raise UsageError(
            "That is no folder of Chroma.",
            hint="Give the folder that your store's `persist_directory` names.",
        )
    with require_extra("chroma", "A Chroma collection"):
        import chromadb
        from chromadb.config import Settings
    client = chromadb.PersistentClient(
        str(folder), Settings(anonymized_telemetry=False)
    )
    try:
        collection: Any = client.get_collection(name)
    except Exception as error:  # noqa: BLE001 -- as Chroma pleases
        known = sorted(str(getattr(c, "name", c)) for c in client.list_collections())
        raise UsageError(
            f"The folder has no collection of that name ({type(error).__name__}).",
            hint=f"It has {', '.join(known) or 'none'}.",
        ) from None

    def passages() -> Iterator[Passage]:
        for start in range(0, int(collection.count()), _AT_ONCE):
            try:
                page = collection.get(
                    limit=_AT_ONCE, offset=start, include=["documents", "metadatas"]
                )
            except Exception as error:  # noqa: BLE001 -- its message may quote
                raise HostError(f"Chroma failed with {type(error).__name__}.") from None
            for identity, text, metadata in zip(
                page["ids"], page["documents"], page["metadatas"], strict=True
            ):
                yield _passage(identity, text or "", dict(metadata or {}))

    return passages


def _passage(identity: str, text: str, metadata: dict[str, Any]) -> Passage:
    """Read a row; LlamaIndex keeps a node in it, and writes over its metadata."""
    reference = metadata.get("ref_doc_id")
    kept = _kept_metadata(metadata.get("_node_content"))
    document = name_document(metadata if kept is None else kept)
    if document is None and reference != _NO_DOCUMENT:
        document = reference
    return Passage(identity, text, metadata, document_id=document)


def _kept_metadata(content: object) -> dict[str, Any] | None:
    """Return the metadata that a stored node came with."""
    try:
        metadata = json.loads(str(content)).get("metadata")
    except (ValueError, AttributeError):
        return None
    return metadata if isinstance(metadata, dict) else None
