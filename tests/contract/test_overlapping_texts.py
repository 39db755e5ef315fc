"""A word that is hidden in one text of a document is hidden in all, however cut."""

from __future__ import annotations

import shutil
from operator import methodcaller
from uuid import uuid4

import pytest
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
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
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.storage import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore

import langchain_sdrag
import llamaindex_sdrag
from sdrag.text.sentences import sentences

from ..support.doubles import LangChainToyEmbeddings
from ..support.faces import Seen, of_documents, of_nodes
from ..support.wrappers import build

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
ABOUT = {"source": "log.txt", "title": "What {name} told of the fire"}
POLICY = {
    "constraints": [{"id": "names", "text": "Remove names of witnesses"}],
    "metadata": {"allow": ["title", "window"]},
}
KEPT = "stairs"


class Corpus:
    """
    One document on somebody, in texts of one framework.

    Args:
        name: The surname.
        folder: Where the state is.
    """

    def __init__(self, name, folder):
        self.text = TEXT.format(name=name, upper=name.upper())
        self.about = {key: value.format(name=name) for key, value in ABOUT.items()}
        self.shared = {"policy": POLICY, "state": folder / "state.sqlite"}

    def reopened(self):
        """Return the same with a copy of its file, so that nobody asked before."""
        folder = self.shared["state"].parent
        copied = folder.with_name(uuid4().hex)
        shutil.copytree(folder, copied)
        return {**self.shared, "state": copied / "state.sqlite"}

    def sentences(self):
        """Return the sentences, each with those around it."""
        own = [span.of(self.text) for span in sentences(self.text)]
        return [
            (one, " ".join(own[max(0, n - 1) : n + 2])) for n, one in enumerate(own)
        ]

    def family(self):
        return [*self.whole(), *self.split(16, 0)]


class LangChainCorpus(Corpus):
    def whole(self):
        return [Document(self.text, id="whole", metadata=self.about)]

    def split(self, words, overlap):
        return _by_words(words, overlap).split_documents(self.whole())

    def windows(self):
        return [
            Document(one, metadata={**self.about, "window": window})
            for one, window in self.sentences()
        ]

    def bind(self, texts):
        binder = build(langchain_sdrag.ConstraintBinder, **self.shared)
        return binder.transform_documents(texts)

    def found(self, texts):
        return RunnableLambda(lambda _question: list(texts))

    def ask(self, host, question="Who was it?") -> Seen:
        retriever = build(
            langchain_sdrag.SelectiveDisclosureRetriever,
            base_retriever=host,
            **self.reopened(),
        )
        return of_documents(retriever.invoke(question))


class LlamaIndexCorpus(Corpus):
    def document(self):
        every = list(self.about)
        return LlamaIndexDocument(
            id_=self.about["source"],
            text=self.text,
            metadata=self.about,
            excluded_embed_metadata_keys=every,
            excluded_llm_metadata_keys=every,
        )

    def whole(self):
        node = TextNode(id_="whole", text=self.text, metadata=self.about)
        source = RelatedNodeInfo(node_id=self.about["source"])
        node.relationships[NodeRelationship.SOURCE] = source
        return [node]

    def split(self, words, overlap):
        return _splitter(words, overlap).get_nodes_from_documents([self.document()])

    def windows(self):
        parser = SentenceWindowNodeParser.from_defaults(window_size=1)
        return parser.get_nodes_from_documents([self.document()])

    def bind(self, texts):
        return build(llamaindex_sdrag.ConstraintBinder, **self.shared)(texts)

    def found(self, texts):
        return Found(texts)

    def retrieved(self, host) -> list[NodeWithScore]:
        return build(
            llamaindex_sdrag.SelectiveDisclosureRetriever,
            base_retriever=host,
            **self.reopened(),
        ).retrieve("Who was it?")

    def ask(self, host) -> Seen:
        return of_nodes(self.retrieved(host))


