"""
Reading a model's reply as JSON of a known shape.

A reply may stand in a code fence or in prose. The first JSON object in it is taken.
What cannot be read is an error that quotes nothing.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sdrag.engine.prompts import Labelled
from sdrag.errors import ModelReplyError

__all__ = ["MAX_REPLY", "read_reply"]

MAX_REPLY = 200_000
_MAX_OPENINGS = 50
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


def _first_object(text: str) -> Any:
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MAX_OPENINGS):
        if start < 0:
            break
        try:
            return decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
    return None
