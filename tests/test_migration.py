"""The code of the page on migration runs; theirs leaks what is said of it, ours not."""

from __future__ import annotations

import json
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
from sdrag.vocabulary import Passage

from .leaks.agent import ASK, AgentModel
from .support.doubles import LangChainModel, LlamaIndexModel
from .support.faces import Documents, Nodes, Scenario
from .support.scripted import verbatim

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
SECRETS = ("Karlsson", "anna@harbour.example")
SCENARIO = Scenario(
    "page",
    (Passage("p", f"The witness Anna {SECRETS[0]} saw it. Write to {SECRETS[1]}."),),
)


def masking(_prompt):
    """Play the model that is asked to mask, in the form that its prompt shows."""
    mapping = {f"PII{place}": secret for place, secret in enumerate(SECRETS)}
    text = SCENARIO.passages[0].text
    for placeholder, secret in mapping.items():
        text = text.replace(secret, f"[{placeholder}]")
    return f"{text}\nOutput Mapping:\n{json.dumps(mapping)}"


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
        "local_llm": LlamaIndexModel(masking),
        "retriever": Nodes(SCENARIO),
    }


NAMES = {
    "PIIMiddleware": langchain_names,
    "PIINodePostprocessor": llamaindex_names,
    "PresidioReversibleAnonymizer": langchain_names,
    "PresidioPIINodePostprocessor": llamaindex_names,
}


PEERS = {
    "PresidioReversibleAnonymizer": "langchain_experimental.data_anonymizer",
    "PresidioPIINodePostprocessor": "llama_index.postprocessor.presidio",
}


def stand_in_for_spacys_model(folder, monkeypatch):
    """Presidio downloads a language model, unless it is in the folder, and suffixes."""
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(folder / "en_core_web_lg")
    monkeypatch.chdir(folder)
    suffixes = pytest.importorskip("tldextract")
    packaged = suffixes.TLDExtract(suffix_list_urls=(), cache_dir=None)
    monkeypatch.setattr(suffixes, "extract", packaged)


def block(kind, peer):
    """Return the code of the section on one class."""
    (section,) = [
        part
        for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
        if part.startswith(f"`{peer}`\n")
    ]
    (code,) = re.findall(rf"^```{kind}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    return code


@pytest.mark.parametrize("peer", NAMES)
def test_our_lines_run_and_keep_what_theirs_were_to_hide(peer):
    code = block("python", peer)
    names = NAMES[peer]()

    exec(compile(code, "migration.md", "exec"), names)  # noqa: S102 -- our own page

    result = names["result"]
    shown = str(result) + str(getattr(result, "source_nodes", ""))
    assert "saw it" in shown
    assert not any(secret in shown for secret in SECRETS)


def asked_agent(names):
    """The name stays in the text, and the documents stay beside it."""
    *_, found, _ = names["agent"].invoke(ASK)["messages"]
    assert SECRETS[1] not in found.text
    return [found.text, found.artifact]


def asked_chain(names):
    """What was hidden from the model is put back into its answer."""
    return names["chain"].invoke("Who saw it?")


def asked_engine(names):
    """What stood for what is told in the metadata of the sources."""
    response = names["engine"].query("Who saw it?")
    return [found.node.model_dump() for found in response.source_nodes]


THEIRS = {
    "PIIMiddleware": asked_agent,
    "PresidioReversibleAnonymizer": asked_chain,
    "PIINodePostprocessor": asked_engine,
    "PresidioPIINodePostprocessor": asked_engine,
}


@pytest.mark.parametrize("peer", NAMES)
def test_their_lines_run_and_let_through_what_they_were_to_hide(
    peer, tmp_path, monkeypatch
):
    """Where they are installed; what each lets through, its function above says."""
    code = block("python before", peer)
    compiled = compile(code, "migration.md", "exec")
    names = NAMES[peer]()
    for name in set(compiled.co_names) & set(PEERS):
        names[name] = getattr(pytest.importorskip(PEERS[name]), name)
        stand_in_for_spacys_model(tmp_path, monkeypatch)

    exec(compiled, names)  # noqa: S102 -- our own page

    shown = str(THEIRS[peer](names))
    assert all(secret in shown for secret in SECRETS)
