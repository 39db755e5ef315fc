"""A state that processes, frameworks and servers share: the same is released by all."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
import sqlalchemy as sa

import langchain_sdrag
import llamaindex_sdrag
from benchmarks.suites.json_files import load_articles
from benchmarks.suites.rcqa import policy_of
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import open_state
from sdrag.state.database import PostgresUrl
from sdrag.state.tables import shown
from sdrag.studio.evaluation.index import sentence_chunks
from sdrag.vocabulary import EVIDENCE_KEY, Passage

from ..support.faces import (
    Scenario,
    aask,
    ask,
    documents,
    langchain_retriever,
    llamaindex_retriever,
    text_nodes,
)
from .processes import (
    BOAT,
    CLINIC,
    CORPUS,
    HALVES,
    NAMES,
    POLICY,
    PROCESSES,
    RUNNER,
    SESSIONS,
    WHOLE,
    bind_by_command,
    bind_part,
    show_all,
)


def bind_at_once(work, where):
    """Bind halves in processes of their own, none of which inherits a thread's lock."""
    workers = [PROCESSES.Process(target=work, args=(where, half)) for half in HALVES]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]


def known(where):
    """Return the scores of all bindings, and what is released of every chunk."""
    state = open_state(where)
    engine = Engine(POLICY, state=state)
    steps = (disclose([chunk], Request("Who?"), engine) for chunk in CORPUS)
    texts = [p.text for step in steps for p in run(step, RUNNER).passages]
    bound = state.bindings.read(CORPUS, engine.policy.rules)
    by_place = {(n, i): s for n, row in enumerate(bound) for i, s in row.items()}
    return by_place, texts


@pytest.mark.parametrize(
    ("work", "place"), [(bind_part, "postgres"), (bind_by_command, "file")]
)
def test_two_processes_bind_a_corpus_as_one_does(work, place, request, tmp_path):
    """Each half of every document, at the same time, whoever binds."""
    both, alone = tmp_path / "both.db", tmp_path / "alone.db"
    if place == "postgres":
        both = request.getfixturevalue("postgres_url")
    bind_at_once(work, both)
    work(alone, WHOLE)

    scores, texts = known(both)
    expected, alike = known(alone)
    assert texts == alike
    assert scores == pytest.approx(expected, abs=2e-4)
    assert len(texts) == len(CORPUS)
    assert not [text for text in texts if any(name in text for name in NAMES)]


ARTICLE = load_articles()[0]
QUESTIONS = ["What?", "Who was it?", "When was that?", "Where?", "Why?", "Tell me all."]
LETTERS = str.maketrans("0123456789", "abcdefghij")


ABOUT = {key: ARTICLE[key] for key in ("title", "category")}
OFFICERS = policy_of([ARTICLE], "redact") | {
    "metadata": {"allow": ["title", "category", "place"]}
}
"""What a privacy officer would write for the article."""
CHUNKS = [
    replace(
        chunk,
        id=chunk.id.translate(LETTERS),
        metadata={**ABOUT, "place": place, "text": chunk.text},
    )
    for place, chunk in enumerate(
        sentence_chunks(str(ARTICLE["article_text"]), "article")
    )
]
"""Its sentences; no id holds a number that may be secret, so they leave as they are."""


def requests() -> Iterator[Scenario]:
    """Draw what each question finds: one chunk, some, half of them, or all."""
    rng, half = random.Random(ARTICLE["title"]), len(CHUNKS) // 2
    sizes = (1, 4, 10, half, half, len(CHUNKS))
    for query, size in zip(QUESTIONS, sizes, strict=True):
        retrieved = rng.sample(CHUNKS, min(size, len(CHUNKS)))
        yield Scenario(query, retrieved, OFFICERS, query=query)


def bind_article(package, where):
    shared = {"policy": OFFICERS, "state": where}
    corpus = Scenario("corpus", CHUNKS)
    binder = package.ConstraintBinder(**shared)
    if package is langchain_sdrag:
        return binder.bind_documents(documents(corpus))
    return binder.bind_documents(text_nodes(corpus))


