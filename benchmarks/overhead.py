"""
What the wrapper costs: a wrapped retriever next to the bare one, over Chroma.

    python benchmarks/overhead.py

10,000 chunks and 120 constraints; both retrievers answer the same questions in turn,
after a first round that warms the caches. Printed are the medians of the pairs, once
with MiniLM, whose embedding of the question is most of the bare time, and once with
embeddings that cost nothing. Every question is embedded anew, as a host's own model
would: the vectors that `sdrag.minilm` remembers would spare the second of a pair its
embedding. Next to wall time it prints the CPU time of the calling thread, which a busy
machine disturbs less.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from langchain_chroma import Chroma  # noqa: E402 -- the path comes first
from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import Embeddings  # noqa: E402

import langchain_sdrag  # noqa: E402
from sdrag.minilm import load_minilm  # noqa: E402

NOUNS = ("berth", "crane", "ledger", "manifest", "pilot", "quay", "rope", "tide")
NAMES = ("Anna Karlsson", "Bram Okafor", "Celia Duarte", "Dmitri Weiss", "Esra Lind")
TOPICS = (
    "names of witnesses",
    "exact dates",
    "amounts of money",
    "home addresses",
    "telephone numbers",
    "names of companies",
)


class Constant(Embeddings):
    """Vectors that cost nothing, so that what is left is our own time."""

    def __init__(self, size: int = 384) -> None:
        self._vector = [1.0 / size**0.5] * size

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the same vector for each text."""
        return [self._vector] * len(texts)

    def embed_query(self, text: str) -> list[float]:  # noqa: ARG002 -- as named above
        """Return the same vector."""
        return self._vector


class MiniLM(Embeddings):
    """The packaged model, which remembers nothing."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        rows = load_minilm().encode(
            texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False
        )
        return rows.tolist()

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self.embed_documents([text])[0]


def chunks(count: int) -> list[Document]:
    """Write chunks of one sentence each, alike and never the same."""
    rng = random.Random(7)
    return [
        Document(
            id=f"chunk-{n}",
            page_content=(
                f"Note {n}: {rng.choice(NAMES)} checked the {rng.choice(NOUNS)} and "
                f"the {rng.choice(NOUNS)} before the {rng.choice(NOUNS)} was closed."
            ),
            metadata={"source": f"log-{n % 50}"},
        )
        for n in range(count)
    ]


def policy(count: int) -> dict[str, Any]:
    """Write constraints on a handful of topics, each for another thing."""
    texts = [
        f"Remove {TOPICS[n % len(TOPICS)]} that concern the {NOUNS[n % len(NOUNS)]} {n}"
        for n in range(count)
    ]
    return {"constraints": texts, "metadata": {"allow": ["source"]}}


def retrievers(
    embeddings: Embeddings, size: int, rules: int, folder: str
) -> dict[str, Any]:
    """Index the chunks, bind the constraints; return the bare and the wrapped one."""
    store = Chroma("chunks", embeddings, folder)
    documents = chunks(size)
    for start in range(0, size, 2000):
        store.add_documents(documents[start : start + 2000])
    setup = {
        "policy": policy(rules),
        "embeddings": embeddings,
        "state": Path(folder, "state.sqlite"),
    }
    langchain_sdrag.ConstraintBinder(**setup).transform_documents(documents)
    bare = store.as_retriever()
    wrapped = langchain_sdrag.SelectiveDisclosureRetriever(base_retriever=bare, **setup)
    return {"bare": bare, "wrapped": wrapped}


def measure(embeddings: Embeddings, size: int, rules: int, pairs: int) -> None:
    """Print the medians of the bare and of the wrapped retriever."""
    questions = [f"Who checked the {noun}?" for noun in NOUNS]
    wall: dict[str, list[float]] = {"bare": [], "wrapped": []}
    cpu: dict[str, list[float]] = {"bare": [], "wrapped": []}
    with tempfile.TemporaryDirectory() as folder:
        turns = list(retrievers(embeddings, size, rules, folder).items())
        for question in questions * 2:
            for _, retriever in turns:
                retriever.invoke(question)
        for n in range(pairs):
            for name, retriever in turns if n % 2 else reversed(turns):
                wall_start, cpu_start = perf_counter(), thread_time()
                retriever.invoke(questions[n % len(questions)])
                cpu[name].append(1000 * (thread_time() - cpu_start))
                wall[name].append(1000 * (perf_counter() - wall_start))
    for clock, times in (("wall", wall), ("CPU", cpu)):
        plain, ours = median(times["bare"]), median(times["wrapped"])
        pairwise = zip(times["bare"], times["wrapped"], strict=True)
        added = median(after - before for before, after in pairwise)
        print(
            f"{type(embeddings).__name__}, {clock}: bare {plain:.3f} ms, wrapped "
            f"{ours:.3f} ms, {ours / plain:.3f} times, {added:+.3f} ms"
        )


def main() -> None:
    """Measure with a model and without one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--constraints", type=int, default=120)
    parser.add_argument("--pairs", type=int, default=200)
    given = parser.parse_args()
    for embeddings in (Constant(), MiniLM()):
        measure(embeddings, given.chunks, given.constraints, given.pairs)


if __name__ == "__main__":
    main()
