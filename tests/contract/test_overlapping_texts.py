"""
A word that is hidden in one text of a document is hidden in all, however cut.

That it is so for chunks that overlap, parents and windows is a property of the core
(`tests/disclosure/test_located_once.py`). Here the frameworks bring parents and windows
of their own accord.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_core.documents import Document
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore

import langchain_sdrag
import llamaindex_sdrag

from ..support.doubles import LangChainToyEmbeddings
from ..support.faces import Seen, of_documents, of_nodes

# Of the second, only the first sentence tells that it is no bird.
NAMES = ["Meyers", "Crane"]
TEXT = """\
The witness was Jonathan {name}, a clerk at the harbour office. He came by himself on \
the Monday after the fire, and he asked for a glass of water.

{name} had the key to the shed. Nobody else was there at the time. {name}'s coat was \
wet, and the dog would not let {name} pass.

By noon the crates were gone. When asked, {name} pointed at the ferry. A sack marked \
"{upper}" was found under the stairs. The rain had stopped.

The officer wrote all of it down. Before dark, {name} went home.\
"""
POLICY = {
    "constraints": [{"id": "names", "text": "Remove names of witnesses"}],
    "metadata": {"allow": ["title", "window"]},
}
KEPT = "stairs"


@dataclass
class Corpus:
    """One document on somebody, and the state that it is bound in."""

    name: str
    state: Path

    @property
    def text(self) -> str:
        return TEXT.format(name=self.name, upper=self.name.upper())

    @property
    def about(self) -> dict[str, str]:
        return {"source": "log.txt", "title": f"What {self.name} told of the fire"}

    @property
    def shared(self) -> dict[str, Any]:
        return {"policy": POLICY, "state": self.state}

    @property
    def document(self) -> Document:
        return Document(self.text, id="whole", metadata=self.about)

    @property
    def node(self) -> LlamaIndexDocument:
        every = list(self.about)
        return LlamaIndexDocument(
            id_="log.txt",
            text=self.text,
            metadata=self.about,
            excluded_embed_metadata_keys=every,
            excluded_llm_metadata_keys=every,
        )

    def ask_langchain(self, host: Any, question: str = "Who was it?") -> Seen:
        wrapper = langchain_sdrag.SelectiveDisclosureRetriever(host, **self.shared)
        return of_documents(wrapper.invoke(question))

    def ask_llamaindex(self, host: Any) -> list[NodeWithScore]:
        wrapper = llamaindex_sdrag.SelectiveDisclosureRetriever(host, **self.shared)
        return wrapper.retrieve("Who was it?")

    def hides(self, seen: Seen) -> bool:
        """Neither text nor metadata nor an id holds the name, in whatever case."""
        return self.name.casefold() not in str(seen).casefold()


class Found(BaseRetriever):
    """A LlamaIndex retriever that finds the same nodes."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=0.5) for node in self.found]


def count_words(text: str) -> int:
    return len(text.split())


def langchain_splitter(words: int, overlap: int = 0) -> RecursiveCharacterTextSplitter:
    return RecursiveCharacterTextSplitter(
        chunk_size=words, chunk_overlap=overlap, length_function=count_words
    )


def llamaindex_splitter(words: int, overlap: int = 0) -> SentenceSplitter:
    return SentenceSplitter(
        chunk_size=words, chunk_overlap=overlap, tokenizer=str.split
    )


@pytest.fixture(params=NAMES)
def corpus(request, tmp_path):
    return Corpus(request.param, tmp_path / "state.sqlite")


@pytest.mark.parametrize("children_first", [True, False])
def test_a_parent_document_retriever(children_first, corpus):
    """It finds children and returns parents; either of them was bound."""
    vectors = InMemoryVectorStore(LangChainToyEmbeddings())
    host = ParentDocumentRetriever(
        vectorstore=vectors,
        docstore=InMemoryStore(),
        parent_splitter=langchain_splitter(60),
        child_splitter=langchain_splitter(16),
        search_kwargs={"k": 1},
    )
    host.add_documents([corpus.document])
    children = vectors.get_by_ids(list(vectors.store))
    binder = langchain_sdrag.ConstraintBinder(**corpus.shared)
    binder.transform_documents(children if children_first else [corpus.document])

    parents = [corpus.ask_langchain(host, child.page_content) for child in children]

    for seen in parents:
        ((_, text, _),) = seen
        assert count_words(text) > 16
        assert corpus.hides(seen)
    assert len(set(map(str, parents))) > 1
    assert KEPT in str(parents)


@pytest.mark.parametrize("leaves_only", [True, False])
def test_an_auto_merging_retriever(leaves_only, corpus):
    """It merges leaves into parents, bound or met now."""
    parser = HierarchicalNodeParser.from_defaults(
        node_parser_ids=["section", "sentence"],
        node_parser_map={
            "section": llamaindex_splitter(50),
            "sentence": llamaindex_splitter(12),
        },
    )
    nodes = parser.get_nodes_from_documents([corpus.node])
    leaves, docstore = get_leaf_nodes(nodes), SimpleDocumentStore()
    docstore.add_documents(nodes)
    context = StorageContext.from_defaults(docstore=docstore)
    llamaindex_sdrag.ConstraintBinder(**corpus.shared)(leaves if leaves_only else nodes)

    for several in (*([leaf] for leaf in leaves), leaves[1:], leaves):
        host = AutoMergingRetriever(Found(several), context)
        seen = of_nodes(corpus.ask_llamaindex(host))
        assert seen
        assert corpus.hides(seen)
    parents = {node.node_id for node in nodes} - {leaf.node_id for leaf in leaves}
    assert parents == {identity for identity, _, _ in seen}
    assert KEPT in str(seen)


@pytest.mark.parametrize("is_bound", [True, False])
def test_windows_that_take_the_place_of_sentences(is_bound, corpus):
    """A released window is redacted like the sentence that it replaces."""
    parser = SentenceWindowNodeParser.from_defaults(window_size=1)
    nodes = parser.get_nodes_from_documents([corpus.node])
    replace = MetadataReplacementPostProcessor(target_metadata_key="window")
    bound = nodes if is_bound else [corpus.node]
    llamaindex_sdrag.ConstraintBinder(**corpus.shared)(bound)

    for found in (*([node] for node in nodes), nodes):
        released = corpus.ask_llamaindex(Found(found))
        sentences = of_nodes(released)
        windows = of_nodes(replace.postprocess_nodes(released))
        assert corpus.hides(windows)
        for (_, sentence, _), (_, window, _) in zip(sentences, windows, strict=True):
            assert len(window) > len(sentence)
    assert KEPT in str(windows)