def test_two_questions_are_shown_a_chunk_alike(postgres_url, tmp_path):
    """Byte for byte, its text and its metadata; in both frameworks, on every state."""
    ways = defaultdict(set)
    for where in (tmp_path / "state.sqlite", postgres_url):
        bound = bind_article(langchain_sdrag, where)
        again = bind_article(llamaindex_sdrag, where)
        assert bound.located == len(CHUNKS)
        assert again.read == 0
        for build in (langchain_retriever, llamaindex_retriever):
            for scenario in requests():
                seen = ask(build(scenario, state=where), scenario)
                left = {name: json.dumps(rest) for name, *rest in seen}
                for chunk in scenario.passages:
                    shown = left.get(chunk.id, "withheld")
                    # What differs with the key of a state.
                    shown = re.sub(r'"(document|audience|mark)": "\w+"', "", shown)
                    ways[chunk.id].add(shown)

    assert len(ways) == len(CHUNKS)
    assert [name for name, shown in ways.items() if len(shown) > 1] == []
    assert any(f'"{EVIDENCE_KEY}"' in str(shown) for shown in ways.values())


QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."
MOST_MIB = 16
"""By so much the memory of a process may grow when all is asked again."""


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_two_processes_lose_nothing_of_what_sessions_were_shown(
    place, request, tmp_path
):
    """They show two halves of a chain in many sessions: each has one half whole."""
    where = str(tmp_path / "state.db")
    if place == "postgres":
        where = request.getfixturevalue("postgres_url")
    open_state(where)
    answers = PROCESSES.Queue()
    other = PROCESSES.Process(target=show_all, args=(where, BOAT, answers))
    other.start()
    show_all(where, CLINIC, answers)
    told = [answers.get(timeout=300) for _ in range(2)]
    other.join()

    whole = {text: first for text, first, _ in told}
    counts = map(sum, zip(whole[CLINIC], whole[BOAT], strict=True))
    assert list(counts) == [1] * SESSIONS
    assert all(more < MOST_MIB for *_, more in told)
    with open_state(where).database.reading() as connection:
        assert len(connection.execute(sa.select(shown)).all()) == SESSIONS


ASKED = Scenario("quay", [Passage("p", QUAY, {"source": "log"})], POLICY)


async def test_many_questions_at_once_on_one_loop(postgres_url):
    """None waits for ever, none fails, and all are shown the same."""
    wrapper = langchain_retriever(ASKED, state=postgres_url)
    asked = (aask(wrapper, replace(ASKED, query=f"Who {n}?")) for n in range(16))

    answers = {json.dumps(seen) for seen in await asyncio.gather(*asked)}

    assert len(answers) == 1
    assert "Karlsson" not in answers.pop()


def test_no_table_and_no_log_of_the_server_holds_text(postgres, postgres_url):
    """Neither of a chunk nor of a constraint; its log holds statements."""
    bind_part(postgres_url, WHOLE)
    passages = [Passage("p", f"{QUAY} {CLINIC}", document_id="log")]
    asked = replace(ASKED, passages=passages, policy={**POLICY, "session": {}})
    ask(langchain_retriever(asked, state=postgres_url), asked)

    schema = PostgresUrl(postgres_url).schema
    held = ""
    with psycopg.connect(postgres.bare) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {schema}.{table}"):  # noqa: S608 -- a name of ours
                held += " ".join(
                    value.decode("latin-1") if isinstance(value, bytes) else str(value)
                    for value in row
                )
    logged = postgres.logged()

    assert len(tables) == 7
    assert CORPUS[0].id in held  # ids of the store are kept as they are
    assert "INSERT INTO finding" in logged
    assert "INSERT INTO shown" in logged
    words = "witness Jonathan forgets crowns quay amounts Riverside Clinic boat"
    for text in (*words.split(), "May 2021"):  # a hash may hold the year
        assert text not in held
        assert text not in logged
