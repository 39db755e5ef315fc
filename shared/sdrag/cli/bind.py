"""`sdrag bind`: bind a policy to chunks, or to an index that exists already."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import (
    LOCAL,
    AsJson,
    KeyFile,
    Llm,
    RunOn,
    SpillFolder,
    check_engine,
    llm_of,
    open_pool,
    progress_bar,
    show_json,
)
from sdrag.effects.progress import batched
from sdrag.errors import HostError, UsageError, require_extra
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

if TYPE_CHECKING:
    from sdrag.state import State

_AT_ONCE = 1000
_DATABASE = "chroma.sqlite3"
_DOCUMENT_KEYS = ("document_id", "source", "doc_id", "ref_doc_id")


def bind(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Chunks, .jsonl or .parquet: id, text, metadata.", show_default=False
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the work, and write nothing.")
    ] = False,
    engine: RunOn = "local",
    ray_spill: SpillFolder = None,
    as_json: AsJson = False,
) -> None:
    """
    Locate what a policy withholds in an index once, not at every question.

    Can be interrupted: what was located is kept, and the next run goes on from there.

    Example: sdrag bind policy.yaml --chroma ./chroma --state sdrag.sqlite
    """
    check_engine(engine, llm)
    rules = Policy.read(policy)
    if (chroma is None) == (not paths):
        raise UsageError("Give files of chunks, or --chroma and --collection.")
    source = _opened(paths or (), chroma, collection)
    if not source.count:
        raise UsageError("There is no chunk to bind.", hint="See `--help`.")
    if dry_run:
        result = _count(rules, source, has_model=llm != LOCAL)
    elif state is None:
        raise UsageError("--state names what is written.")
    else:
        from sdrag.state import open_state

        started, model = perf_counter(), llm_of(llm)
        opened = open_state(state, key=key)
        with progress_bar("Binding", source.count) as update:
            if engine == LOCAL:
                result = _bound(rules, source, opened, model, update)
            else:
                result = _bound_on_ray(rules, source, opened, ray_spill, update)
        result["seconds"] = round(perf_counter() - started, 3)
    for name, value in result.items():
        typer.echo(f"{name}: {value}")
    show_json(result, wanted=as_json)


@dataclass(frozen=True, slots=True)
class _Source:
    """The chunks of an index, in its order."""

    count: int
    passages: Callable[[], Iterator[Passage]]


def _count(rules: Policy, source: _Source, *, has_model: bool) -> dict[str, Any]:
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
    rules: Policy,
    source: _Source,
    state: State,
    model: dict[str, Any],
    update: Callable[[int, int], None],
) -> dict[str, Any]:
    from sdrag.disclosure import Ingested
    from sdrag.framework import Model
    from sdrag.options import Options
    from sdrag.pipeline import Engine
    from sdrag.pipeline import bind as bind_passages
    from sdrag.privacy.audit import AuditEvent

    events: list[AuditEvent] = []
    engine = Engine(
        rules,
        llm=Model(model["complete"], model["model_id"], model["window"])
        if model
        else None,
        state=state,
        options=Options(audit=events.append),
        stage="bind",
    )
    done = Ingested()
    for batch in batched(source.passages(), _AT_ONCE):
        before = done.passages

        def progress(now: int, _all: int, before: int = before) -> None:
            update(before + now, source.count)

        done += engine.run(bind_passages(batch, engine, progress))[0]
        update(done.passages, source.count)
    return {
        "chunks": done.passages,
        "located": done.located,
        "read": done.read,
        "calls": sum(event.model_calls for event in events),
        "tokens_in": sum(event.tokens_in for event in events),
        "tokens_out": sum(event.tokens_out for event in events),
    }


def _bound_on_ray(
    rules: Policy,
    source: _Source,
    state: State,
    spill: Path | None,
    update: Callable[[int, int], None],
) -> dict[str, Any]:
    from sdrag.corpus_binder import bind_corpus

    with open_pool("ray", spill) as pool:
        done = bind_corpus(source.passages, rules, state, pool, update)
    return {"chunks": done.passages, "located": done.located, "read": done.read}


def _opened(paths: Sequence[Path], chroma: Path | None, collection: str) -> _Source:
    """Open what holds the chunks: JSON lines, Parquet, or a Chroma collection."""
    if chroma is not None:
        opened = _collection(chroma, collection)
        return _Source(int(opened.count()), lambda: _of_chroma(opened))
    readers: dict[str, Callable[[Path], Iterator[Passage]]] = {
        ".jsonl": _of_lines,
        ".parquet": _of_parquet,
    }
    for path in paths:
        if path.suffix not in readers or not path.is_file():
            raise UsageError(f"{path.name} is no .jsonl or .parquet file.")

    def passages() -> Iterator[Passage]:
        for path in paths:
            yield from readers[path.suffix](path)

    return _Source(sum(map(_rows_in, paths)), passages)


def _rows_in(path: Path) -> int:
    from sdrag.documents import row_count

    if path.suffix == ".jsonl":
        return sum(1 for _ in _lines(path))
    with _naming(path):
        return row_count(path)


def _of_lines(path: Path) -> Iterator[Passage]:
    for number, line in _lines(path):
        with _place(f"{path.name}, line {number}"):
            passage = _chunk(json.loads(line))
        yield passage


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def _of_parquet(path: Path) -> Iterator[Passage]:
    from sdrag.documents import parquet_rows

    with _naming(path):
        for number, row in enumerate(parquet_rows(path), start=1):
            with _place(f"{path.name}, row {number}"):
                passage = _chunk(row)
            yield passage


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    from sdrag.documents import UnreadableError

    try:
        yield
    except UnreadableError as error:
        raise UsageError(f"{path.name} {error}.") from None


@contextmanager
def _place(place: str) -> Iterator[None]:
    """Say where there is no chunk."""
    try:
        yield
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            f"{place}: no chunk.", hint="A chunk is an object with an id and a text."
        ) from None


def _chunk(row: Mapping[str, Any]) -> Passage:
    from sdrag.documents import TEXT_KEYS

    text = next((row[key] for key in TEXT_KEYS if key in row), None)
    if text is None or row["id"] is None:
        raise ValueError
    return _passage(str(row["id"]), str(text), dict(row.get("metadata") or {}))


def _collection(folder: Path, name: str) -> Any:
    """Open a collection of Chroma, of either framework."""
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
        return client.get_collection(name)
    except Exception as error:  # noqa: BLE001 -- as Chroma pleases
        known = sorted(str(getattr(c, "name", c)) for c in client.list_collections())
        raise UsageError(
            f"The folder has no collection of that name ({type(error).__name__}).",
            hint=f"It has {', '.join(known) or 'none'}.",
        ) from None


def _of_chroma(collection: Any) -> Iterator[Passage]:
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


def _passage(identity: str, text: str, metadata: dict[str, Any]) -> Passage:
    named = next((metadata[key] for key in _DOCUMENT_KEYS if metadata.get(key)), None)
    document = None if named is None else str(named)
    return Passage(identity, text, metadata, document_id=document)
