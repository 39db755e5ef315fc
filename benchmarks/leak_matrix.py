"""
The same surfaces, over the peers that can be installed next to us.

    python benchmarks/leak_matrix.py            # the table of peers
    python benchmarks/leak_matrix.py --write    # our own table, into the documentation

A peer is used as its documentation shows, on an email address, which all of them are
made for. What each lets through, by surface, is printed; nothing is asserted.

`llama-index-postprocessor-presidio` is not among the packages of `make test`: install
it next to them to have it in the table. It downloads a language model of 400 MB at its
first node. Without that model, and without a network, it is given an empty English
pipeline: it finds no names then, and addresses, which it knows by a pattern, as ever.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from langchain.agents import create_agent  # noqa: E402 -- the path comes first
from langchain.agents.middleware import PIIMiddleware  # noqa: E402
from langchain_core.tools import create_retriever_tool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from llama_index.core.base.base_retriever import BaseRetriever  # noqa: E402
from llama_index.core.postprocessor import PIINodePostprocessor  # noqa: E402
from llama_index.core.query_engine import RetrieverQueryEngine  # noqa: E402
from llama_index.core.schema import NodeWithScore, TextNode  # noqa: E402

import langchain_sdrag  # noqa: E402
import llamaindex_sdrag  # noqa: E402
from sdrag.vocabulary import Passage  # noqa: E402
from tests.leaks.agent import AgentModel  # noqa: E402
from tests.leaks.matrix import written  # noqa: E402
from tests.leaks.surfaces import (  # noqa: E402
    watching_langchain,
    watching_llamaindex,
)
from tests.support.doubles import LlamaIndexModel  # noqa: E402
from tests.support.faces import Documents, Scenario  # noqa: E402

EMAIL = "vex.borough@harbour-example.org"
TEXT = f"Write to {EMAIL} about the berth."
POLICY = {"constraints": [{"id": "mail", "text": "Hide email addresses"}]}
SPACY_MODEL = "en_core_web_lg"
PAGE = ROOT / "docs" / "leak-matrix.md"
Case = Callable[[Path], dict[str, list[Any]]]


class Nodes(BaseRetriever):
    """One node, with the usual things next to its text."""

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:  # noqa: ARG002
        metadata = {"window": TEXT, "original_text": TEXT}
        node = TextNode(
            text=TEXT, metadata=metadata, excluded_llm_metadata_keys=[*metadata]
        )
        return [NodeWithScore(node=node, score=1.0)]


def agent_with(middleware: Any) -> Case:
    """Watch an agent whose tool answers with content and artifact."""

    def watch(folder: Path) -> dict[str, list[Any]]:
        scenario = Scenario("peer", (Passage("p", TEXT),))
        tool = create_retriever_tool(
            Documents(scenario=scenario),
            "search",
            "Searches.",
            response_format="content_and_artifact",
        )
        saver = InMemorySaver()
        agent = create_agent(
            AgentModel(), [tool], middleware=[middleware()], checkpointer=saver
        )
        config: Any = {"configurable": {"thread_id": "t"}}
        with watching_langchain(folder) as (handler, seen):
            state = agent.invoke(
                {"messages": [("user", "Whom do I write to?")]},
                {**config, "callbacks": [handler]},
            )
        message = state["messages"][-2]
        return {
            "content": [message.content],
            "artifact": [message.artifact],
            "checkpoints": [dict(saver.blobs), dict(saver.writes)],
            **seen,
        }

    return watch


def engine_with(retriever: Callable[[], Any], *hooks: Callable[[], Any]) -> Case:
    """Watch a query engine whose model answers with all it is given."""

    def watch(folder: Path) -> dict[str, list[Any]]:
        with watching_llamaindex(folder) as seen:
            engine = RetrieverQueryEngine.from_args(
                retriever(),
                llm=LlamaIndexModel(str),
                node_postprocessors=[hook() for hook in hooks],
            )
            response = engine.query("Whom do I write to?")
        return {
            "content": [str(response)],
            "source nodes": [n.node.model_dump() for n in response.source_nodes],
            "response metadata": [response.metadata],
            **seen,
        }

    return watch


def scripted(_prompt: str) -> str:
    """Play the model that the peer asks to mask, as its prompt shows it."""
    return (
        f'{TEXT.replace(EMAIL, "[EMAIL1]")}\nOutput Mapping:\n{{"EMAIL1": "{EMAIL}"}}'
    )


def presidio(folder: Path) -> dict[str, list[Any]]:
    """Watch the peer where it is installed, with a language model of its name."""
    from llama_index.postprocessor.presidio import (  # noqa: PLC0415 -- may be absent
        PresidioPIINodePostprocessor,
    )

    watch = engine_with(Nodes, PresidioPIINodePostprocessor)
    spacy = import_module("spacy")
    if spacy.util.is_package(SPACY_MODEL):
        return watch(folder)
    print(f"({SPACY_MODEL} is not installed: an empty pipeline stands for it)")
    spacy.blank("en").to_disk(folder / SPACY_MODEL)
    with contextlib.chdir(folder):
        return watch(folder)


def wrapped() -> Any:
    """Wrap the retriever, with the local engine."""
    return llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(), policy=POLICY
    )


CASES: dict[str, Case] = {
    "PIIMiddleware": agent_with(
        lambda: PIIMiddleware("email", strategy="redact", apply_to_tool_results=True)
    ),
    "sdrag SelectiveDisclosureMiddleware": agent_with(
        lambda: langchain_sdrag.SelectiveDisclosureMiddleware(policy=POLICY)
    ),
    "PIINodePostprocessor": engine_with(
        Nodes, lambda: PIINodePostprocessor(llm=LlamaIndexModel(scripted))
    ),
    "PresidioPIINodePostprocessor": presidio,
    "sdrag SelectiveDisclosureRetriever": engine_with(wrapped),
}


def shows(values: list[Any]) -> bool:
    """Say whether the address is anywhere in what was seen."""
    return EMAIL in repr(values) or EMAIL in "\n".join(map(str, values))


def main() -> None:
    """Print the table of peers, or write our own."""
    logging.disable(logging.NOTSET)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="write docs/leak-matrix.md"
    )
    if parser.parse_args().write:
        page = PAGE.read_text(encoding="utf-8")
        head = page[: page.index("### LangChain")]
        PAGE.write_text(head + written(), encoding="utf-8")
        return
    for name, case in CASES.items():
        try:
            with tempfile.TemporaryDirectory() as folder:
                seen = case(Path(folder))
        except ImportError as error:
            print(f"{name}: not installed ({error.name})")
            continue
        leaking = [surface for surface, values in seen.items() if shows(values)]
        sealed = [surface for surface in seen if surface not in leaking]
        print(f"{name}\n  leaks:  {', '.join(leaking) or 'nothing'}")
        print(f"  sealed: {', '.join(sealed) or 'nothing'}")


if __name__ == "__main__":
    main()
