"""
What a wrapper passes on of the retriever that it stands for.

A host calls more on its retriever than the question: it adds documents, deletes them
and reads settings. Those are passed on by name. Everything else is refused, since a
method that retrieves, or a store that can be asked, would hand out unredacted text. So
a method is passed on where its name says that it writes, and a value where it is plain
data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

__all__ = ["passed_on"]

_WRITES = (
    "add",
    "delete",
    "insert",
    "persist",
    "refresh",
    "remove",
    "update",
    "upsert",
)
_WRITING = tuple(
    f"{way}{verb}{end}" for way in ("", "a") for verb in _WRITES for end in ("_", "")
)
_PLAIN = (str, int, float, bool, type(None), list, tuple, dict, set, frozenset)


def passed_on(wrapper: object, host: object, name: str) -> Any:
    """
    Return an attribute of the host's retriever, for whoever asks its wrapper.

    Args:
        wrapper: That was asked; errors name its class.
        host: The retriever of the host's.
        name: Of the attribute.

    Raises:
        AttributeError: There is none, or it is not passed on.
    """
    kind = type(wrapper).__name__
    if name.startswith("_") or not hasattr(host, name):
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
    found = getattr(host, name)
    if callable(found) and _writes(name):
        return _bare(found)
    if _is_plain(found):
        return found
    raise AttributeError(
        f"A {kind} does not pass {name!r} on: it could hand out unredacted text. Keep"
        " the retriever that you wrapped, and ask that one."
    )


def _writes(name: str) -> bool:
    """Say whether the first word of a name is one for writing."""
    return any(
        name.startswith(verb) if verb.endswith("_") else name == verb
        for verb in _WRITING
    )


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _bare(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method, so that the object behind it is not handed out with it."""
    if iscoroutinefunction(method):

        @wraps(method)
        async def acall(*args: Any, **kwargs: Any) -> Any:
            return await method(*args, **kwargs)

        del acall.__wrapped__
        return acall

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    del call.__wrapped__
    return call
