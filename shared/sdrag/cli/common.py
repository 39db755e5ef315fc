"""What several commands share: options, models by name, the bar, and writing files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, Literal

import typer

from sdrag.effects.progress import Progress
from sdrag.effects.prompts import Prompt
from sdrag.effects.tokens import text_of
from sdrag.errors import UsageError, require_extra

__all__ = [
    "LOCAL",
    "AsJson",
    "KeyFile",
    "RunOn",
    "SpillFolder",
    "chat_model",
    "check_creatable",
    "check_writable",
    "complete_with",
    "counted",
    "llm_of",
    "progress_bar",
    "write_whole",
]

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", help="The key of the state; by default next to it, or as its URL says."
    ),
]
RunOn = Annotated[
    Literal["local", "ray"], typer.Option("--engine", help="Where the work is done.")
]
SpillFolder = Annotated[
    Path | None,
    typer.Option("--ray-spill", help="Where Ray puts what memory does not hold."),
]


LOCAL = "local"
"""The engine without a model."""

_PREFIX = "langchain:"


def complete_with(
    engine: str, option: str = "--engine"
) -> Callable[[Prompt], str] | None:
    """
    Return how prompts are completed; `None` for the local engine.

    Args:
        engine: `local`, or `langchain:PROVIDER:MODEL`.
        option: Where it was given.

    Raises:
        UsageError: The engine's name means nothing.
    """
    if engine == LOCAL:
        return None
    if not engine.startswith(_PREFIX):
        raise UsageError(f"{option} takes local, or langchain:PROVIDER:MODEL.")
    ask = llm_of(engine)["complete"]
    return lambda prompt: text_of(ask(prompt))


def llm_of(llm: str) -> dict[str, Any]:
    """
    Return the settings of a model that redacts: how it is asked, its name, its window.

    Args:
        llm: `langchain:PROVIDER:MODEL`.
    """
    with require_extra("langchain", "A LangChain model"):
        from langchain_sdrag.effects import completing
        from langchain_sdrag.windows import context_window
    model = chat_model(llm.removeprefix(_PREFIX))
    port = completing(model)
    return {
        "complete": port and port.call,
        "model_id": llm,
        "window": context_window(model),
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


def counted(count: int, noun: str) -> str:
    """Return how many there are, such as `1 chunk` or `2,000 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress]:
    """
    Show how much is done.

    Args:
        label: What is being done.
        total: Of the items.

    Yields:
        A function that takes how many are done, and how many there are.
    """
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
    above = next((one for one in path.absolute().parents if one.exists()), None)
    try:
        with TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({type(error).__name__}).",
            hint="Name another place.",
        ) from None


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
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written.", hint="Name another file.")


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
        raise UsageError(
            f"{path} cannot be written ({type(error).__name__})."
        ) from None
