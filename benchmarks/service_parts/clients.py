"""The clients of a load: each asks, reads its answer, checks it, and asks again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

import httpx
from rag_service.identity import sign

from benchmarks.service_parts.corpus import POLICIES, QUESTIONS, TENANTS, Corpus
from benchmarks.service_parts.record import Record

__all__ = ["KEY", "KINDS", "Load", "client"]

KEY = "a key of the load, and of nothing else"
KINDS = tuple(POLICIES)


@dataclass(slots=True)
class Load:
    """
    One load on one service.

    Args:
        url: Of the service.
        corpus: Its documents.
        policy: The file that is swapped.
        seconds: How long clients ask.
        leaving: The share of requests that a client leaves before their end.
        wrapped: The service is protected, so what leaks is counted.
    """

    url: str
    corpus: Corpus
    policy: Path
    seconds: float
    leaving: float = 0.0
    wrapped: bool = True
    start: float = field(default_factory=monotonic)
    swaps: int = 0
    record: Record = field(default_factory=Record)
    chance: Random = field(default_factory=lambda: Random(0))

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

    def patience(self) -> float | None:
        """Say for how long an answer is waited for; None for as long as it takes."""
        if self.chance.random() >= self.leaving:
            return None
        usual = self.record.latencies[-1] if self.record.latencies else 1.0
        return self.chance.uniform(0, 1.2 * usual)


@dataclass(slots=True)
class _Asked:
    """
    One request.

    Args:
        tenant: On whose behalf.
        swaps: How many there had been before it.
        idle: For how many seconds its connection had been idle.
        status: Of its answer, once that began.
        text: Of the answer.
        done: The answer came to its end.
        pause: For how many seconds a refusal tells the client to wait.
    """

    tenant: str
    swaps: int
    idle: float
    begin: float = field(default_factory=monotonic)
    status: int = 0
    text: str = ""
    done: bool = False
    pause: float = 0.0

    @property
    def waited(self) -> float:
        """Seconds since it was asked."""
        return monotonic() - self.begin

    @property
    def came(self) -> str:
        """How far its answer has come."""
        return "in the answer" if self.status else "before the answer"

    def read(self, line: str) -> None:
        said = json.loads(line)
        self.text += said.get("text", "")
        self.done = said.get("done", False)


async def client(load: Load, number: int) -> None:
    """Ask until the load is over; half of the clients are of each tenant."""
    tenant = TENANTS[number % 2]
    token = sign(KEY, f"client-{number}", tenant, seconds=load.seconds + 600)
    while load.goes_on:
        async with httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(verify=False),
            base_url=load.url,
            headers={"authorization": f"Bearer {token}"},
            timeout=120,
        ) as http:
            await _asking(load, http, tenant)


async def _asking(load: Load, http: httpx.AsyncClient, tenant: str) -> None:
    """Ask until the client leaves: all that it holds open is closed then."""
    ended = monotonic()
    while load.goes_on:
        asked = _Asked(tenant, load.swaps, monotonic() - ended)
        stays = await _asked(load, http, asked)
        _check(load, asked)
        if not stays:
            return
        ended = monotonic()
        await asyncio.sleep(asked.pause)


async def _asked(load: Load, http: httpx.AsyncClient, asked: _Asked) -> bool:
    """Ask once; say whether the client has stayed to the end."""
    record = load.record
    question = QUESTIONS[record.asked % len(QUESTIONS)]
    record.asked += 1
    try:
        async with asyncio.timeout(load.patience()):
            await _answered(load, http, asked, question)
    except TimeoutError:
        record.left[asked.came] += 1
        return False
    except httpx.TransportError as error:
        record.errors[_broken(asked, error)] += 1
    return True


async def _answered(
    load: Load, http: httpx.AsyncClient, asked: _Asked, question: str
) -> None:
    body = {"question": question}
    async with http.stream("POST", "/answer", json=body) as response:
        asked.status = response.status_code
        load.record.statuses[str(asked.status)] += 1
        if asked.status != 200:
            await _refused(load, asked, response)
            return
        first = asked.waited
        async for line in response.aiter_lines():
            asked.read(line)
    if not asked.done:
        load.record.errors["an answer without its end"] += 1
        return
    load.record.answers += 1
    load.record.first_lines.append(first)
    load.record.latencies.append(asked.waited)


async def _refused(load: Load, asked: _Asked, response: httpx.Response) -> None:
    """Heed when a 503 says to come again; any other refusal is an error."""
    said, after = await response.aread(), response.headers.get("retry-after")
    asked.pause = float(after or 1)
    if response.status_code != 503 or said != b'{"error":"full"}' or not after:
        load.record.errors[f"a refusal, {response.status_code}"] += 1


def _check(load: Load, asked: _Asked) -> None:
    if not load.wrapped or asked.status != 200:
        return
    certain = asked.swaps == load.swaps
    hidden = frozenset({KINDS[load.swaps % 2]} if certain else ())
    shown = load.corpus.shown(asked.text, asked.tenant)
    load.record.checked(shown, hidden, whole=asked.done)


def _broken(asked: _Asked, error: httpx.TransportError) -> str:
    return (
        f"{type(error).__name__} {asked.came}, after {asked.waited:.1f} s"
        f" on a connection that was idle for {asked.idle:.1f} s"
    )
