"""
What a question's look-ups in the state cost, in a file and in PostgreSQL.

    python benchmarks/state_lookups.py [--state URL]

2,000 chunks are bound to 100 constraints. Each round asks for other chunks, 10 and then
50 at a time. Measured are the look-ups one by one, the writing of findings, and a whole
cold question through LangChain over a retriever that costs nothing: without a top K,
with one, and of ten chunks that nobody has seen. Printed are medians in milliseconds.
The URL is that of a new state.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from langchain_core.documents import Document  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from pydantic import Field  # noqa: E402

import langchain_sdrag  # noqa: E402 -- the path comes first
from benchmarks.page.corpus import Drawn, chunks, located, policy  # noqa: E402
from langchain_sdrag.convert import passages_of  # noqa: E402
from sdrag.policy import Policy  # noqa: E402
from sdrag.state import State, open_state  # noqa: E402
from sdrag.state.findings import Located  # noqa: E402
from sdrag.state.span_bytes import ClosedSpans  # noqa: E402
from sdrag.vocabulary import Span  # noqa: E402

CHUNKS, ASKED, ROUNDS = 2000, (10, 50), 60
UNSEEN, UNSEEN_ROUNDS = 10, 2
ENGINE, RULE = b"Lone", b"r" * 16
RULES = policy(100)
TOP_K = {**RULES, "disclosure": {"top_k": 10}}

Work = Callable[[Sequence[Any]], object]


class Given(BaseRetriever):
    """A host's retriever that finds what it is given."""

    found: list[Document] = Field(default_factory=list)

    def _get_relevant_documents(self, *_: Any, **__: Any) -> Any:
        return self.found


def timed(work: Work, pool: Sequence[Any], many: int, rounds: int = ROUNDS) -> float:
    """Return the median of many rounds, each with other items of a pool."""
    rng, times = random.Random(7), []
    for number in range(1 + rounds):
        asked = rng.sample(pool, many)
        start = perf_counter()
        work(asked)
        if number:
            times.append(1000 * (perf_counter() - start))
    return median(times)


def lookups(state: State, many: int) -> Iterator[tuple[str, float]]:
    """Measure what stores are asked, one by one."""
    keys = [
        state.keys.text(state.keys.document(None, str(n // 10)), "text", str(n))
        for n in range(CHUNKS)
    ]
    spans = ClosedSpans.of({RULE: [Span(3, 9), Span(20, 31)]}, "x" * 1000)
    rows = {key: Located(key, ENGINE, (RULE,), spans, 0) for key in keys}
    state.findings.write(rows.values(), whole=True)
    rules = Policy.read(RULES).rules
    passages = passages_of(chunks(CHUNKS))
    works: dict[str, tuple[Work, Sequence[Any]]] = {
        "findings": (lambda asked: state.findings.read(asked, ENGINE), keys),
        "bindings": (lambda asked: state.bindings.read(asked, rules), passages),
        "findings written": (
            lambda asked: state.findings.write([rows[k] for k in asked], whole=False),
            keys,
        ),
    }
    for name, (work, pool) in works.items():
        yield name, timed(work, pool, many)


def questions(state: State, many: int) -> Iterator[tuple[str, float]]:
    """Measure cold questions about chunks that are bound, and that are not."""
    documents, host = chunks(CHUNKS), Given()
    unseen = [
        Document(id=f"new {one.id}", page_content=f"{one.page_content} Again.")
        for one in documents
    ]

    def asking(rules: dict[str, Any]) -> Work:
        wrapped = langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=host, policy=rules, state=state, embeddings=Drawn()
        )

        def ask(found: Sequence[Any]) -> object:
            host.found = list(found)
            return wrapped.invoke("What did Anna do?")

        return ask

    yield "question", timed(asking(RULES), documents, many)
    yield "question, top K", timed(asking(TOP_K), documents, many)
    if many == UNSEEN:
        took = timed(asking(RULES), unseen, many, UNSEEN_ROUNDS)
        yield "question, never seen", took


def main() -> None:
    """Measure a file, and the URL if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", help="the URL of a new state in PostgreSQL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        states = {"file": open_state(Path(folder, "state.db"))}
        if given.state:
            states["PostgreSQL"] = open_state(given.state)
        for where, state in states.items():
            located(chunks(CHUNKS), RULES, state)
            for many in ASKED:
                for measure in (lookups, questions):
                    for name, took in measure(state, many):
                        line = f"{where}, {many} chunks, {name}: {took:.2f} ms"
                        print(line, flush=True)


if __name__ == "__main__":
    main()
