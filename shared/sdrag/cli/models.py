"""Models by name, for the command line alone: libraries are handed models instead."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from sdrag.engine.prompts import Prompt
from sdrag.engine.tokens import text_of
from sdrag.errors import UsageError
from sdrag.extras import require_extra

__all__ = [
    "LOCAL",
    "chat_model",
    "complete_with",
    "generator_of",
    "judge_of",
    "llm_of",
    "served_model",
]

LOCAL = "local"
"""The engine without a model."""

_PREFIX = "langchain:"


def complete_with(
    engine: str, option: str = "--engine"
) -> Callable[[Prompt], str] | None:
    """
    Return how prompts are completed; `None` for the local engine.

    Args:
        engine: `local`, or `langchain:PROVIDER:MODEL`.
        option: Where it was given.

    Raises:
        UsageError: The engine's name means nothing.
    """
    if engine == LOCAL:
        return None
    if not engine.startswith(_PREFIX):
        raise UsageError(f"{option} takes local, or langchain:PROVIDER:MODEL.")
    ask = llm_of(engine)["complete"]
    return lambda prompt: text_of(ask(prompt))


def llm_of(llm: str) -> dict[str, Any]:
    """
    Return the settings of a model that redacts: how it is asked, its name, its window.

    Args:
        llm: `langchain:PROVIDER:MODEL`.
    """
    with require_extra("langchain", "A LangChain model"):
        from langchain_sdrag.effects import completing
        from langchain_sdrag.windows import context_window
    model = chat_model(llm.removeprefix(_PREFIX))
    port = completing(model)
    return {
        "complete": port and port.call,
        "model_id": llm,
        "window": context_window(model),
    }


def chat_model(name: str) -> Any:
    """
    Return a LangChain chat model.

    Args:
        name: PROVIDER:MODEL, as `init_chat_model` takes it.

    Raises:
        UsageError: There is no such model, or no key for it.
    """
    with require_extra("agents", "A model by name"):
        from langchain.chat_models import init_chat_model
    try:
        return init_chat_model(name, temperature=0)
    except Exception as error:  # noqa: BLE001 -- as the provider's package pleases
        raise UsageError(
            f"The model cannot be made ({type(error).__name__}).",
            hint="Name it as PROVIDER:MODEL, install the provider's LangChain package"
            " and set its key.",
        ) from None


def served_model(name: str, base_url: str) -> Any:
    """
    Return a chat model behind a server that speaks OpenAI's protocol.

    Args:
        name: As the server knows it.
        base_url: Of the server; its key, if it wants one, is OPENAI_API_KEY.
    """
    with require_extra("agents", "A model by name"):
        from langchain.chat_models import init_chat_model
    return init_chat_model(
        name,
        model_provider="openai",
        base_url=base_url,
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        temperature=0,
    )


def generator_of(name: str) -> dict[str, Any]:
    """Return the settings of the generator; none for `verbatim`, the default."""
    if name == "verbatim":
        return {}
    from sdrag.evaluation.generation import answer_with

    model = chat_model(name)

    def ask(text: str) -> str:
        return str(model.invoke(text).text)

    def generate(question: str, context: str, constraints: Sequence[str]) -> str:
        return answer_with(ask, question, context, constraints)

    return {"generator": generate}


def judge_of(name: str | None) -> dict[str, Any]:
    """Return the settings of the judge; none for sentences as facts."""
    if name is None:
        return {}
    from sdrag.evaluation.generation import facts_with

    model = chat_model(name)
    return {"facts": lambda text: facts_with(lambda t: str(model.invoke(t).text), text)}
