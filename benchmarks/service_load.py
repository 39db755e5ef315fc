"""
The example's service under load, for as long as you like.

    python benchmarks/service_load.py --seconds 600 --framework langchain

A model that answers with all it was given, the service, and the clients are processes
of their own, on loopback. Each client of two tenants asks, reads the whole answer and
asks again. The policy is swapped every few seconds for one that hides another canary.
Printed are throughput, latencies, memory, and what leaked. `--bare` then puts the same
load for some seconds on the same service without sdrag. An interrupt ends a load
early.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression
from time import monotonic

import httpx
import psutil
from langchain_core.documents import Document

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared"), str(ROOT / "examples" / "service")]

from rag_service.identity import sign  # noqa: E402 -- the path comes first

from benchmarks.service_parts.corpus import (  # noqa: E402
    POLICIES,
    QUESTIONS,
    TENANTS,
    Corpus,
)
from benchmarks.service_parts.processes import resident, serving  # noqa: E402
from langchain_sdrag import ConstraintBinder  # noqa: E402

KEY = "a key of the load, and of nothing else"
KINDS = tuple(POLICIES)


@dataclass(slots=True)
class Run:
    """
    One load on one service.

    Args:
        url: Of the service.
        corpus: Its documents.
        policy: The file that is swapped.
        seconds: How long it lasts.
        wrapped: The service is protected, so what leaks is counted.
    """

    url: str
    corpus: Corpus
    policy: Path
    seconds: float
    wrapped: bool = True
    start: float = field(default_factory=monotonic)
    swaps: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    first_words: list[float] = field(default_factory=list)
    loop: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return monotonic() - self.start

    @property
    def goes_on(self) -> bool:
        """Whether clients ask again."""
        return self.elapsed < self.seconds

    def end(self) -> None:
        """Let the clients read the answers that they wait for, and ask no more."""
        self.seconds = min(self.seconds, self.elapsed)

    def swap(self) -> None:
        """Put the other policy in force: another file, renamed."""
        new = self.policy.with_suffix(".new")
        new.write_text(POLICIES[KINDS[(self.swaps + 1) % 2]], encoding="utf-8")
        new.replace(self.policy)
        self.swaps += 1

    def note(self, answer: _Answer, tenant: str, swaps: int) -> None:
        """Count what an answer shows; `swaps` is how many there had been before it."""
        if not answer.done:
            self.statuses["broken off"] += 1
            return
        shown = self.corpus.shown(answer.text, tenant)
        self.seen["answers"] += 1
        self.seen["secret shown"] += shown.secret
        self.seen["another tenant's"] += shown.foreign
        self.seen["mixed policies"] += len(shown.kinds) > 1
        self.seen["nothing to check"] += not shown.canaries
        hidden = {KINDS[swaps % 2], KINDS[self.swaps % 2]}
        if swaps == self.swaps:
            self.seen["under a policy of another time"] += bool(shown.kinds & hidden)


@dataclass(slots=True)
class _Answer:
    text: str = ""
    done: bool = False

    def read(self, line: str) -> None:
        said = json.loads(line)
        self.text += said.get("text", "")
        self.done = said.get("done", False)


async def _client(run: Run, number: int) -> None:
    tenant = TENANTS[number % 2]
    token = sign(KEY, f"client-{number}", tenant, seconds=run.seconds + 600)
    transport = httpx.AsyncHTTPTransport(verify=False)
    async with httpx.AsyncClient(
        transport=transport,
        base_url=run.url,
        headers={"authorization": f"Bearer {token}"},
        timeout=120,
    ) as client:
        while run.goes_on:
            question = QUESTIONS[run.seen["asked"] % len(QUESTIONS)]
            run.seen["asked"] += 1
            try:
                await _ask(run, client, question, tenant)
            except httpx.TransportError as error:
                run.statuses[type(error).__name__] += 1


async def _ask(run: Run, client: httpx.AsyncClient, question: str, tenant: str) -> None:
    begin, swaps, answer = monotonic(), run.swaps, _Answer()
    asked = {"question": question}
    async with client.stream("POST", "/answer", json=asked) as response:
        run.statuses[str(response.status_code)] += 1
        if response.status_code != 200:
            await response.aread()
            if response.status_code == 503:
                await asyncio.sleep(float(response.headers["retry-after"]))
            return
        first = monotonic() - begin
        async for line in response.aiter_lines():
            answer.read(line)
    run.first_words.append(first)
    run.latencies.append(monotonic() - begin)
    if run.wrapped:
        run.note(answer, tenant, swaps)


async def _swapping(run: Run, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        run.swap()


async def _watching(run: Run, process: psutil.Process) -> None:
    """Note the memory, and how long the event loop takes for next to nothing."""
    async with httpx.AsyncClient(base_url=run.url, timeout=60) as client:
        while True:
            run.memory.append((run.elapsed / 60, resident(process)))
            begin = monotonic()
            with suppress(httpx.TransportError):
                await client.get("/health/live")
                run.loop.append(monotonic() - begin)
            await asyncio.sleep(1)


async def _load(run: Run, process: psutil.Process, clients: int, every: float) -> None:
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(interrupt, run.end)
    meanwhile = [asyncio.create_task(_watching(run, process))]
    if run.wrapped:
        meanwhile.append(asyncio.create_task(_swapping(run, every)))
    await asyncio.gather(*(_client(run, number) for number in range(clients)))
    for task in meanwhile:
        task.cancel()


def _percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def _times(values: list[float]) -> str:
    parts = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    return ", ".join(
        f"{name} {_percentile(values, part):.0f} ms" for name, part in parts
    )


def _slope(memory: list[tuple[float, float]]) -> float:
    """Return the growth in MB a minute after the first fifth."""
    late = memory[len(memory) // 5 :]
    minutes, sizes = zip(*late, strict=True)
    return linear_regression(minutes, sizes).slope


def _report(name: str, run: Run) -> None:
    print(f"== {name}")
    print(f"seconds: {run.elapsed:.0f}; answers: {len(run.latencies)}")
    print(f"answers a second: {len(run.latencies) / run.elapsed:.1f}")
    print(f"whole answer: {_times(run.latencies)}")
    print(f"first line: {_times(run.first_words)}")
    print(f"/health/live meanwhile: {_times(run.loop)}")
    step = max(1, len(run.memory) // 10)
    sizes = ", ".join(f"{size:.0f}" for _, size in run.memory[::step])
    print(f"memory, MB: {sizes}; {_slope(run.memory):+.2f} MB a minute after warm-up")
    print(f"by status: {dict(run.statuses)}")


@contextmanager
def _service(
    app: str, given: argparse.Namespace, folder: Path, model: str
) -> Iterator[tuple[str, psutil.Process, Path]]:
    options = ["--factory", "--workers", str(given.workers)]
    options += ["--timeout-keep-alive", "30"]
    log = folder / f"{app.partition(':')[0]}.log"
    settings = {
        "SERVICE_KEY": KEY,
        "SERVICE_POLICY": str(folder / "policy.yaml"),
        "SERVICE_DOCUMENTS": str(folder / "documents.jsonl"),
        "SERVICE_STATE": _state(given, folder),
        "SERVICE_MODEL_URL": f"{model}/v1",
        "SERVICE_SLOTS": str(given.slots),
        "HF_HUB_OFFLINE": "1",
    }
    with serving(app, "/health/live", log, *options, **settings) as (url, process):
        yield url, process, log


def _state(given: argparse.Namespace, folder: Path) -> str:
    return given.state or str(folder / "state.sqlite")


def _bind(corpus: Corpus, policy: Path, state: str) -> None:
    """Locate what a policy is about before it is put in force, as an operator does."""
    documents = []
    for line in corpus.lines:
        note = json.loads(line)
        documents.append(Document(note.pop("text"), metadata=note))
    ConstraintBinder(policy=policy, state=state).transform_documents(documents)


def _measured(
    app: str, given: argparse.Namespace, folder: Path, model: str, *, wrapped: bool
) -> tuple[Run, int]:
    """Put the load on a service; return it, and the canaries in log and metrics."""
    corpus, policy = Corpus(given.documents), folder / "policy.yaml"
    corpus.write(folder / "documents.jsonl")
    state = _state(given, folder)
    for text in POLICIES.values():
        policy.write_text(text, encoding="utf-8")
        _bind(corpus, policy, state)
    policy.write_text(POLICIES[KINDS[0]], encoding="utf-8")
    with _service(app, given, folder, model) as (url, process, log):
        seconds = given.seconds if wrapped else given.bare
        run = Run(url, corpus, policy, seconds, wrapped)
        asyncio.run(_load(run, process, given.clients, given.swap))
        metrics = httpx.get(f"{url}/metrics").text
    return run, corpus.canaries_in(metrics + log.read_text(encoding="utf-8"))


def main() -> None:
    """Measure, print, and fail where anything leaked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framework", default="langchain")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--bare", type=float, default=0, help="seconds without sdrag")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--documents", type=int, default=12, help="for each tenant")
    parser.add_argument("--swap", type=float, default=10, help="seconds between swaps")
    parser.add_argument("--state", help="a file or an address in place of a new file")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        double = serving(
            "benchmarks.service_parts.model:app", "/", folder / "model.log"
        )
        model, _ = stack.enter_context(double)
        app = f"rag_service.on_{given.framework}:create"
        run, written = _measured(app, given, folder, model, wrapped=True)
        _report("with sdrag", run)
        if given.bare:
            app = f"benchmarks.service_parts.bare_{given.framework}:create"
            bare, _ = _measured(app, given, folder, model, wrapped=False)
            _report("without sdrag", bare)
            ours, theirs = (_percentile(one.latencies, 0.5) for one in (run, bare))
            print(f"p50 with sdrag is {ours / theirs:.2f} times p50 without")
    found = {name: run.seen[name] for name in sorted({*run.seen} - {"asked"})}
    print(f"policy swaps: {run.swaps}; {found}; canaries in log and metrics: {written}")
    harmless = {"answers", "asked"}
    if written or any(n for name, n in run.seen.items() if name not in harmless):
        raise SystemExit("Something leaked, or could not be checked.")


if __name__ == "__main__":
    main()
