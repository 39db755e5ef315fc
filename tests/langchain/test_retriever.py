"""The wrapped retriever at home in LangChain."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from sdrag import Principal, acting_as
from sdrag.errors import UsageError

from ..support.doubles import LangChainToyEmbeddings
from ..support.witness import JUDGE, TEXT
from .fixed import Fixed, wrapped


class TestPrincipals:
    """On whose behalf: from the config, from a block, or from the host's resolver."""

    def test_the_config_of_the_call_names_the_principal(self, host):
        config, retriever = {"configurable": {"principal": JUDGE}}, wrapped(host)

        with acting_as(Principal("c")):  # for whom the call does not act
            assert retriever.invoke("q", config)[0].page_content == TEXT
        assert retriever.invoke("q")[0].page_content != TEXT

    def test_a_resolver_decides_alone(self, host):
        """What the asker put into the config does not count then."""
        closed = wrapped(host, principal_resolver=lambda config: None)
        opened = wrapped(
            host, principal_resolver=lambda config: config["configurable"]["session"]
        )

        forged = {"configurable": {"principal": JUDGE, "session": JUDGE}}
        with acting_as(JUDGE):
            assert closed.invoke("q")[0].page_content != TEXT
        assert closed.invoke("q", forged)[0].page_content != TEXT
        assert opened.invoke("q", forged)[0].page_content == TEXT

    def test_a_mapping_is_no_principal(self, host):
        """It could have come over the wire with the question."""
        forged = {"configurable": {"principal": {"id": "j", "roles": ["judge"]}}}

        with pytest.raises(UsageError):
            wrapped(host).invoke("q", forged)


class TestRunnable:
    """Everything a LangChain user does with a runnable works."""

    def test_retries_and_fallbacks_wrap_it(self, host):
        class Down(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                raise ConnectionError(TEXT)

        failing = wrapped(Down()).with_retry(
            stop_after_attempt=2, wait_exponential_jitter=False
        )
        chain = failing.with_fallbacks([wrapped(host)])

        assert chain.invoke("q")[0].id == "d"

    def test_k_is_given_at_the_call(self):
        many = Fixed(
            documents=[Document(id=str(n), page_content="x") for n in range(9)],
            calls=[],
        )

        assert len(wrapped(many).invoke("q", k=3)) == 3

    def test_the_hosts_own_configuration_still_works(self, host):
        """Configurable fields of the wrapped retriever see the config of the call."""
        inner = host.configurable_fields(documents=ConfigurableField(id="documents"))
        other = [Document(id="other", page_content="x")]

        released = wrapped(inner).invoke("q", {"configurable": {"documents": other}})

        assert released[0].id == "other"

    def test_bound_arguments_reach_the_host(self, host):
        wrapped(host).bind(k=1).invoke("q")

        assert host.calls == [{"k": 1}]

    def test_settings_are_fixed_once_built(self, host):
        """What protects is not replaced, by an assignment or in a copy."""
        retriever, other = wrapped(host), {"allow_empty": True}

        with pytest.raises(UsageError, match="policy"):
            retriever.model_copy(update={"policy": other})
        with pytest.raises(ValueError, match="frozen"):
            retriever.base_retriever = host
        with pytest.raises((AttributeError, ValueError)):
            retriever.policy = other
        assert retriever.model_copy(update={"k": 1}).invoke("q")[0].page_content != TEXT


class TestAccess:
    """A filter given at call time can narrow what the host allows, never widen it."""

    @pytest.fixture
    def store(self, tmp_path):
        chroma = pytest.importorskip("langchain_chroma")
        made = chroma.Chroma(
            "chunks", LangChainToyEmbeddings(), str(tmp_path / "store")
        )
        made.add_documents(
            [
                Document(id="a", page_content="x", metadata={"tenant": "a", "n": 1}),
                Document(id="b", page_content="x", metadata={"tenant": "b", "n": 1}),
            ]
        )
        return made

    def test_filters_are_anded_with_the_hosts(self, store):
        host = store.as_retriever(search_kwargs={"filter": {"tenant": "a"}})

        released = wrapped(host).invoke("x", filter={"n": 1})

        assert [found.id for found in released] == ["a"]
        assert wrapped(host).invoke("x", filter={"tenant": "b"}) == []
        assert host.search_kwargs == {"filter": {"tenant": "a"}}

    def test_a_filter_for_an_unknown_store_is_refused(self):
        store = InMemoryVectorStore(LangChainToyEmbeddings())

        with pytest.raises(UsageError):
            wrapped(store.as_retriever()).invoke("q", filter=lambda document: True)

    def test_unknown_arguments_are_refused(self, host):
        with pytest.raises(UsageError):
            wrapped(host).invoke("q", where={"tenant": "b"})


class Counting(LangChainToyEmbeddings):
    """Counts the questions that were embedded."""

    questions = 0

    def embed_query(self, text):
        self.questions += 1
        return super().embed_query(text)


def test_the_question_is_embedded_once():
    """By the host's store; nothing of ours needs its vector unless the policy asks."""
    embeddings = Counting()
    store = InMemoryVectorStore(embeddings)
    store.add_documents([Document(id="d", page_content=TEXT)])

    wrapped(store.as_retriever(), embeddings=embeddings).invoke("q")

    assert embeddings.questions == 1


class TestBadHosts:
    """A host that gives something else is told so, by type and not by content."""

    @pytest.mark.parametrize("given", ["a string", None, 5, [TEXT], [{"text": TEXT}]])
    def test_what_is_no_list_of_documents_is_refused(self, given):
        host = RunnableLambda(lambda query: given)

        with pytest.raises(Exception, match="not a") as caught:
            wrapped(host).invoke("q")

        assert "Karlsson" not in str(caught.value)

    def test_documents_keep_their_ids_or_the_lack_of_one(self):
        host = RunnableLambda(
            lambda query: [
                Document(page_content="x"),
                Document(page_content="x"),
                Document(id="d", page_content="y"),
            ]
        )

        released = wrapped(host).invoke("q")

        assert [found.id for found in released] == [None, None, "d"]

    def test_a_rerankers_score_survives(self):
        metadata = {"relevance_score": 0.5, "other": 1}
        host = RunnableLambda(lambda q: [Document(page_content="x", metadata=metadata)])

        (released,) = wrapped(host).invoke("q")

        assert released.metadata.pop("sdrag").keys() == {"audience", "mark"}
        assert released.metadata == {"relevance_score": 0.5}

    def test_inputs_are_not_changed(self, host):
        before = host.documents[0].model_copy(deep=True)

        wrapped(host).invoke("q")

        assert host.documents[0] == before
