"""The lines that the page on migration has in place of others run, and hide names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from llama_index.core.query_engine import RetrieverQueryEngine

import langchain_sdrag
import llamaindex_sdrag
from sdrag.disclosure.enforceable import not_understood
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from .leaks.agent import AgentModel
from .support.doubles import LangChainModel, LlamaIndexModel
from .support.faces import Documents, Nodes, Scenario
from .support.scripted import verbatim

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
SECRETS = ("Karlsson", "anna@harbour.example")
SCENARIO = Scenario(
    "page",
    (Passage("p", f"The witness Anna {SECRETS[0]} saw it. Write to {SECRETS[1]}."),),
)


def langchain_names():
    retriever = Documents(scenario=SCENARIO)
    return {
        "SelectiveDisclosureMiddleware": langchain_sdrag.SelectiveDisclosureMiddleware,
        "SelectiveDisclosureRetriever": langchain_sdrag.SelectiveDisclosureRetriever,
        "create_agent": create_agent,
        "format_docs": lambda found: "\n".join(one.page_content for one in found),
        "llm": LangChainModel(reply=verbatim),
        "model": AgentModel(),
        "prompt": ChatPromptTemplate.from_template("{context} {question}"),
        "question": RunnablePassthrough(),
        "retriever": retriever,
        "tools": [
            create_retriever_tool(
                retriever, "search", "x", response_format="content_and_artifact"
            )
        ],
    }


def llamaindex_names():
    return {
        "RetrieverQueryEngine": RetrieverQueryEngine,
        "SelectiveDisclosureRetriever": llamaindex_sdrag.SelectiveDisclosureRetriever,
        "llm": LlamaIndexModel(verbatim),
        "retriever": Nodes(SCENARIO),
    }


NAMES = {
    "`PIIMiddleware`": langchain_names,
    "Presidio": langchain_names,
    "LlamaIndex's postprocessors": llamaindex_names,
    "llm-guard": langchain_names,
}


def block(peer):
    """Return our code of the section on one tool."""
    (section,) = [
        part
        for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
        if part.startswith(f"{peer}\n")
    ]
    fence = r'^```python title="after"\n(.*?)^```'
    (code,) = re.findall(fence, section, re.DOTALL | re.MULTILINE)
    return code


@pytest.mark.parametrize("peer", NAMES)
def test_our_lines_run_and_keep_what_theirs_were_to_hide(peer):
    code = block(peer)
    names = NAMES[peer]()

    exec(compile(code, "migration.md", "exec"), names)  # noqa: S102 -- our own page

    result = names["result"]
    shown = str(result) + str(getattr(result, "source_nodes", ""))
    assert "saw it" in shown
    assert not any(secret in shown for secret in SECRETS)


def test_what_a_type_becomes_is_understood():
    """Each sentence that the tables name needs no model."""
    page = PAGE.read_text(encoding="utf-8")
    sentences = re.findall(r"`((?:Hide|Do not) [^`]+)`", page)

    assert len(sentences) > 10
    assert not not_understood(Policy.read([*dict.fromkeys(sentences)]))
