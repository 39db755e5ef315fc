"""What runs in processes of its own; it imports no framework, to start soon."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Passage

PROCESSES = get_context("forkserver")
"""They inherit no connection of this process: SQLite keeps no promise to a fork."""
PROCESSES.set_forkserver_preload(
    ["tests.contract.processes", "tests.contract.ledgers", "psycopg"]
)
POLICY = {
    "constraints": ["Remove names of witnesses", "Hide amounts of money"],
    "disclosure": {"bind_top_n": 3, "similarity_floor": 0.9},
}
NAMES = ["Karlsson", "Okafor", "Lindqvist", "Petrov"]
CORPUS = [
    Passage(f"{name}-{index}", text, document_id=name)
    for name in NAMES
    for index, text in enumerate(
        (
            f"The witness was Jonathan {name}.",
            f"{name} forgets.",
            f"The crew was paid {len(name)},200 crowns in cash.",
        )
    )
]
WHOLE, HALVES = slice(None), (slice(0, None, 2), slice(1, None, 2))
"""Parts of the corpus. No passage can be pickled, so a process is sent the part."""


def embed(effect):
    """Embed by the letters, which costs nothing."""
    counts = [
        [1.0 + text.count(letter) for letter in "aeiourst"] for text in effect.items
    ]
    rows = np.array(counts, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


RUNNER = PortRunner(Ports(embed=Port(embed)))


def bind_part(where, part):
    engine = Engine(POLICY, state=open_state(where))
    run(bind(CORPUS[part], engine), RUNNER)


def bind_by_command(where, part):
    """Run `sdrag bind`."""
    with TemporaryDirectory() as folder:
        policy, lines = Path(folder, "policy.yaml"), Path(folder, "chunks.jsonl")
        policy.write_text(json.dumps(POLICY), encoding="utf-8")
        rows = [
            {"id": p.id, "text": p.text, "metadata": {"document_id": p.document_id}}
            for p in CORPUS[part]
        ]
        lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        command = ["bind", str(policy), str(lines), "--state", str(where)]
        app(command, standalone_mode=False)


CLINIC = "He was at Riverside Clinic on 4 May 2021."
BOAT = "The boat left Riverside Clinic on 4 May 2021."
SESSIONS = int(os.environ.get("SDRAG_SESSIONS", "20"))


def show_all(where, text, answers):
    """Show a passage in every session, twice; say where it was whole, and the MiB."""
    engine = Engine({"session": {}}, state=open_state(where))
    passages = [Passage(text, text, document_id=text)]

    def is_whole(number):
        request = Request("q", session_id=f"s{number}")
        released, _ = engine.run(disclose(passages, request, engine))
        return released.passages[0].text == text

    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(is_whole, range(SESSIONS)))
        before = resident()
        again = list(pool.map(is_whole, range(SESSIONS)))
    answers.put((text, first if first == again else [], resident() - before))


def resident():
    """Return how much memory this process has, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
