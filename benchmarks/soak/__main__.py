"""Run the service, ask it, break it, and look for what was planted."""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import jwt
import numpy as np
import psutil

from benchmarks.soak.corpus import TENANTS, find_planted, write_notes, write_question
from tests.support.postgres_server import Server, postgres_server

_FRAMEWORKS = ("langchain", "llamaindex")
_PORT = 8471  # and the next
_ASKERS, _PAUSE_SECONDS = 3, 0.2
_DISK_MEGABYTES, _FULL_SECONDS = 220, 20
_MORE = ("Hide amounts of money", "Hide dates", "Hide e-mail addresses")
_PARTS = ("answers", "log", "traces", "database", "policy.yaml", "state.key")


class _Soak:
    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server, self.notes = folder, server, write_notes()
        self.key, self.end = secrets.token_hex(32), 0.0
        self.ports = dict(zip(_FRAMEWORKS, range(_PORT, _PORT + 2), strict=True))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.memory: dict[str, list[int]] = defaultdict(list)
        self.statuses: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        self.found: dict[str, list[str]] = {part: [] for part in _PARTS}
        self.write_policy()

    def write_policy(self) -> None:
        names = {"text": "Remove names of witnesses", "unless": {"roles": ["judge"]}}
        more = _MORE[self.events["policies"] % len(_MORE)]
        policy = {
            "constraints": [names, "Remove phone numbers", more],
            "access": {"tenant_key": "tenant", "required": ["tenant"]},
        }
        partial = self.folder / "policy.partial"
        partial.write_text(json.dumps(policy), encoding="utf-8")
        partial.replace(self.folder / "policy.yaml")
        self.events["policies"] += 1

    def start(self, name: str) -> None:
        settings = {
            "SERVICE_KEY": self.key,
            "SERVICE_POLICY": str(self.folder / "policy.yaml"),
            "SERVICE_STATE": self.server.url("soak", self.folder / "state.key"),
            "SERVICE_STORE": str(self.folder / "stores" / name),
        }
        command = [sys.executable, "-m", "benchmarks.soak.serving", name]
        with (self.folder / f"log-{name}").open("ab") as log:
            self.processes[name] = subprocess.Popen(  # noqa: S603 -- this interpreter
                [*command, str(self.ports[name]), str(self.folder)],
                env={**os.environ, **settings},
                stdout=log,
                stderr=log,
            )

    def url(self, name: str, path: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}/{path}"

    def is_up(self, name: str) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(self.url(name, "health"), timeout=5).is_success
        return False

    def post(self, name: str, path: str, asker: tuple[str, str], body: str) -> str:
        """Return the status of an answer, once its words were looked at."""
        tenant, role = asker
        who = {"sub": "asker", "tenant": tenant, "roles": [role]}
        token = jwt.encode(who | {"exp": time.time() + 600}, self.key, "HS256")
        headers = {"authorization": f"Bearer {token}"}
        given = {"json": {"question": body}, "headers": headers, "timeout": 60}
        try:
            answer = httpx.post(self.url(name, path), **given)
        except httpx.HTTPError as error:
            return type(error).__name__
        hidden = (word for n in self.notes for word in n.hidden_from(*asker))
        self.found["answers"] += find_planted(answer.text, frozenset(hidden))
        return str(answer.status_code)

    def ask_until_the_end(self, seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < self.end:
            asker = draw.choice(TENANTS), draw.choice(["clerk", "judge"])
            if asker[0] in TENANTS[::2]:  # without a judge: nobody sees their names
                asker = asker[0], "clerk"
            name, path = draw.choice(_FRAMEWORKS), draw.choice(["passages", "answer"])
            question = write_question(draw, draw.choice(self.notes).name)
            began = time.monotonic()
            status = self.post(name, path, asker, question)
            self.statuses[status] += 1
            if status == "200":
                self.seconds[f"{name} /{path}"].append(time.monotonic() - began)
            time.sleep(_PAUSE_SECONDS)

    def reload(self) -> None:
        self.write_policy()
        for name in _FRAMEWORKS:
            status = self.post(name, "reload", (TENANTS[0], "operator"), "")
            self.events["reloads"] += status == "200"

    def kill(self) -> None:
        name = _FRAMEWORKS[self.events["kills"] % len(_FRAMEWORKS)]
        self.processes[name].kill()
        self.processes[name].wait()
        self.events["kills"] += 1
        self.start(name)

    def restart_database(self) -> None:
        with suppress(AssertionError):  # a full disk may have stopped it
            self.server.stop()
        self.server.start()
        self.events["restarts of the database"] += 1

    def fill_disk(self) -> None:
        ballast = self.folder / "database" / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(2**16)):
                pass
        time.sleep(_FULL_SECONDS)
        ballast.unlink()
        self.events["full disks"] += 1
        self.restart_database()

    def measure(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                used = psutil.Process(process.pid).memory_info().rss
                self.memory[name].append(used)
            else:
                self.events[f"{name} ended by itself"] += 1
                self.start(name)

    def search_files(self) -> None:
        """Look in all but the stores for what nobody may see."""
        secret = [n.number for n in self.notes]
        secret += [n.name for n in self.notes if n.tenant in TENANTS[::2]]
        for path in self.folder.rglob("*"):
            part = path.relative_to(self.folder).parts[0].partition("-")[0]
            if path.is_file() and part in self.found:
                text = path.read_bytes().decode("latin-1")
                self.found[part] += find_planted(text, frozenset(secret))

    def print_table(self, minutes: float) -> None:
        print(f"{minutes:g} minutes, {self.statuses.total():,} requests")
        counts = {f"answered {s}": n for s, n in self.statuses.most_common()}
        found = {f"planted words in {p}": len(words) for p, words in self.found.items()}
        for what, number in {**self.events, **counts, **found}.items():
            print(f"  {what:34}{number:8,}")
        print(f"{'seconds':28}{'p50':>8}{'p95':>8}{'p99':>8}{'most':>8}")
        for what, taken in sorted(self.seconds.items()):
            shares = np.percentile(taken, [50, 95, 99, 100])
            print(f"  {what:26}" + "".join(f"{share:8.2f}" for share in shares))
        print(f"{'megabytes':28}{'p50':>8}{'most':>8}")
        for name, sizes in sorted(self.memory.items()):
            row = np.percentile(sizes, [50, 100]) / 2**20
            print(f"  {name:26}" + "".join(f"{size:8.0f}" for size in row))


def main() -> int:
    """Run for so long; return 1 where a planted word was found or nothing answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        folder.chmod(0o755)  # the database has a user of its own
        soak = _Soak(folder, stack.enter_context(_database(folder / "database")))
        for name in _FRAMEWORKS:
            soak.start(name)
            stack.callback(lambda name=name: soak.processes[name].kill())
        while not all(map(soak.is_up, _FRAMEWORKS)):
            time.sleep(1)
        soak.end = time.monotonic() + minutes * 60
        with ThreadPoolExecutor(_ASKERS) as pool:
            asking = pool.map(soak.ask_until_the_end, range(_ASKERS))
            _disturb(soak, minutes * 60)
            list(asking)
        soak.search_files()
        soak.print_table(minutes)
        return int(any(soak.found.values()) or not soak.statuses["200"])


def _disturb(soak: _Soak, seconds: float) -> None:
    """Do what is due until the end; a short run has all of it, more often."""
    due = [(0.3, soak.restart_database), (0.5, soak.fill_disk)]
    due.append((0.8, soak.restart_database))
    for gap, work in ((60, soak.reload), (300, soak.kill)):
        share = min(gap / seconds, 0.25)
        due += [(share * number, work) for number in range(1, int(1 / share))]
    began = soak.end - seconds
    for share, work in sorted(due, key=lambda each: each[0]):
        while time.monotonic() < began + share * seconds:
            soak.measure()
            time.sleep(1)
        work()


@contextmanager
def _database(disk: Path) -> Iterator[Server]:
    """Serve from a small disk of its own; to mount one needs root."""
    disk.mkdir()
    size = f"size={_DISK_MEGABYTES}m,mode=777"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", disk], check=True)  # noqa: S603, S607
    usual, tempfile.tempdir = tempfile.tempdir, str(disk)
    try:
        with postgres_server() as server:
            tempfile.tempdir = usual
            yield server
    finally:
        tempfile.tempdir = usual
        subprocess.run(["umount", "-l", disk], check=True)  # noqa: S603, S607


if __name__ == "__main__":
    sys.exit(main())
