"""The wrapped retriever at home in LangChain."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Principal, acting_as
from sdrag.errors import UsageError

from ..support.doubles import LangChainModel, LangChainToyEmbeddings, verdicts
from ..support.faces import Documents, Scenario

TEXT = "The witness Anna Karlsson saw it."
NAMES = {
    "id": "names",
    "text": "Remove the names of witnesses",
    "always": True,
    "unless": {"roles": ["judge"]},
}
POLICY = {"constraints": [NAMES]}
JUDGE = Principal("j", roles=frozenset({"judge"}))


class Fixed(BaseRetriever):
    """Returns the same documents, and remembers how it was called."""

    documents: list[Document]
    calls: list[Any]

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        self.calls.append(kwargs)
        return self.documents[: kwargs.get("k")]


@pytest.fixture
def host():
    return Fixed(documents=[Document(id="d", page_content=TEXT)], calls=[])


def wrapped(host, **options):
    return SelectiveDisclosureRetriever(
        base_retriever=host, **{"policy": POLICY, **options}
    )


def within(model):
    """The runnables that a host makes of a model."""
    return [
        model.bind(stop=["x"]),
        model.with_retry(),
        model.with_retry().with_config(tags=["t"]),
        model.with_fallbacks([model.with_retry()]),
    ]


class TestPrincipals:
    """On whose behalf: from the config, from a block, or from the host's resolver."""

    def test_the_config_of_the_call_names_the_principal(self, host):
        config = {"configurable": {"principal": JUDGE}}

        assert wrapped(host).invoke("q", config)[0].page_content == TEXT
        assert wrapped(host).invoke("q")[0].page_content != TEXT

    def test_the_config_travels_through_a_chain(self, host):
        chain = RunnableLambda(str) | wrapped(host) | (lambda found: found[0])

        released = chain.invoke("q", {"configurable": {"principal": JUDGE}})

        assert released.page_content == TEXT

    @pytest.mark.parametrize("method", ["stream", "astream", "astream_events"])
    async def test_a_stream_belongs_to_whoever_asked_for_it(self, host, method):
        """The block may be over when the first chunk is taken."""
        options = {"version": "v2"} if method == "astream_events" else {}
        with acting_as(JUDGE):
            stream = getattr(wrapped(host), method)("q", **options)

        chunks = (
            list(stream) if method == "stream" else [chunk async for chunk in stream]
        )

        assert "Anna Karlsson" in str(chunks)

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

    def test_one_batch_serves_several_principals(self, host):
        """Nothing per user is kept on the retriever."""
        configs = [{"configurable": {"principal": JUDGE}}, {}] * 4

        released = wrapped(host).batch(["q"] * 8, configs)

        opened = [found[0].page_content == TEXT for found in released]
        assert opened == [True, False] * 4


