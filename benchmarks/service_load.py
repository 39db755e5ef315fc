"""
The example's service under load, for as long as you like.

    python benchmarks/service_load.py --seconds 600 --framework langchain

A model that answers with all it was given, the service, and the clients are processes
of their own, on loopback. Each client of two tenants asks, reads the whole answer and
asks again. Some leave before the end. The policy is swapped every few seconds for one
that hides another canary. Printed are throughput, latencies, memory, and what leaked.
Whatever must not be makes the run fail. `--bare` then puts the same load for some
seconds on the same service without sdrag. An interrupt ends a load early.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from langchain_core.documents import Document

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared"), str(ROOT / "examples" / "service")]

from benchmarks.service_parts.aftermath import seen_after  # noqa: E402 -- the path
from benchmarks.service_parts.clients import (  # noqa: E402
    KEY,
    KINDS,
    Load,
    client,
)
from benchmarks.service_parts.corpus import POLICIES, Corpus  # noqa: E402
from benchmarks.service_parts.processes import serving  # noqa: E402
from benchmarks.service_parts.record import percentile  # noqa: E402
from benchmarks.service_parts.report import faults, printed  # noqa: E402
from benchmarks.service_parts.watching import (  # noqa: E402
    probing,
    swapping,
    watching,
)
from langchain_sdrag import ConstraintBinder  # noqa: E402
from tests.support.postgres_server import postgres_server  # noqa: E402


@dataclass(frozen=True, slots=True)
class _Place:
    """
    Where a load is.

    Args:
        given: What the command line says.
        folder: For its files.
        model: The URL of the model.
        state: Where sdrag remembers.
        bind: As `measured` says.
    """

    given: argparse.Namespace
    folder: Path
    model: str
    state: str
    bind: Callable[[Corpus, Path, str], None]


async def _put(load: Load, place: _Place, process: psutil.Process) -> None:
    """Let all clients ask, until the load is over or interrupted."""
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(interrupt, load.end)
    meanwhile = [asyncio.create_task(watching(load, process))]
    if load.wrapped:
        meanwhile.append(asyncio.create_task(swapping(load, place.given.swap)))
    with probing(load, place.folder / "probes"):
        await asyncio.gather(*(client(load, n) for n in range(place.given.clients)))
    for task in meanwhile:
        task.cancel()


@contextmanager
def _service(app: str, place: _Place) -> Iterator[tuple[str, psutil.Process, Path]]:
    given, folder = place.given, place.folder
    options = ["--factory", "--workers", str(given.workers)]
    options += ["--timeout-keep-alive", str(given.keep_alive)]
    name = app.partition(":")[0]
    settings = {
        "SERVICE_KEY": KEY,
        "SERVICE_POLICY": str(folder / "policy.yaml"),
        "SERVICE_DOCUMENTS": str(folder / "documents.jsonl"),
        "SERVICE_STATE": place.state,
        "SERVICE_MODEL_URL": f"{place.model}/v1",
        "SERVICE_SLOTS": str(given.slots),
        "HF_HUB_OFFLINE": "1",
    }
    if given.workers > 1:
        counts = folder / f"{name}.counts"
        counts.mkdir()
        settings["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
    log = folder / f"{name}.log"
    with serving(app, "/health/live", log, *options, **settings) as (url, process):
        yield url, process, log


def bound(corpus: Corpus, policy: Path, state: str) -> None:
    """Locate what a policy is about before it is put in force, as an operator does."""
    documents = []
    for line in corpus.lines:
        note = json.loads(line)
        documents.append(Document(note.pop("text"), metadata=note))
    ConstraintBinder(policy=policy, state=state).transform_documents(documents)


def _measured(app: str, place: _Place, *, wrapped: bool) -> tuple[Load, list[str]]:
    """Put the load on a service and print what it shows; return what must not be."""
    given = place.given
    corpus, policy = Corpus(given.documents), place.folder / "policy.yaml"
    corpus.write(place.folder / "documents.jsonl")
    for text in POLICIES.values():
        policy.write_text(text, encoding="utf-8")
        place.bind(corpus, policy, place.state)
    policy.write_text(POLICIES[KINDS[0]], encoding="utf-8")
    with _service(app, place) as (url, process, log):
        seconds = given.seconds if wrapped else given.bare
        load = Load(url, corpus, policy, seconds, given.cancel, wrapped)
        asyncio.run(_put(load, place, process))
        load.end()
        after = seen_after(url, place.model)
    written = corpus.canaries_in(after.metrics + log.read_text(encoding="utf-8"))
    printed(load, after)
    return load, faults(load, after, written)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line, or these words in its place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framework", default="langchain")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--bare", type=float, default=0, help="seconds without sdrag")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--slots", type=int, default=256, help="for each worker")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--documents", type=int, default=12, help="for each tenant")
    parser.add_argument("--swap", type=float, default=10, help="seconds between swaps")
    parser.add_argument("--cancel", type=float, default=0.05, help="share of requests")
    parser.add_argument(
        "--keep-alive", type=int, default=30, help="seconds, of uvicorn"
    )
    parser.add_argument("--state", help="a file or an address in place of a new file")
    parser.add_argument(
        "--postgres", action="store_true", help="start a server for the state"
    )
    return parser.parse_args(words)


def _state(given: argparse.Namespace, folder: Path, stack: ExitStack) -> str:
    if given.postgres:
        server = stack.enter_context(postgres_server())
        return server.url("load", folder / "key")
    return given.state or str(folder / "state.sqlite")


def measured(
    given: argparse.Namespace, app: str, bind: Callable[[Corpus, Path, str], None]
) -> list[str]:
    """
    Put the load on an application and print what it shows; return what must not be.

    Args:
        given: What the command line says.
        app: As uvicorn takes it.
        bind: Takes documents, a policy and a state, before the policy is in force.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        double = serving(
            "benchmarks.service_parts.model:app", "/calls", folder / "model.log"
        )
        model, _ = stack.enter_context(double)
        place = _Place(given, folder, model, _state(given, folder, stack), bind)
        print("== with sdrag")
        load, found = _measured(app, place, wrapped=True)
        if given.bare:
            print("== without sdrag")
            app = f"benchmarks.service_parts.bare_{given.framework}:create"
            bare, found_bare = _measured(app, place, wrapped=False)
            found += found_bare
            ours, theirs = (
                percentile(one.record.latencies, 0.5) for one in (load, bare)
            )
            print(f"p50 with sdrag is {ours / theirs:.2f} times p50 without")
    return found


def main() -> None:
    """Measure, print, and fail where anything is as it must not be."""
    given = options()
    found = measured(given, f"rag_service.on_{given.framework}:create", bound)
    if found:
        raise SystemExit("\n".join(found))
    print("nothing is as it must not be")


if __name__ == "__main__":
    main()
