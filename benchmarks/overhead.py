"""
What the wrapper costs: a wrapped retriever beside the bare one, over Chroma.

    python benchmarks/overhead.py

10,000 chunks and 120 constraints; both retrievers answer the same questions in turn,
after a first round that warms the caches. Printed are the medians of the pairs, once
with the packaged MiniLM, whose embedding of the question is most of the bare time, and
once with embeddings that cost nothing.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from langchain_chroma import Chroma  # noqa: E402 -- the path comes first
from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import Embeddings  # noqa: E402

import langchain_sdrag  # noqa: E402
from langchain_sdrag.local_embeddings import LocalEmbeddings  # noqa: E402

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


def measure(embeddings: Embeddings, size: int, rules: int, pairs: int) -> None:
    """Print the medians of the bare and of the wrapped retriever."""
    with tempfile.TemporaryDirectory() as folder:
        store = Chroma("chunks", embeddings, folder)
        documents = chunks(size)
        for start in range(0, size, 2000):
            store.add_documents(documents[start : start + 2000])
        binder = langchain_sdrag.ConstraintBinder(
            policy=policy(rules),
            bindings=Path(folder, "bindings.sqlite"),
            embeddings=embeddings,
        )
        binder.transform_documents(documents)
        bare = store.as_retriever()
        wrapped = langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=bare,
            policy=policy(rules),
            embeddings=embeddings,
            bindings=Path(folder, "bindings.sqlite"),
        )
        questions = [f"Who checked the {noun}?" for noun in NOUNS]
        for question in questions * 2:
            wrapped.invoke(question)
            bare.invoke(question)
        times: dict[str, list[float]] = {"bare": [], "wrapped": []}
        for n in range(pairs):
            turns = [("bare", bare), ("wrapped", wrapped)]
            for name, retriever in turns if n % 2 else reversed(turns):
                start_time = perf_counter()
                retriever.invoke(questions[n % len(questions)])
                times[name].append(1000 * (perf_counter() - start_time))
    plain, ours = median(times["bare"]), median(times["wrapped"])
    differences = [b - a for a, b in zip(times["bare"], times["wrapped"], strict=True)]
    print(
        f"{type(embeddings).__name__}: bare {plain:.3f} ms, wrapped {ours:.3f} ms, "
        f"{ours / plain:.3f} times, {median(differences):+.3f} ms (median of pairs)"
    )


def main() -> None:
    """Measure with a model and without one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--constraints", type=int, default=120)
    parser.add_argument("--pairs", type=int, default=200)
    given = parser.parse_args()
    for embeddings in (Constant(), LocalEmbeddings()):
        measure(embeddings, given.chunks, given.constraints, given.pairs)


if __name__ == "__main__":
    main()
