"""
How a framework does what an engine needs; without one, functions do.

An adapter says in one `Framework` how its models are asked, what they are called and
how its tracers are kept out. `NO_FRAMEWORK` takes a function or a `Model` as the
language model, and a function from texts to vectors as the embedding model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.prompts import Prompt
from sdrag.effects.steps import Embed
from sdrag.effects.tokens import Completion
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.privacy.log_privacy import suppress_logs

CompletePort = Port[Prompt, Completion | str]
EmbedPort = Port[Embed, Sequence[Sequence[float]]]

_FIELD = re.compile(r"\{(?:content|key|metadata_str|value)\}")
_WORD = re.compile(r"[^\W_]+")
_LAYOUT_WORDS = frozenset(
    """
    chunk content context document excerpt file metadata node page passage source text
    """.split()  # noqa: SIM905 -- a list of words
)


@dataclass(frozen=True, slots=True)
class Framework:
    """
    How a framework does what an engine needs.

    Args:
        complete: Makes of a language model how a prompt is answered.
        embed: Makes of an embedding model how texts are embedded.
        model_name: Names a model for caches and audits, without its keys.
        context_window: Returns how many tokens a model takes in, where that is known.
        hide: Surrounds inner calls, and keeps them out of tracers, callbacks and logs.
    """

    complete: Callable[[Any], CompletePort]
    embed: Callable[[Any], EmbedPort]
    model_name: Callable[[Any], str]
    context_window: Callable[[Any], int | None]
    hide: Callable[[Policy], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Model:
    """
    A language model of no framework.

    Args:
        complete: Answers a prompt: a function, or a `Port` with an async one too.
        name: Names the model in caches and audits.
        window: How many tokens it takes in, where that is known.
        timeout: Seconds that a call may take; by default as the policy says.
        concurrency: How many calls run at the same time.
    """

    complete: Callable[[Prompt], Completion | str] | CompletePort
    name: str = ""
    window: int | None = None
    timeout: float | None = None
    concurrency: int | None = None

    def limit(self, limits: Limits) -> Limits:
        """Return limits with those of the model in their place."""
        seconds = self.timeout or limits.seconds
        concurrency = self.concurrency or limits.concurrency
        return replace(limits, seconds=seconds, concurrency=concurrency)


def local_embeddings() -> EmbedPort:
    """Embed with the packaged MiniLM, loaded at the first call."""

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        from sdrag.embeddings import embed_texts  # noqa: PLC0415 -- it loads numpy

        return cast("Sequence[Sequence[float]]", embed_texts(effect.items))

    return Port(call, local=True)


def _complete(llm: Any) -> CompletePort:
    complete = llm.complete if isinstance(llm, Model) else llm
    if isinstance(complete, Port):
        return complete
    if callable(complete):
        return Port(complete)
    raise UsageError(
        f"`llm` must be callable, got {type(complete).__name__}.",
        hint="It takes a `Prompt` and returns the reply.",
    )


def _embed(embeddings: Any) -> EmbedPort:
    if isinstance(embeddings, Port):
        return embeddings
    if callable(embeddings):
        return Port(lambda effect: embeddings(list(effect.items)))
    raise UsageError(
        f"`embeddings` must be callable, got {type(embeddings).__name__}.",
        hint="It takes texts and returns a vector for each.",
    )


def _hide(policy: Policy) -> AbstractContextManager[None]:
    return nullcontext() if policy.tracing.inner == "shown" else suppress_logs()


NO_FRAMEWORK = Framework(
    complete=_complete,
    embed=_embed,
    model_name=lambda model: model.name if isinstance(model, Model) else "",
    context_window=lambda model: model.window if isinstance(model, Model) else None,
    hide=_hide,
)


def is_layout(template: str) -> bool:
    """
    Say whether a template of a host tells nothing: fields and their names.

    A template that a host keeps with each text can hold words of that text, and be it
    as the name of a field.
    """
    words = _WORD.findall(_FIELD.sub(" ", template))
    return all(word.lower() in _LAYOUT_WORDS for word in words)
