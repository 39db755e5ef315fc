"""What several commands share: options, models, what is read, the bar, and writing."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdrag.effects.prompts import Prompt
from sdrag.errors import UsageError, require_extra

if TYPE_CHECKING:
    import networkx as nx
    from rich.progress import TaskID

    from sdrag.effects.steps import EffectRunner
    from sdrag.framework import Model
    from sdrag.studio.documents import ReadFiles

LOCAL = "local"
"""The engine without a model."""

AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON object as well.")
]
JsonAlone = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object instead, which quotes no word: for logs."
    ),
]
Graph = Annotated[
    Path | None,
    typer.Option(help="Write the graph too, in GraphML: ids and figures, no text."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key",
        help="The key file of the state; by default FILE.key, or as its URL says.",
    ),
]
Llm = Annotated[
    str,
    typer.Option(
        help="The model: local for none, or langchain:PROVIDER:MODEL. Its failures are "
        "counted by cause, and the command then ends with 1."
    ),
]
ModelTimeout = Annotated[
    float | None,
    typer.Option(
        "--model-timeout",
        min=0.1,
        help="Seconds that one call may take; by default as the policy says.",
    ),
]
ModelConcurrency = Annotated[
    int | None,
    typer.Option(
        "--model-concurrency",
        min=1,
        help="How many calls run at once: 1 for a server that takes one at a time.",
    ),
]
Rows = Annotated[
    bool, typer.Option("--rows", help="Read each row of a CSV file as a document.")
]
RunOn = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", help="local for this process, ray for a cluster."),
]
SpillFolder = Annotated[
    Path | None,
    typer.Option(
        "--ray-spill", help="A folder for what does not fit into Ray's memory."
    ),
]

_PREFIX = "langchain:"


def llm_of(
    llm: str,
    option: str = "--llm",
    timeout: float | None = None,
    concurrency: int | None = None,
) -> Model | None:
    """
    Return a model by its name: `langchain:PROVIDER:MODEL`; None for the local engine.

    No tracer sees how it is asked, since prompts hold unredacted text. `option` is what
    names it, for errors; `timeout` the seconds of a call, by default the policy's.
    """
    if llm == LOCAL:
        return None
    if not llm.startswith(_PREFIX):
        raise UsageError(f"{option} takes local, or langchain:PROVIDER:MODEL.")
    with require_extra("langchain", "A LangChain model"):
        from langchain_sdrag import models
        from langchain_sdrag.tracing import hide_from_tracers
    from sdrag.framework import Model
    from sdrag.policy import Policy

    model = chat_model(llm.removeprefix(_PREFIX), timeout)
    port = models.complete(model)

    def complete(prompt: Prompt) -> Any:
        with hide_from_tracers(Policy(), None):
            return port.call(prompt)

    name, window = models.model_name(model), models.context_window(model)
    return Model(complete, name, window, timeout, concurrency)


def chat_model(name: str, timeout: float | None = None) -> Any:
    """
    Return a LangChain chat model: PROVIDER:MODEL, as `init_chat_model` takes it.

    A client that is given the timeout closes its connection, so that its server stops.
    """
    with require_extra("agents", "A model by name"):
        from langchain.chat_models import init_chat_model
    # The core tries again itself; a client's own attempts would each take the timeout.
    bounds: dict[str, Any] = {"timeout": timeout, "max_retries": 0} if timeout else {}
    try:
        return init_chat_model(name, temperature=0, **bounds)
    except Exception as error:  # noqa: BLE001 -- as the provider's package pleases
        raise UsageError(
            f"The model cannot be made ({type(error).__name__}).",
            hint="Name it as PROVIDER:MODEL, install the provider's LangChain package"
            " and set its key.",
        ) from None


def model_runner(model: Model | None) -> EffectRunner:
    """Return what answers effects: MiniLM, and a model where one is asked for."""
    from sdrag.effects.calls import Port
    from sdrag.effects.limits import Limits
    from sdrag.effects.runner import PortRunner, Ports
    from sdrag.framework import local_embeddings
    from sdrag.linkage.schema import local_runner

    if model is None:
        return local_runner()
    ask: Any = model.complete
    ports = Ports(complete=Port(ask), embed=local_embeddings())
    return PortRunner(ports, model.limit(Limits()))


def read_input(paths: Sequence[Path], *, rows: bool) -> ReadFiles:
    """Read files and folders; refuse a path that does not exist, or has no file."""
    from sdrag.studio.documents import read_files

    logging.disable(logging.CRITICAL)  # parsers quote what they stumble over
    try:
        read = read_files(paths, rows=rows)
    finally:
        logging.disable(logging.NOTSET)
    if not read.files and not read.skipped:
        raise UsageError("There is no file to read.", hint="See `--help`.")
    return read


def show(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result: a figure a line, then all of it as JSON if that was asked for."""
    for name, value in result.items():
        if isinstance(value, Mapping):
            for key, inner in value.items():
                counts = inner.items() if isinstance(inner, Mapping) else ()
                text = ", ".join(f"{figure} {count}" for figure, count in counts)
                typer.echo(f"{name}: {key}: {text or inner}")
        elif isinstance(value, list):
            for row in value:
                first, *others = row.values()
                typer.echo(f"{name}: {first!r} {' '.join(map(str, others))}")
        else:
            typer.echo(f"{name}: {value}")
    if as_json:
        typer.echo(json.dumps(result))


