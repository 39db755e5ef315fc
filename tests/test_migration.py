"""The code of the migration pages runs, and leaks nothing of what must be hidden."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from llama_index.core.postprocessor import PIINodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine

import langchain_sdrag
import llamaindex_sdrag
from sdrag.testing import verbatim
from sdrag.vocabulary import Passage

from .leaks.agent import AgentModel
from .support.doubles import LangChainModel, LlamaIndexModel
from .support.faces import Documents, Nodes, Scenario

PAGES = Path(__file__).parents[1] / "docs" / "migration"
SECRETS = ("Karlsson", "anna@harbour.example")
SCENARIO = Scenario(
    "page",
    (Passage("p", f"The witness Anna {SECRETS[0]} saw it. Write to {SECRETS[1]}."),),
)


def langchain_names():
    retriever = Documents(scenario=SCENARIO)
    return {
        "PIIMiddleware": PIIMiddleware,
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
        "PIINodePostprocessor": PIINodePostprocessor,
        "RetrieverQueryEngine": RetrieverQueryEngine,
        "SelectiveDisclosureRetriever": llamaindex_sdrag.SelectiveDisclosureRetriever,
        "llm": LlamaIndexModel(verbatim),
        "local_llm": LlamaIndexModel(verbatim),
        "retriever": Nodes(SCENARIO),
    }


NAMES = {
    "pii-middleware": langchain_names,
    "presidio-reversible-anonymizer": langchain_names,
    "pii-node-postprocessor": llamaindex_names,
    "llama-index-postprocessor-presidio": llamaindex_names,
}


PEERS = {
    "PresidioReversibleAnonymizer": "langchain_experimental.data_anonymizer",
    "PresidioPIINodePostprocessor": "llama_index.postprocessor.presidio",
}


def stand_in_for_spacys_model(folder, monkeypatch):
    """Presidio downloads a language model unless one of its name is in the folder."""
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(folder / "en_core_web_lg")
    monkeypatch.chdir(folder)


def blocks(page, kind):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", NAMES)
def test_our_lines_run_and_keep_what_theirs_were_to_hide(page):
    (code,) = blocks(page, "python")
    names = NAMES[page]()

    exec(compile(code, f"{page}.md", "exec"), names)  # noqa: S102 -- our own page

    result = names["result"]
    shown = str(result) + str(getattr(result, "source_nodes", ""))
    assert "saw it" in shown
    assert not any(secret in shown for secret in SECRETS)


@pytest.mark.parametrize("page", NAMES)
def test_their_lines_are_python_and_run_where_they_are_installed(
    page, tmp_path, monkeypatch
):
    (code,) = blocks(page, "python before")
    compiled = compile(code, f"{page}.md", "exec")
    names = NAMES[page]()
    for name in set(compiled.co_names) & set(PEERS):
        names[name] = getattr(pytest.importorskip(PEERS[name]), name)
        stand_in_for_spacys_model(tmp_path, monkeypatch)

    exec(compiled, names)  # noqa: S102 -- our own page


def test_every_page_is_tested_and_listed():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}

    assert pages == set(NAMES)
    listed = (PAGES / "README.md").read_text(encoding="utf-8")
    assert all(f"({page}.md)" in listed for page in pages)
