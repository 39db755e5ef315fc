"""
The bodies of requests, within limits.

A body that says it is too large is refused before a byte of it is read; one that does
not say so, when it becomes too large. What is no UTF-8 is refused with a sentence.
"""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from sdrag.workbench.limits import MAX_JSON_BYTES
from sdrag.workbench.refusals import RefusedError

__all__ = ["body_of", "read_json"]

M = TypeVar("M", bound=BaseModel)


async def body_of(request: Request, most: int) -> bytes:
    """
    Return the body of a request.

    Args:
        request: Whose.
        most: Bytes.

    Raises:
        RefusedError: It is longer, or cut off.
    """
    too_large = RefusedError(413, f"More than {most:,} bytes are not taken.")
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > most:
        raise too_large
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > most:
                raise too_large
    except ClientDisconnect:
        raise RefusedError(400, "The request was cut off.") from None
    return bytes(data)


async def read_json(request: Request, model: type[M]) -> M:
    """
    Return what a request of JSON says.

    Args:
        request: Whose.
        model: Of its shape.

    Raises:
        RefusedError: It is too large, no JSON, or of another shape.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "Send JSON.")
    data = await body_of(request, MAX_JSON_BYTES)
    try:
        value = json.loads(data.decode("utf-8"))
        # A lone surrogate can be written in JSON, and is no text that could be stored.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise RefusedError(400, "The request is not UTF-8.") from None
    except (ValueError, RecursionError):
        raise RefusedError(400, "The request is no JSON.") from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if isinstance(part, int))
        field = str(first["loc"][0]) if first["loc"] else ""
        known = field if field in model.model_fields else "the request"
        said = f"{known}{f' (entry {place})' if place else ''} is not as it must be."
        raise RefusedError(422, said) from None
