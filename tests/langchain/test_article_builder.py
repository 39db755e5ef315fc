"""The data-set builder as a runnable: over any model, resumable, with progress."""

from __future__ import annotations

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda

from langchain_sdrag import ArticleBuilder
from sdrag.errors import ModelError, ModelReplyError, UsageError
from sdrag.evaluation.articles_check import check_article, load_articles

from ..evaluation.test_builder import Author
from ..support.doubles import LangChainModel


def failing_after(author, count):
    """A model that goes down."""

    def reply(prompt):
        if len(author.prompts) >= count:
            raise ValueError(prompt)
        return author(prompt)

    return reply


@pytest.mark.parametrize(
    "model",
    [
        lambda author: LangChainModel(reply=author),
        RunnableLambda,
    ],
    ids=["chat model", "runnable"],
)
def test_builds_over_any_model(model, tmp_path):
    """It stands in a chain: a folder goes in, and what was built comes out."""
    chain = RunnableLambda(str) | ArticleBuilder(model(Author()), count=1)

    built = chain.invoke(tmp_path / "articles")

    assert [path.name for path in built.paths] == ["01.json"]
    assert built.refused == ()
    assert [check_article(a) for a in load_articles(tmp_path / "articles")] == [[]]


async def test_builds_without_blocking(tmp_path):
    """Its async face is LangChain's own, on a thread."""
    builder = ArticleBuilder(LangChainModel(reply=Author()), count=1)

    assert len((await builder.ainvoke(tmp_path)).paths) == 1


def test_goes_on_where_it_was(tmp_path):
    """A run that broke off loses no finished article, and progress is told."""
    author, told = Author(), []
    cut = LangChainModel(reply=failing_after(author, 10))

    with pytest.raises(ModelError):
        ArticleBuilder(cut, count=2, attempts=1).invoke(tmp_path)
    built = ArticleBuilder(
        LangChainModel(reply=Author()),
        count=2,
        progress=lambda *done: told.append(done),
    ).invoke(tmp_path)

    assert [path.name for path in built.paths] == ["01.json", "02.json"]
    assert told == [(1, 2), (2, 2)]


def test_completion_models_answer_too(tmp_path):
    """One that names no topics ends the run."""
    with pytest.raises(ModelReplyError):
        ArticleBuilder(FakeListLLM(responses=["no"]), count=1).invoke(tmp_path)


def test_callbacks_see_the_run(tmp_path):
    """The config of a call reaches the model, as in any chain."""

    class Handler(BaseCallbackHandler):
        started = 0

        def on_chat_model_start(self, *args, **kwargs):
            self.started += 1

    handler, model = Handler(), LangChainModel(reply=Author())
    ArticleBuilder(model, count=1).invoke(tmp_path, {"callbacks": [handler]})

    assert handler.started == len(model.prompts)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"attempts": 0}])
def test_settings_are_checked(wrong):
    """At least one article is built, in at least one attempt."""
    with pytest.raises(UsageError):
        ArticleBuilder(LangChainModel(reply=Author()), **wrong)
