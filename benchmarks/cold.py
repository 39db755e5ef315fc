"""
What a new question costs: a wrapped retriever next to the bare one.

    python benchmarks/cold.py

Chroma on disk, 10,000 chunks of 1,000 characters, ten of them a question, and 100
constraints; every question is new. Three indexes are asked: one that was bound, one
that was bound with a model whose every answer takes a second, and one that was never
bound. Both retrievers answer each question in turn, the order changing from pair to
pair; printed are the medians and their ratio, and how often the model was called.

The findings are put into the state by a locator that costs nothing, as many as the
local engine finds in such chunks: what is measured is the question. Chunks that were
never bound are located by the local engine itself, over fewer questions. `--size` adds
what the state weighs, for more chunks than are asked, with vectors that cost nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from langchain_chroma import Chroma  # noqa: E402 -- the path comes first
from langchain_core.documents import Document  # noqa: E402
from langchain_core.language_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402
from pydantic import Field  # noqa: E402

import langchain_sdrag  # noqa: E402
from langchain_sdrag.convert import passages_of  # noqa: E402
from langchain_sdrag.effects import embedding  # noqa: E402
from sdrag.detectors.local.tables import common_words  # noqa: E402
from sdrag.disclosure.local import LocalLocator  # noqa: E402
from sdrag.engine.effect_runner import PortRunner, Ports  # noqa: E402
from sdrag.engine.host_search import EmbedPort  # noqa: E402
from sdrag.engine.steps import Reply, run  # noqa: E402
from sdrag.pipeline import Engine, bind  # noqa: E402
from sdrag.state import State, open_state  # noqa: E402
from sdrag.vocabulary import Finding, Span  # noqa: E402

sys.path.insert(0, str(ROOT / "benchmarks"))

from overhead import NAMES, NOUNS, TOPICS, Constant, MiniLM  # noqa: E402 -- as above

_WORD = re.compile(r"\w{4,}")
_NAME = re.compile("|".join(NAMES))
_SUM = re.compile(r"\d+ crowns")
_SCORED = 40
"""So many words of a chunk are hidden for what they mean, by some constraint each."""


class Costless:
    """A locator that finds as much as the local engine, at no cost."""

    identity = LocalLocator().identity

    def locate(self, passages: Sequence[Any], constraints: Sequence[Any]) -> Any:
        """Find words, here and there, the same ones in every run."""
        yield from ()
        return [Reply(tuple(self._found(p.text, constraints))) for p in passages]

    def _found(self, text: str, constraints: Sequence[Any]) -> Iterator[Finding]:
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


class Slow(GenericFakeChatModel):
    """A model that finds nothing, and takes a second."""

    seconds: float = 1.0
    calls: list[int] = Field(default_factory=list)

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(1)
        time.sleep(self.seconds)
        asked = re.findall(r"^\[(\w+)\] ", str(messages[-1].content), re.MULTILINE)
        verdicts = [{"constraint": name, "spans": []} for name in asked]
        self.messages = iter([AIMessage(json.dumps({"verdicts": verdicts}))])
        return super()._generate(messages, *args, **kwargs)


class Kept(MiniLM):
    """The packaged model, which embeds each chunk once and each question anew."""

    def __init__(self) -> None:
        self._vectors: dict[str, list[float]] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed what was not embedded before."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            rows = super().embed_documents(new)
            self._vectors.update(zip(new, rows, strict=True))
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return super().embed_documents([text])[0]


def chunks(count: int, characters: int) -> list[Document]:
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
        source = f"log-{number // 10}"
        written.append(
            Document(
                id=f"chunk-{number}",
                page_content=text[:characters],
                metadata={"source": source},
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


def located(
    documents: Sequence[Document],
    rules: dict[str, Any],
    path: Path | str,
    embed: EmbedPort,
) -> State:
    """Put findings into a state, as a binder does."""
    state = open_state(path)
    engine = Engine.build(rules, state=state, locator=Costless())  # type: ignore[arg-type]
    run(
        bind(passages_of(documents), engine),
        PortRunner(Ports(embed=embed)),
    )
    return state


def questions(count: int) -> Iterator[str]:
    """Ask for something else each time."""
    for number in range(count):
        noun, name = NOUNS[number % len(NOUNS)], NAMES[number % len(NAMES)]
        yield f"What did {name} do with the {noun} on day {number}?"


def compared(bare: Any, wrapped: Any, pairs: int) -> tuple[float, float]:
    """Return the medians, in milliseconds, of both asked the same new questions."""
    times: dict[str, list[float]] = {"bare": [], "wrapped": []}
    turns = [("bare", bare), ("wrapped", wrapped)]
    for number, question in enumerate(questions(pairs + 5)):
        for name, retriever in turns if number % 2 else reversed(turns):
            start = perf_counter()
            retriever.invoke(question)
            if number >= 5:
                times[name].append(1000 * (perf_counter() - start))
    return median(times["bare"]), median(times["wrapped"])


def main() -> None:
    """Measure the three indexes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=1000)
    parser.add_argument("--constraints", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--unbound-pairs", type=int, default=10)
    parser.add_argument("--state", help="the URL of a new state in PostgreSQL")
    parser.add_argument("--size", type=int, default=0, help="chunks to weigh")
    given = parser.parse_args()
    documents = chunks(given.chunks, given.characters)
    rules, embeddings = policy(given.constraints), Kept()
    with tempfile.TemporaryDirectory() as folder:
        store = Chroma("chunks", embeddings, str(Path(folder, "chroma")))
        for start in range(0, len(documents), 2000):
            store.add_documents(documents[start : start + 2000])
        bare = store.as_retriever(search_kwargs={"k": 10})
        path = given.state or Path(folder, "state.sqlite")
        state = located(documents, rules, path, embedding(embeddings))
        if not given.state:
            told(folder, "state.sqlite", len(documents))

        def wrapped(**setup: Any) -> Any:
            return langchain_sdrag.SelectiveDisclosureRetriever(
                base_retriever=bare, policy=rules, embeddings=embeddings, **setup
            )

        report("bound", *compared(bare, wrapped(state=state), given.pairs))
        model = Slow(messages=iter([]))
        asked = model.model_copy(update={"seconds": 0.0})
        langchain_sdrag.ConstraintBinder(
            policy=rules, state=state, embeddings=embeddings, llm=asked
        ).transform_documents(documents)
        model.calls.clear()
        after = compared(bare, wrapped(state=state, llm=model), given.pairs)
        report("bound with a model", *after, calls=len(model.calls))
        report("never bound", *compared(bare, wrapped(), given.unbound_pairs))
        if given.size:
            large = chunks(given.size, given.characters)
            located(large, rules, Path(folder, "large"), embedding(Constant()))
            told(folder, "large", given.size)


def report(what: str, bare: float, ours: float, calls: int | None = None) -> None:
    """Print one comparison."""
    said = "" if calls is None else f", {calls} model calls"
    print(
        f"{what}: bare {bare:.2f} ms, wrapped {ours:.2f} ms, "
        f"{ours / bare:.3f} times{said}",
        flush=True,
    )


def told(folder: str, name: str, count: int) -> None:
    """Print what a state weighs."""
    size = sum(file.stat().st_size for file in Path(folder).glob(f"{name}*"))
    print(
        f"state of {count} chunks: {size / 1e6:.1f} MB, {size / count:.0f} bytes each",
        flush=True,
    )


if __name__ == "__main__":
    main()