def open_pool(
    engine: str, llm: str, spill: Path | None, *, heavy: bool = False
) -> AbstractContextManager[Any]:
    """
    Return where a corpus is worked on: `None` for this process, or workers.

    Work that is heavy, and asks no model, is shared among processes of this machine. A
    model is refused on Ray: its provider sets the pace, and its key would travel.
    """
    if engine == LOCAL:
        from sdrag.parallel import Processes, count_processors

        shared = heavy and llm == LOCAL and count_processors() > 1
        return nullcontext(Processes() if shared else None)
    if llm != LOCAL:
        raise UsageError(
            f"--engine {engine} works with the local engine only.",
            hint="Leave out --llm, or leave out --engine.",
        )
    from sdrag.parallel import RayPool

    return RayPool(spill=spill)


@contextmanager
def progress_bars() -> Iterator[Callable[..., None]]:
    """Show how much is done; yields `update(label, done, total, note="")`."""
    with require_extra("cli", "A progress bar"):
        from rich.console import Console
        from rich.progress import Progress
    # What is left is told from all that was done: a model takes minutes for a step.
    with Progress(console=Console(stderr=True), speed_estimate_period=math.inf) as bars:
        tasks: dict[str, TaskID] = {}

        def update(label: str, done: int, total: int, note: str = "") -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label)
            shown = f"{label} ({note})" if note else label
            bars.update(tasks[label], completed=done, total=total, description=shown)

        yield update


def check_writable(*paths: Path | None) -> None:
    """
    Refuse before any work files, or new folders, that cannot be written.

    A file is made and removed for it: whoever may do anything is not asked for rights.
    """
    for path in filter(None, paths):
        if path.is_dir():
            raise UsageError(f"{path} is a folder.", hint="Name a file to write.")
        if not path.parent.is_dir():
            raise UsageError(
                f"There is no folder {path.parent}.", hint="Make it first."
            )
        try:
            with TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise unwritable(path, error) from None


def write_private(path: Path, content: str, mode: int = 0o600) -> None:
    """Write a file, by default for its owner alone, and never half of it."""
    partial = path.with_name(path.name + ".partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, flags, mode), "wb") as file:
            file.write(content.encode("utf-8", "replace"))
        partial.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


def write_graph(path: Path, graph: nx.Graph[str]) -> None:
    """Write a graph in GraphML, for its owner alone."""
    with require_extra("linkage", "A graph"):
        import networkx as nx
    write_private(path, "\n".join(nx.generate_graphml(graph)))


def unwritable(path: Path, error: OSError) -> UsageError:
    """Return what to raise where a file cannot be written."""
    return UsageError(
        f"{path} cannot be written ({type(error).__name__}).",
        hint="Name another place.",
    )
