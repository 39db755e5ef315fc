"""
What questions are asked of: chunks, constraints, vectors, and a state with findings.

The vectors of chunks and questions are drawn at random, so that every question
retrieves other chunks. `MiniLM` embeds a question all the same, and then draws: the
time that a host spends on it is in the bare question too.

The findings are put into the state by a locator that costs nothing. It finds as many as
the local engine does in such chunks: what is measured is the question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core.embeddings import BaseEmbedding

from langchain_sdrag.convert import passages_of
from langchain_sdrag.effects import embedding
from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Reply, run
from sdrag.embeddings import embed_tokens
from sdrag.pipeline import Engine, bind
from sdrag.state import State, open_state
from sdrag.vocabulary import Finding, Passage, Span

__all__ = [
    "Drawn",
    "DrawnForLlamaIndex",
    "MiniLM",
    "chunks",
    "located",
    "policy",
    "question",
]

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
_WORD = re.compile(r"\w{4,}")
_NAME = re.compile("|".join(NAMES))
_SUM = re.compile(r"\d+ crowns")
_SCORED = 40
"""So many words of a chunk are hidden for what they mean, by some constraint each."""


class Drawn(Embeddings):
    """Vectors that cost nothing: drawn at random, the same for the same text."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Draw a vector for each text."""
        return [_drawn(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Draw a vector for a question."""
        return _drawn(text)


class MiniLM(Drawn):
    """The same, but a question is embedded by the packaged model first."""

    def embed_query(self, text: str) -> list[float]:
        """Embed a question anew, and draw a vector for it."""
        embed_tokens([text])
        return _drawn(text)


class DrawnForLlamaIndex(BaseEmbedding):
    """
    The vectors of one of the two above, in LlamaIndex's shape.

    Args:
        drawn: Which one.
    """

    drawn: Any

    def _get_query_embedding(self, query: str) -> list[float]:
        return list(self.drawn.embed_query(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(self.drawn.embed_documents([text])[0])


def _drawn(text: str) -> list[float]:
    seed = int.from_bytes(text.encode()[-64:], "little")
    vector = np.random.default_rng(seed).standard_normal(384).astype(np.float32)
    drawn: list[float] = (vector / np.linalg.norm(vector)).tolist()
    return drawn


class _Costless:
    """A locator that finds as much as the local engine, at no cost."""

    identity = LocalLocator().identity

    def locate(self, passages: Sequence[Passage], constraints: Sequence[Any]) -> Any:
        """Find words, here and there, the same ones in every run."""
        yield from ()
        return [Reply(tuple(_found(p.text, constraints))) for p in passages]


def _found(text: str, constraints: Sequence[Any]) -> Iterator[Finding]:
    names = [Span(*match.span()) for match in _NAME.finditer(text)]
    sums = [Span(*match.span()) for match in _SUM.finditer(text)]
    rng = random.Random(text)
    words = [Span(*match.span()) for match in _WORD.finditer(text)]
    for rule in constraints:
        for topic, spans in (("names of wit", names), ("amounts", sums)):
            if topic in rule.text:
                yield from (Finding(span, rule.id, "type") for span in spans)
    for span in rng.sample(words, min(_SCORED, len(words))):
        yield Finding(span, rng.choice(constraints).id, "scored")


def chunks(count: int, characters: int = 1000) -> list[Document]:
    """Write chunks, ten a document, alike and never the same."""
    rng = random.Random(7)
    words = sorted(common_words())

    def sentence(number: int) -> str:
        said = " ".join(rng.choices(words, k=8))
        return (
            f"On day {number % 365} {rng.choice(NAMES)} saw the {rng.choice(NOUNS)}: "
            f"{said}, for {rng.randrange(20, 9000)} crowns."
        )

    written = []
    for number in range(count):
        text = ""
        while len(text) < characters:
            text = f"{text} {sentence(number)}".strip()
        written.append(
            Document(
                id=f"chunk-{number}",
                page_content=text[:characters],
                metadata={"source": f"log-{number // 10}"},
            )
        )
    return written


def policy(count: int) -> dict[str, Any]:
    """Write constraints on a handful of topics, each for another thing."""
    texts = [
        f"Remove {TOPICS[n % len(TOPICS)]} that concern the {NOUNS[n % len(NOUNS)]} {n}"
        for n in range(count)
    ]
    return {"constraints": texts, "metadata": {"allow": ["source"]}}


def question(number: int) -> str:
    """Ask for something else each time."""
    noun, name = NOUNS[number % len(NOUNS)], NAMES[number % len(NAMES)]
    return f"What did {name} do with the {noun} on day {number}?"


def located(
    documents: Sequence[Document],
    rules: dict[str, Any],
    where: Path | State | None = None,
) -> State:
    """Put findings into a state, as a binder does."""
    state = open_state(where)
    engine = Engine.build(rules, state=state, locator=_Costless())  # type: ignore[arg-type]
    ports = Ports(embed=embedding(Drawn()))
    run(bind(passages_of(documents), engine), PortRunner(ports))
    return state
