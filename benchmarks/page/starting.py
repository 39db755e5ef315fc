"""
Starting: what imports, a policy and a first question take in a new process.

Imports and first questions are measured in processes of their own, in turn. The first
question is asked of one chunk in LangChain's store in memory: plain, then wrapped. It
holds imports, weights and tables, all of which the next question finds loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import yaml

from benchmarks.page.corpus import policy
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import medians
from sdrag.policy import Policy

__all__ = ["measure"]

ROOT = Path(__file__).parents[2]
PACKAGES = ("langchain-core", "llama-index-core", "pydantic", "torch")
IMPORTS = (
    ("sdrag", "import sdrag", "import pydantic, numpy"),
    (
        "langchain_sdrag",
        "from langchain_sdrag import SelectiveDisclosureRetriever",
        "from langchain_core.retrievers import BaseRetriever",
    ),
    (
        "llamaindex_sdrag",
        "from llamaindex_sdrag import SelectiveDisclosureRetriever",
        "from llama_index.core.retrievers import BaseRetriever",
    ),
)
"""What is imported, and what of others it cannot do without."""
PLAIN = """
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_sdrag.local_embeddings import LocalEmbeddings
store = InMemoryVectorStore(LocalEmbeddings())
store.add_documents([Document("The witness, Jonathan Meyers, saw a grey van.")])
retriever = store.as_retriever()
"""
WRAPPED = f"""{PLAIN}
from langchain_sdrag import SelectiveDisclosureRetriever
retriever = SelectiveDisclosureRetriever(
    base_retriever=retriever, policy={{"constraints": ["Remove names of witnesses"]}}
)
"""
ASKED = 'retriever.invoke("What did the witness see?")\n'


def measure(*, quick: bool) -> Figures:
    """Measure the three."""
    rounds = 1 if quick else 7
    imports = [imported(name, ours, theirs, rounds) for name, ours, theirs in IMPORTS]
    first = questions(1 if quick else 5)
    tables = {
        "imported": imports,
        "read": [loaded(count, 3 * rounds) for count in (3, 100)],
        "first": first,
    }
    facts = {"first": first[-1]["times"]}
    return Figures(tables, facts, PACKAGES)


def imported(name: str, ours: str, theirs: str, rounds: int) -> dict[str, Cell]:
    """Import in new processes, next to what has to be imported anyway."""
    times = medians(
        {
            "none": _starting("pass"),
            "theirs": _starting(theirs),
            "ours": _starting(ours),
        },
        rounds,
    )
    needed, whole = times["theirs"] - times["none"], times["ours"] - times["none"]
    return {
        "package": f"`{name}`",
        "what it needs": f"`{theirs.removeprefix('import ')}`",
        "needed, ms": 1000 * needed,
        "whole, ms": 1000 * whole,
        "times": whole / needed,
    }


def loaded(count: int, rounds: int) -> dict[str, Cell]:
    """Read a policy, next to reading its YAML."""
    text = yaml.safe_dump(policy(count))
    times = medians(
        {
            "yaml": lambda _: yaml.safe_load(text),
            "policy": lambda _: Policy.read(yaml.safe_load(text)),
        },
        rounds,
    )
    return {
        "constraints": count,
        "YAML alone, ms": 1000 * times["yaml"],
        "policy, ms": 1000 * times["policy"],
        "times": times["policy"] / times["yaml"],
    }


def questions(rounds: int) -> list[dict[str, Cell]]:
    """Ask in new processes, plain and wrapped."""
    times = medians(
        {"plain": _starting(PLAIN + ASKED), "wrapped": _starting(WRAPPED + ASKED)},
        rounds,
    )
    return [
        {
            "first question": name,
            "seconds": taken,
            "times": taken / times["plain"],
        }
        for name, taken in times.items()
    ]


def _starting(code: str) -> partial[object]:
    return partial(_run, code)


def _run(code: str, _number: int) -> object:
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    return subprocess.run(  # noqa: S603 -- this interpreter, and code from above
        [sys.executable, "-c", code], check=True, cwd=ROOT, env=environment
    )
