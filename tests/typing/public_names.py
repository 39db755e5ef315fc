"""Read by mypy only: what a type checker knows of the names of `sdrag`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode

import langchain_sdrag as langchain
import llamaindex_sdrag as llamaindex
import sdrag
from sdrag import (
    AuditEvent,
    Constraint,
    Limits,
    Passage,
    Policy,
    Principal,
    SdragError,
    UsageError,
    open_state,
)
from sdrag.effects.prompts import Labelled
from sdrag.highlight.exchange import Context, Highlighter


def names_have_types(policy: Policy, event: AuditEvent, limits: Limits) -> None:
    assert_type(sdrag.Policy.read("policy.yaml"), Policy)
    assert_type(Principal("someone"), Principal)
    assert_type(Passage("id", "text").text, str)
    assert_type(open_state(), sdrag.State)
    error: SdragError = UsageError("wrong")
    use(policy, event, limits, error, Constraint)
    use(sdrag.Polcy)  # type: ignore[attr-defined]  # a misspelt name is an error
    Principal(1)  # type: ignore[arg-type]  # and so is a wrong type


def highlight(question: Labelled, context: Context) -> list[str]:
    return [question.text, *(each.text for each in context.passages)]


async def ahighlight(question: Labelled, context: Context) -> list[str]:
    return highlight(question, context)


def highlights(question: Labelled, context: Context) -> Iterator[str]:
    yield from highlight(question, context)


async def ahighlights(question: Labelled, context: Context) -> AsyncIterator[str]:
    yield ""


def unlike_text(question: Labelled, context: Context) -> int:
    return len(highlight(question, context))


def own_functions_are_highlighters() -> None:
    own: list[Highlighter] = [highlight, ahighlight, highlights, ahighlights]
    wrong: Highlighter = unlike_text  # type: ignore[assignment]
    use(own, wrong)


def langchain_classes_know_their_models(
    llm: BaseChatModel,
    embeddings: Embeddings,
    documents: list[Document],
    node: BaseNode,
) -> None:
    binder = langchain.ConstraintBinder("policy.yaml", "state", llm)
    binder.bind_documents(documents)
    binder.bind_documents([node])  # type: ignore[list-item]
    masker = langchain.LinkageMasker("policy.yaml", llm, embeddings=embeddings)
    assert_type(masker.update(documents)[1], list[Document])
    langchain.RedactingTransformer("policy.yaml", 1)  # type: ignore[arg-type]
    langchain.LinkageMasker("policy.yaml", whole=True)  # type: ignore[call-arg]
    control = langchain.DisclosureControl("policy.yaml", None, llm)
    assert_type(control.masker(), langchain.LinkageMasker)
    langchain.DisclosureControl("policy.yaml", llm=1)  # type: ignore[arg-type]


def llamaindex_classes_know_theirs(
    llm: LLM, other: BaseChatModel, nodes: list[BaseNode]
) -> None:
    masker = llamaindex.LinkageMasker("policy.yaml", llm, whole_corpus=True)
    assert_type(masker.update(nodes)[1], list[BaseNode])
    llamaindex.ConstraintBinder("policy.yaml", None, other)  # type: ignore[arg-type]
    llamaindex.HierarchySummarizer("policy.yaml", None)  # type: ignore[call-arg]
    control = llamaindex.DisclosureControl("policy.yaml", None, llm)
    assert_type(control.binder(), llamaindex.ConstraintBinder)
    llamaindex.DisclosureControl("policy.yaml", llm=other)  # type: ignore[arg-type]


def use(*_: object) -> None: ...