class TestRunnable:
    """Everything a LangChain user does with a runnable works."""

    def test_names_tags_and_metadata_reach_the_handlers(self, host):
        class Starts(BaseCallbackHandler):
            def __init__(self):
                self.seen = []

            def on_retriever_start(self, *args, **kwargs):
                self.seen.append(kwargs)

        config = {"tags": ["t"], "metadata": {"m": 1}, "run_name": "mine"}
        starts = Starts()
        wrapped(host).with_config(config).invoke("q", {"callbacks": [starts]})

        (start,) = starts.seen
        assert "t" in start["tags"]
        assert start["metadata"]["m"] == 1
        assert start["name"] == "mine"

    def test_retries_and_fallbacks_wrap_it(self, host):
        class Down(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                raise ConnectionError(TEXT)

        failing = wrapped(Down()).with_retry(
            stop_after_attempt=2, wait_exponential_jitter=False
        )
        chain = failing.with_fallbacks([wrapped(host)])

        assert chain.invoke("q")[0].id == "d"

    def test_k_is_configurable(self):
        many = Fixed(
            documents=[Document(id=str(n), page_content="x") for n in range(9)],
            calls=[],
        )
        retriever = wrapped(many).configurable_fields(k=ConfigurableField(id="k"))

        assert len(retriever.invoke("q", {"configurable": {"k": 3}})) == 3

    def test_the_hosts_own_configuration_still_works(self, host):
        """Configurable fields of the wrapped retriever see the config of the call."""
        inner = host.configurable_fields(documents=ConfigurableField(id="documents"))
        other = [Document(id="other", page_content="x")]

        released = wrapped(inner).invoke("q", {"configurable": {"documents": other}})

        assert released[0].id == "other"

    def test_bound_arguments_reach_the_host(self, host):
        wrapped(host).bind(k=1).invoke("q")

        assert host.calls == [{"k": 1}]

    def test_it_becomes_a_tool(self, host):
        tool = wrapped(host).as_tool(name="search", description="Searches.")

        assert "Anna Karlsson" not in str(tool.invoke("q"))

    def test_a_copy_with_another_policy_obeys_it(self, host):
        retriever = wrapped(host)
        other = wrapped(host, policy={"constraints": []})

        copy = retriever.model_copy(update={"policy": other.policy})

        assert copy.invoke("q")[0].page_content == TEXT
        assert retriever.invoke("q")[0].page_content != TEXT

    def test_settings_are_fixed_once_built(self, host):
        """Assigning a policy would change the field and not what is enforced."""
        with pytest.raises(ValueError, match="frozen"):
            wrapped(host).policy = POLICY


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


class TestConfidentiality:
    """The wrapper shows ids and hashes of itself, and refuses what it cannot keep."""

    def test_it_shows_its_policys_hash_only(self, host):
        retriever = wrapped(host)

        for shown in (repr(retriever), str(retriever), dumps(retriever)):
            assert "witnesses" not in shown
        assert retriever.policy_hash in repr(retriever)

    def test_it_is_not_pickled(self, host):
        with pytest.raises(UsageError):
            pickle.dumps(wrapped(host))

    def test_a_global_cache_never_holds_a_prompt(self, host):
        cache = InMemoryCache()
        set_llm_cache(cache)
        try:
            model = LangChainModel(reply=verdicts(names=["Anna Karlsson"]))
            for given in (model, *within(model)):
                assert wrapped(host, llm=given).invoke("q")[0].id == "d"
            assert cache._cache == {}
        finally:
            set_llm_cache(None)

    def test_nor_does_a_cache_of_the_models_own(self, host):
        """Also where the model is within a runnable."""
        cache = InMemoryCache()
        reply = verdicts(names=["Anna Karlsson"])
        model = LangChainModel(reply=reply, cache=cache)

        for given in (model, *within(model), model | StrOutputParser()):
            assert wrapped(host, llm=given).invoke("q")[0].id == "d"

        assert cache._cache == {}

    def test_a_model_that_cannot_be_copied_is_refused_while_there_is_one(self, host):
        """Its prompts would be kept, so its passages are withheld."""
        model = RunnableLambda(lambda messages: verdicts(names=[])("\n"))
        assert wrapped(host, llm=model).invoke("q")

        set_llm_cache(InMemoryCache())
        try:
            assert wrapped(host, llm=model).invoke("q") == []
        finally:
            set_llm_cache(None)

    def test_shown_tracing_is_asked_for(self, host):
        """`tracing: {inner: shown}` gives the host's handlers the inner calls back."""

        class Ends(BaseCallbackHandler):
            def __init__(self):
                self.seen = []

            def on_retriever_end(self, documents, **kwargs):
                self.seen.append(str(documents))

        for inner, count in (("hidden", 1), ("shown", 2)):
            handler = Ends()
            policy = {**POLICY, "tracing": {"inner": inner}}
            wrapped(host, policy=policy).invoke("q", {"callbacks": [handler]})
            assert len(handler.seen) == count


class TestAudit:
    """What was decided is told to the run, to sinks, and to nobody else."""

    def test_a_run_is_told_by_a_custom_event(self, host):
        class Custom(BaseCallbackHandler):
            def __init__(self):
                self.seen = []

            def on_custom_event(self, name, data, **kwargs):
                self.seen.append((name, data))

        handler = Custom()
        wrapped(host).invoke("q", {"callbacks": [handler]})

        ((name, data),) = handler.seen
        assert name == "sdrag"
        assert data["stage"] == "retrieve"
        assert data["decisions"][0]["constraint_ids"] == ("names",)
        assert "Karlsson" not in str(data)

    async def test_an_async_run_is_told_too(self, host):
        events = wrapped(host).astream_events("q", version="v2")

        names = [event["name"] async for event in events]

        assert "sdrag" in names

    def test_sinks_get_the_event(self, host):
        heard = []

        wrapped(host, audit=heard.append).invoke("q")
        wrapped(host, audit=[heard.append]).invoke("q")

        assert [event.stage for event in heard] == ["retrieve", "retrieve"]
        assert heard[0].policy_hash == wrapped(host).policy_hash


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

        assert released.metadata == {"relevance_score": 0.5}

    def test_inputs_are_not_changed(self, host):
        before = host.documents[0].model_copy(deep=True)

        wrapped(host).invoke("q")

        assert host.documents[0] == before
        assert Documents(scenario=Scenario("s")).invoke("q") == []
