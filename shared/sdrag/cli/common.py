"""What several commands share: options, models, what is read, the bar, and writing."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdrag.effects.progress import Progress
from sdrag.effects.prompts import Prompt
from sdrag.effects.tokens import text_of
from sdrag.errors import UsageError, require_extra

if TYPE_CHECKING:
    from sdrag.documents import ReadFile, Skipped
    from sdrag.vocabulary import Passage

LOCAL = "local"
"""The engine without a model."""

AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON object as well.")
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
    typer.Option(help="The model: local for none, or langchain:PROVIDER:MODEL."),
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


def complete_with(
    engine: str, option: str = "--engine"
) -> Callable[[Prompt], str] | None:
    """
    Return how prompts are completed; `None` for the local engine.

    Raises:
        UsageError: The engine's name means nothing, or there is no such model.
    """
    ask = llm_of(engine, option).get("complete")
    return ask and (lambda prompt: text_of(ask(prompt)))


def llm_of(llm: str, option: str = "--llm") -> dict[str, Any]:
    """
    Return the settings of a model: `complete`, `model_id` and `window`.

    No tracer sees how it is asked, since prompts hold unredacted text.

    Args:
        llm: `local`, which has no settings, or `langchain:PROVIDER:MODEL`.
        option: Where it was given.

    Raises:
        UsageError: The name means nothing, or there is no such model.
    """
    if llm == LOCAL:
        return {}
    if not llm.startswith(_PREFIX):
        raise UsageError(f"{option} takes local, or langchain:PROVIDER:MODEL.")
    with require_extra("langchain", "A LangChain model"):
        from langchain_sdrag import models
        from langchain_sdrag.tracing import hide_from_tracers
    from sdrag.policy import Policy

    model = chat_model(llm.removeprefix(_PREFIX))
    port = models.complete(model)

    def complete(prompt: Prompt) -> Any:
        with hide_from_tracers(Policy(), None):
            return port and port.call(prompt)

    return {
        "complete": complete,
        "model_id": models.model_name(model),
        "window": models.context_window(model),
    }


def chat_model(name: str) -> Any:
    """
    Return a LangChain chat model.

    Args:
        name: PROVIDER:MODEL, as `init_chat_model` takes it.

    Raises:
        UsageError: There is no such model, or no key for it.
    """
    with require_extra("agents", "A model by name"):
        from langchain.chat_models import init_chat_model
    try:
        return init_chat_model(name, temperature=0)
    except Exception as error:  # noqa: BLE001 -- as the provider's package pleases
        raise UsageError(
            f"The model cannot be made ({type(error).__name__}).",
            hint="Name it as PROVIDER:MODEL, install the provider's LangChain package"
            " and set its key.",
        ) from None


@dataclass(slots=True)
class Input:
    """
    The files that a command was given.

    Args:
        files: Those that were read.
        skipped: Those that were not.
    """

    files: list[ReadFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def documents(self) -> list[Passage]:
        """All documents, in the order of their files."""
        return [document for file in self.files for document in file.documents]

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """What to know of the files that were read, after their paths."""
        return [(file.path, text) for file in self.files for text in file.remarks]

    def as_dict(self) -> dict[str, list[dict[str, str]]]:
        """Return plain data."""
        return {
            "skipped": [
                {"path": file.path, "reason": file.reason} for file in self.skipped
            ],
            "remarks": [{"path": path, "remark": text} for path, text in self.remarks],
        }

    def show(self) -> None:
        """Print what was not read, and what to know of the rest."""
        for path, text in self.remarks:
            typer.echo(f"  {path!r} {text}")
        for file in self.skipped:
            typer.echo(f"  {file.path!r} was not read: it {file.reason}")


def read_input(paths: Sequence[Path], *, rows: bool) -> Input:
    """
    Read files and folders.

    Raises:
        UsageError: A path does not exist, or there is no file.
    """
    from sdrag.documents import ReadFile, read_files

    read = Input()
    logging.disable(logging.CRITICAL)  # parsers quote what they stumble over
    try:
        for file in read_files(paths, rows=rows):
            if isinstance(file, ReadFile):
                read.files.append(file)
            else:
                read.skipped.append(file)
    finally:
        logging.disable(logging.NOTSET)
    if not read.files and not read.skipped:
        raise UsageError("There is no file to read.", hint="See `--help`.")
    return read


def show_json(result: Mapping[str, Any], *, wanted: bool) -> None:
    """Print a result as one line of JSON, if it was asked for."""
    if wanted:
        typer.echo(json.dumps(result))


def check_engine(engine: str, llm: str) -> None:
    """
    Refuse a model on Ray: its provider sets the pace, and its key would travel.

    Raises:
        UsageError: Both were asked for.
    """
    if LOCAL not in {engine, llm}:
        raise UsageError(
            f"--engine {engine} works with the local engine only.",
            hint="Leave out --llm, or leave out --engine.",
        )


@contextmanager
def open_pool(engine: str, spill: Path | None) -> Iterator[Any]:
    """
    Yield where a corpus is worked on; Ray runs inside the block.

    Args:
        engine: `local`, for which there is no pool, or `ray`.
        spill: Where Ray puts what its memory does not hold.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        HostError: Ray cannot be started or reached.
    """
    if engine == LOCAL:
        yield None
        return
    from sdrag.parallel import RayPool

    with RayPool(spill=spill) as pool:
        yield pool


def counted(count: int, noun: str) -> str:
    """Return how many there are, such as `1 chunk` or `2,000 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress]:
    """Show how much is done; yields a function that takes how many are, and of all."""
    with require_extra("cli", "A progress bar"):
        from rich.console import Console
        from rich.progress import Progress as Bar
    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update


def check_creatable(path: Path) -> None:
    """
    Find out early whether a file or folder can be made, with the folders above it.

    A file is made and removed for it: whoever may do anything is not asked for rights.

    Raises:
        UsageError: It cannot.
    """
    above = next((p for p in path.absolute().parents if p.exists()), None)
    try:
        with TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


def check_writable(path: Path) -> None:
    """
    Find out early whether a file can be written, before any work is done for it.

    Raises:
        UsageError: It cannot.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name a file to write.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", hint="Make it first.")
    check_creatable(path)


def write_whole(path: Path, content: str | bytes, *, shared: bool = False) -> None:
    """
    Write a file through another one next to it, so that it is never half written.

    Args:
        path: Of the file.
        content: A lone surrogate in a text becomes a question mark.
        shared: Others may read it too, as the umask says; else only the owner can.

    Raises:
        UsageError: It cannot be written.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    partial = path.with_name(path.name + ".partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, flags, 0o666 if shared else 0o600), "wb") as f:
            f.write(data)
        partial.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path} cannot be written ({type(error).__name__}).",
        hint="Name another place.",
    )
