"""
Reading a model's reply as JSON of a known shape.

The reply may be in a code fence or in prose. Its first JSON object is taken. A reply
that cannot be read raises an error that quotes nothing.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sdrag.effects.prompts import Labelled
from sdrag.effects.replies import read_json
from sdrag.errors import ModelReplyError

__all__ = ["MAX_REPLY", "read_reply"]

MAX_REPLY = 200_000
M = TypeVar("M", bound=BaseModel)


def read_reply(reply: Labelled, shape: type[M]) -> M:
    """
    Read a reply.

    Args:
        reply: The model's words.
        shape: What they should hold.

    Raises:
        ModelReplyError: They do not.
    """
    value = _first_object(reply.text[:MAX_REPLY])
    try:
        return shape.model_validate(value)
    except ValidationError:
        raise ModelReplyError(
            f"A reply of {len(reply.text)} characters has not the shape of "
            f"{shape.__name__}."
        ) from None


def _first_object(text: str) -> object:
    """Return the first JSON object of a text, in a list or by itself."""
    for value in read_json(text):
        listed = value if isinstance(value, list) else [value]
        for item in listed:
            if isinstance(item, dict):
                return item
    return None
