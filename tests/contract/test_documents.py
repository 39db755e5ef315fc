"""Chunks are of one document whoever cut them, in both frameworks alike."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import (
    CharacterTextSplitter,
    MarkdownTextSplitter,
    RecursiveCharacterTextSplitter,
    TextSplitter,
)
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    NodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    TokenTextSplitter,
)
from llama_index.core.schema import TextNode

from ..support.frameworks import LangChain, LlamaIndex

POLICY = {"constraints": ["Remove the names of witnesses"]}
TEXT = (
    "# Night watch\n\nThe witness was Anna Wick, and she signed the log.\n\n"
    "# Morning\n\nThe harbour was calm and cold. Nobody was on the quay at seven. "
    "Two boats came in before eight, and both were empty.\n\n"
    "Wick left the quay at nine."
)
KEYS = ("document_id", "source", "doc_id")
LANGCHAIN = {
    "characters": CharacterTextSplitter(
        separator="\n\n", chunk_size=60, chunk_overlap=0
    ),
    "recursive": RecursiveCharacterTextSplitter(chunk_size=80, chunk_overlap=10),
    "starts": RecursiveCharacterTextSplitter(
        chunk_size=70, chunk_overlap=0, add_start_index=True
    ),
    "headings": MarkdownTextSplitter(chunk_size=90, chunk_overlap=0),
}
LLAMAINDEX = {
    "sentences": SentenceSplitter(chunk_size=24, chunk_overlap=0),
    "tokens": TokenTextSplitter(chunk_size=24, chunk_overlap=4),
    "windows": SentenceWindowNodeParser.from_defaults(window_size=1),
    "levels": HierarchicalNodeParser.from_defaults(chunk_sizes=[96, 24]),
    "headings": MarkdownNodeParser.from_defaults(),
}


def released(framework, chunks):
    """Return the texts that are released of chunks, one after the other."""
    return framework.release(chunks, policy=POLICY)


@pytest.mark.parametrize("splitter", LANGCHAIN.values(), ids=LANGCHAIN)
def test_a_name_told_by_one_chunk_is_hidden_in_all_of_langchain(splitter: TextSplitter):
    """The chunks of a splitter keep the metadata that names their document."""
    chunks = splitter.split_documents([Document(TEXT, metadata={"source": "log.txt"})])
    assert len(chunks) > 1
    assert "Wick" not in "".join(released(LangChain(), chunks))


@pytest.mark.parametrize("key", ["source", None])
@pytest.mark.parametrize("parser", LLAMAINDEX.values(), ids=LLAMAINDEX)
def test_a_name_told_by_one_chunk_is_hidden_in_all_of_llamaindex(
    key: str | None, parser: NodeParser
):
    """The nodes of a parser know their document without metadata too."""
    document = LlamaIndexDocument(text=TEXT, metadata={key: "log.txt"} if key else {})
    nodes = parser.get_nodes_from_documents([document])
    assert len(nodes) > 1
    assert "Wick" not in "".join(released(LlamaIndex(), nodes))


@pytest.mark.parametrize("key", KEYS)
def test_what_metadata_names_is_joined_alike(key: str):
    """Chunks that a loader or a store made, with nothing but their metadata."""
    told, telling = "Lamp left the quay at nine.", "The witness was Anna Lamp."
    for names, hidden in ((("a", "a"), True), (("a", "b"), False)):
        pairs = list(zip((told, telling), names, strict=True))
        documents = [Document(text, metadata={key: name}) for text, name in pairs]
        nodes = [TextNode(text=text, metadata={key: name}) for text, name in pairs]

        texts = released(LangChain(), documents)

        assert texts == released(LlamaIndex(), nodes)
        assert ("Lamp" not in texts[0]) is hidden
