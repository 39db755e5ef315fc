"""What the wrapped retriever shows of itself, keeps, and tells."""

from __future__ import annotations

from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_llm_cache
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from ..support.doubles import LangChainModel, verdicts
from ..support.scripted import answer_control
from ..support.witness import POLICY
from .fixed import wrapped


def within(model):
    """The runnables that a host makes of a model."""
    return [
        model.bind(stop=["x"]),
        model.with_retry(),
        model.with_retry().with_config(tags=["t"]),
        model.with_fallbacks([model.with_retry()]),
    ]


def _find_nothing(messages):
    words = (
        messages.to_string() if hasattr(messages, "to_string") else messages[-1].text
    )
    return answer_control(words, verdicts(why=[])("\n"))


class TestConfidentiality:
    """Prompts are kept nowhere, and inner calls are shown where the policy says so."""

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
        """Its prompts would be kept, so what needs a model is withheld."""
        model = RunnableLambda(_find_nothing)
        rule = {"id": "why", "text": "Ne révélez pas le but du voyage"}
        policy = {**POLICY, "constraints": [rule]}
        assert wrapped(host, llm=model, policy=policy).invoke("q")

        set_llm_cache(InMemoryCache())
        try:
            assert wrapped(host, llm=model, policy=policy).invoke("q") == []
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
