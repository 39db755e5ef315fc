"""A state in PostgreSQL releases what one in a file does, and holds no text either."""

from __future__ import annotations

import asyncio
import json
import re
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psycopg
import pytest

from sdrag.cli.app import app
from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.state.database import PostgresUrl
from sdrag.vocabulary import Passage

from ..support.doubles import LangChainToyEmbeddings, LlamaIndexToyEmbedding
from ..support.faces import Scenario, langchain_retriever, of_documents
from .test_located_corpora import ARTICLES, HOSTS, chunks_of, policy_on, questions_on

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
PRELOADED = [
    "langchain_sdrag",
    "llamaindex_sdrag",
    "sdrag.cli.app",
    "psycopg",
    "pytest",
]
"""What takes long to import is imported once, where all processes are forked from."""
QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."


def embed(effect):
    """Embed by the letters, which costs nothing."""
    counts = [[1.0 + text.count(one) for one in "aeiourst"] for text in effect.items]
    rows = np.array(counts, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


RUNNER = PortRunner(Ports(embed=Port(embed)))


def worker(path, part):
    """Bind a part of the corpus, as a process of its own does."""
    engine = Engine(POLICY, state=open_state(path))
    run(bind(CORPUS[part], engine), RUNNER)


def by_langchain(path, part):
    shared = {"policy": POLICY, "state": path}
    HOSTS[0].bind(CORPUS[part], embeddings=LangChainToyEmbeddings(), **shared)


def by_llamaindex(path, part):
    shared = {"policy": POLICY, "state": path}
    HOSTS[1].bind(CORPUS[part], embeddings=LlamaIndexToyEmbedding(), **shared)


def by_command(path, part):
    """Run `sdrag bind`."""
    with TemporaryDirectory() as folder:
        policy, lines = Path(folder, "policy.yaml"), Path(folder, "chunks.jsonl")
        policy.write_text(json.dumps(POLICY), encoding="utf-8")
        rows = [
            {"id": p.id, "text": p.text, "metadata": {"document_id": p.document_id}}
            for p in CORPUS[part]
        ]
        lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        given = ["bind", str(policy), str(lines), "--state", str(path)]
        app(given, standalone_mode=False)


def told(path):
    """Return all bindings, and what is released of every chunk."""
    state = open_state(path)
    engine = Engine(POLICY, state=state)
    released = [
        run(disclose([one], Request("Who?"), engine), RUNNER).passages for one in CORPUS
    ]
    texts = [one.text for (one,) in released]
    bound = state.bindings.all(engine.policy.rules)
    scores = {(one.constraint_id, one.passage_id): one.score for one in bound}
    return scores, texts


def assert_alike(seen, expected):
    """Compare all that is told; a score may differ in the last digit that counts."""
    assert seen[1] == expected[1]
    assert seen[0] == pytest.approx(expected[0], abs=2e-4)


def at_once(work, *tasks):
    """Work in processes of their own, none of which inherits a thread's lock."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    workers = [context.Process(target=work, args=task) for task in tasks]
    for one in workers:
        one.start()
    for one in workers:
        one.join(120)
    assert [one.exitcode for one in workers] == [0] * len(workers)


def alone(tmp_path, work=worker):
    """Return what one worker tells that has bound the whole corpus."""
    work(tmp_path / "alone.db", WHOLE)
    return told(tmp_path / "alone.db")


@pytest.fixture(params=["file", "postgres"])
def place(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return tmp_path / "both.db"


@pytest.mark.parametrize("work", [worker, by_langchain, by_llamaindex, by_command])
def test_two_processes_bind_a_corpus_as_one_does(work, place, tmp_path):
    """Each half of every document, at the same time, whoever binds."""
    at_once(work, *((place, half) for half in HALVES))

    expected = alone(tmp_path, work)
    assert_alike(told(place), expected)
    assert not [t for t in expected[1] if any(name in t for name in NAMES)]


ALL = pytest.param(slice(None), marks=pytest.mark.slow, id="all")


@pytest.mark.parametrize("number", range(len(ARTICLES)))
@pytest.mark.parametrize("some", [pytest.param(slice(3), id="few"), ALL])
def test_both_release_the_same(number, some, postgres_url, tmp_path):
    """In both frameworks, bound or met; all but what their keys make, the handles."""
    chunks, asked = chunks_of(number)[some], questions_on(number)
    asked = {
        question: [chunk for chunk in found if chunk in chunks]
        for question, found in asked.items()
    }
    states = [open_state(where) for where in (tmp_path / "state.db", postgres_url)]
    for first, host in zip((True, False), HOSTS, strict=True):
        seen = []
        for state in states:
            shared = {"policy": policy_on(number), "state": state}
            if first:
                host.bind(chunks[::2], **shared)
            answers = json.dumps(host.ask(asked, **shared))
            seen.append(re.sub(r'"(document|audience)": "\w+"', "", answers))
        assert seen[0] == seen[1]


def retriever(state):
    scenario = Scenario("quay", [Passage("p", QUAY, {"source": "log"})], POLICY)
    return langchain_retriever(scenario, state=state)


def test_many_questions_at_once_on_one_loop(postgres_url):
    """None waits for ever, none fails, and all are shown the same."""
    asked = retriever(postgres_url)

    async def ask():
        return await asyncio.gather(*(asked.ainvoke(f"Who {n}?") for n in range(16)))

    seen = {json.dumps(of_documents(found)) for found in asyncio.run(ask())}

    assert len(seen) == 1
    assert "Karlsson" not in seen.pop()


def test_nothing_is_released_while_the_server_is_away(postgres, postgres_url):
    """Not even what it knew before; when it is back, so is the service."""
    asked = retriever(postgres_url)
    before = of_documents(asked.invoke("Who?"))

    postgres.stop()
    try:
        away = asked.invoke("Who?")
    finally:
        postgres.start()

    assert away == []
    assert of_documents(asked.invoke("Who?")) == before != []


def test_no_table_and_no_log_of_the_server_holds_text(postgres, postgres_url):
    """Neither of a chunk nor of a constraint; its log holds statements."""
    worker(postgres_url, WHOLE)
    retriever(postgres_url).invoke("Who?")

    schema = PostgresUrl(postgres_url).schema
    held = ""
    with psycopg.connect(postgres.bare) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {schema}.{table}"):  # noqa: S608 -- a name of ours
                held += " ".join(
                    one.decode("latin-1") if isinstance(one, bytes) else str(one)
                    for one in row
                )
    logged = postgres.logged()

    assert len(tables) == 5
    assert CORPUS[0].id in held  # ids of the store are kept as they are
    assert "INSERT INTO finding" in logged
    for text in ("witness", "Jonathan", "forgets", "crowns", "quay", "amounts"):
        assert text not in held
        assert text not in logged
