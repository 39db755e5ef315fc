"""
A real model, as weak as models get, behind both frameworks: `make real-model`.

SmolLM2 135M, or any GGUF file, is served on loopback, every feature of both clients is
asked of it, sdrag is used with it in every way, and its redaction is measured next to
none at all. Ends with 1 where a client fails, a name comes out, or the model makes
anything worse.

    python -m benchmarks.real_model --server .venv-model/bin/python --articles 4
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import typer

from benchmarks.real_model import clients, uses
from benchmarks.suites.json_files import load_articles, read_json
from benchmarks.suites.rcqa import RcqaSettings, evaluate_rcqa
from langchain_sdrag import models
from sdrag import Options
from sdrag.effects.limits import Limits
from sdrag.framework import Model
from sdrag.privacy.audit import AuditEvent, count_failures

HERE = Path(__file__).parent
CLIENTS = {"LangChain": clients.langchain, "LlamaIndex": clients.llamaindex}
USES = {
    "LangChain": (uses.langchain, clients.chat_openai),
    "LlamaIndex": (uses.llamaindex, clients.openai_like),
}
LIMITS = Limits(seconds=600, concurrency=1)
FIGURES = (
    *("privacy", "over_redacted", "completeness"),
    *("model_calls", "undecided", "seconds"),
)
ALLOWED = 0.02
"""How much more of harmless words a model may withhold than none."""

Row = dict[str, Any]


@contextmanager
def served(python: Path, port: int, model: Path | None) -> Iterator[str]:
    """Start the server in its environment, yield its address, and stop it."""
    command = [python, HERE / "server.py", str(port), str(clients.CONTEXT)]
    command += [model] if model else []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as server:  # type: ignore[call-overload]  # noqa: S603 -- our own
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def try_features(url: str) -> Iterator[Row]:
    """Ask every feature of both clients."""
    for framework, checks in CLIENTS.items():
        for feature, works in checks(url).items():
            yield _timed({"framework": framework, "feature": feature}, works)


def _timed(row: Row, check: Callable[[], bool]) -> Row:
    """Run a check, and say what came of it; an error is named, never quoted."""
    started = perf_counter()
    try:
        outcome = "works" if check() else "FAILS"
    except Exception as error:  # noqa: BLE001 -- of any client
        outcome = f"FAILS with {type(error).__name__}"
    return {**row, "outcome": outcome, "seconds": round(perf_counter() - started, 1)}


def try_uses(url: str) -> Iterator[Row]:
    """Use sdrag in every way; a name that comes out is a failure."""
    for framework, (use_all, client) in USES.items():
        events: list[AuditEvent] = []
        options = Options(limits=LIMITS, audit=events.append)
        with TemporaryDirectory() as folder:
            state = Path(folder) / "state.sqlite"
            for name, use in use_all(client(url), state, options).items():
                events.clear()
                row = {"framework": framework, "use": name}
                row = _timed(row, partial(_is_sealed, use))
                calls = sum(event.model_calls for event in events)
                yield {**row, "calls": calls, "failures": count_failures(events)}


def _is_sealed(use: Callable[[], Any]) -> bool:
    answer = str(use())
    return not any(secret in answer for secret in uses.NAMES)


def measure(url: str, count: int) -> Iterator[Row]:
    """Measure the redaction of notes and articles, without a model and with it."""
    client = clients.chat_openai(url)
    name, window = models.model_name(client), models.context_window(client)
    llm = Model(models.complete(client), name, window)
    texts = {"notes": [read_json(HERE / "notes.json")]}
    texts |= {"articles": load_articles(None)[:count]} if count else {}
    for name, articles in texts.items():
        for form, settings in {
            "none": RcqaSettings(),
            "by default": RcqaSettings(llm=llm),
            "constraints together": RcqaSettings(llm=llm, small_model=False),
            "one at a time": RcqaSettings(llm=llm, small_model=True),
        }.items():
            figures = evaluate_rcqa(articles, replace(settings, limits=LIMITS))
            row = {figure: figures[figure] for figure in FIGURES}
            yield {"texts": name, "model": form, **row}


def print_table(rows: Iterable[Row]) -> list[Row]:
    """Print rows as a table in Markdown, each when it comes, and return them."""
    printed: list[Row] = []
    for row in rows:
        if not printed:
            print(f"| {' | '.join(row)} |\n|{' --- |' * len(row)}")
        print(f"| {' | '.join(map(str, row.values()))} |", flush=True)
        printed.append(row)
    print()
    return printed


def is_worse(none: Row, model: Row) -> bool:
    """Return True if a model loses privacy, or withholds more than is allowed."""
    more = model["over_redacted"] - none["over_redacted"]
    return bool(model["privacy"] < none["privacy"] or more > ALLOWED)


def main(
    server: Annotated[Path, typer.Option(help="The Python that has the server.")],
    articles: Annotated[int, typer.Option(help="How many are measured.")] = 4,
    port: Annotated[int, typer.Option(help="Of the server, on loopback.")] = 8765,
    model: Annotated[
        Path | None, typer.Option(help="A GGUF file; SmolLM2 by default.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON as well.")
    ] = False,
) -> None:
    """Print three tables: features of clients, uses of sdrag, and what is redacted."""
    with served(server, port, model) as url:
        tables = {
            "features": print_table(try_features(url)),
            "uses": print_table(try_uses(url)),
            "redaction": print_table(measure(url, articles)),
        }
    if as_json:
        print(json.dumps(tables))
    tried = tables["features"] + tables["uses"]
    fails = any(row["outcome"] != "works" for row in tried)
    nones = {row["texts"]: row for row in tables["redaction"] if row["model"] == "none"}
    worse = any(is_worse(nones[row["texts"]], row) for row in tables["redaction"])
    raise typer.Exit(1 if fails or worse else 0)


if __name__ == "__main__":
    typer.run(main)