class Found(BaseRetriever):
    """A LlamaIndex retriever that finds the same nodes."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node, score=0.5) for node in self.found]


def _words(text):
    return len(text.split())


def _text(one):
    return one.page_content if isinstance(one, Document) else one.get_content()


def _by_words(words, overlap):
    return RecursiveCharacterTextSplitter(
        chunk_size=words, chunk_overlap=overlap, length_function=_words
    )


def _splitter(words, overlap):
    return SentenceSplitter(
        chunk_size=words, chunk_overlap=overlap, tokenizer=str.split
    )


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def folder(tmp_path):
    (made := tmp_path / "bound").mkdir()
    return made


@pytest.fixture(params=[LangChainCorpus, LlamaIndexCorpus], ids=["langchain", "llama"])
def corpus(request, name, folder):
    return request.param(name, folder)


WHOLE, FAMILY = methodcaller("whole"), methodcaller("family")
SMALL, LARGE = methodcaller("split", 16, 0), methodcaller("split", 60, 20)
OVERLAPPING = methodcaller("split", 24, 12)
WINDOWS = methodcaller("windows")

# How the document is cut when it is bound, and how when it is retrieved.
CUTS = {
    "overlapping chunks": (OVERLAPPING, OVERLAPPING),
    "split again, larger": (SMALL, LARGE),
    "split again, smaller": (LARGE, SMALL),
    "split again, overlapping": (SMALL, OVERLAPPING),
    "parents of bound children": (SMALL, WHOLE),
    "children of bound parents": (WHOLE, SMALL),
    "children bound beside their parents": (FAMILY, FAMILY),
    "sentences in windows": (WINDOWS, WINDOWS),
    "windows over bound chunks": (SMALL, WINDOWS),
}


@pytest.mark.parametrize(("bound", "retrieved"), CUTS.values(), ids=CUTS)
def test_hidden_in_one_hidden_in_all(bound, retrieved, corpus, name):
    """Whichever text is retrieved first, alone or with all others."""
    known = corpus.bind(bound(corpus))
    texts = known if retrieved is bound else retrieved(corpus)

    for found in (*([one] for one in texts), texts):
        seen = corpus.ask(corpus.found(found))
        assert len(seen) == len(found)
        assert_hidden(name, seen)
    assert KEPT in str(seen)


def test_the_cuts_are_what_they_are_called(corpus, name):
    """Chunks overlap, windows are wider than what they are around, names are later."""
    chunks, windows = OVERLAPPING(corpus), WINDOWS(corpus)
    many = sum(_words(_text(one)) for one in chunks)

    assert many > _words(corpus.text)
    assert len(SMALL(corpus)) > len(LARGE(corpus)) > 1
    assert all(len(one.metadata["window"]) > len(_text(one)) for one in windows)
    assert sum(name in _text(one) for one in SMALL(corpus)) > 3
    assert sum("Jonathan" in _text(one) for one in SMALL(corpus)) == 1


class TestLangChain:
    """What brings parents of its own accord."""

    @pytest.mark.parametrize("children_first", [True, False])
    def test_a_parent_document_retriever(self, children_first, name, folder):
        """It finds children and returns parents; either of them was bound."""
        corpus, store = LangChainCorpus(name, folder), InMemoryStore()
        vectors = InMemoryVectorStore(LangChainToyEmbeddings())
        host = ParentDocumentRetriever(
            vectorstore=vectors,
            docstore=store,
            parent_splitter=_by_words(60, 0),
            child_splitter=_by_words(16, 0),
            search_kwargs={"k": 1},
        )
        host.add_documents(corpus.whole())
        children = vectors.get_by_ids(list(vectors.store))
        corpus.bind(children if children_first else corpus.whole())

        parents = [corpus.ask(host, child.page_content) for child in children]

        for seen in parents:
            ((_, text, _),) = seen
            assert _words(text) > 16
            assert_hidden(name, seen)
        assert len(set(map(str, parents))) > 1
        assert KEPT in str(parents)


class TestLlamaIndex:
    """What brings parents and windows of its own accord."""

    @pytest.mark.parametrize("leaves_only", [True, False])
    def test_an_auto_merging_retriever(self, leaves_only, name, folder):
        """It merges leaves into parents, bound or met now."""
        corpus = LlamaIndexCorpus(name, folder)
        parser = HierarchicalNodeParser.from_defaults(
            node_parser_ids=["section", "sentence"],
            node_parser_map={
                "section": _splitter(50, 0),
                "sentence": _splitter(12, 0),
            },
        )
        nodes = parser.get_nodes_from_documents([corpus.document()])
        leaves, docstore = get_leaf_nodes(nodes), SimpleDocumentStore()
        docstore.add_documents(nodes)
        context = StorageContext.from_defaults(docstore=docstore)
        corpus.bind(leaves if leaves_only else nodes)

        for several in (*([leaf] for leaf in leaves), leaves[1:], leaves):
            seen = corpus.ask(AutoMergingRetriever(Found(several), context))
            assert seen
            assert_hidden(name, seen)
        parents = {node.node_id for node in nodes} - {leaf.node_id for leaf in leaves}
        assert parents == {identity for identity, _, _ in seen}
        assert KEPT in str(seen)

    @pytest.mark.parametrize("bound", [WINDOWS, WHOLE], ids=["bound", "met now"])
    def test_windows_that_take_the_place_of_sentences(self, bound, name, folder):
        """A released window is redacted like the sentence that it replaces."""
        corpus = LlamaIndexCorpus(name, folder)
        replace = MetadataReplacementPostProcessor(target_metadata_key="window")
        nodes = corpus.windows()
        corpus.bind(nodes if bound is WINDOWS else bound(corpus))

        for found in (*([node] for node in nodes), nodes):
            released = corpus.retrieved(Found(found))
            before = of_nodes(released)
            seen = of_nodes(replace.postprocess_nodes(released))
            assert all(
                len(window) > len(sentence)
                for (_, sentence, _), (_, window, _) in zip(before, seen, strict=True)
            )
            assert_hidden(name, seen)
        assert KEPT in str(seen)


def assert_hidden(name: str, seen: Seen) -> None:
    """Neither text nor metadata nor an id holds the name, in whatever case."""
    assert name.casefold() not in str(seen).casefold()
