"""Models by name, for the command line alone: libraries are handed models instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdrag.effects.prompts import Prompt
from sdrag.effects.tokens import text_of
from sdrag.errors import UsageError, require_extra

__all__ = [
    "LOCAL",
    "chat_model",
    "complete_with",
    "llm_of",
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
