"""
What a caller hands in, checked where it is handed in.

What cannot do its work would be found out at the first question, and there a failure
only withholds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from sdrag.errors import UsageError

__all__ = ["check_call", "check_type", "unknown_argument"]

P = ParamSpec("P")
T = TypeVar("T")
_OTHER_NAMES = {
    "chat_model": "llm",
    "embed_model": "embeddings",
    "model": "llm",
    "rules": "policy",
    "vector_store": "base_retriever",
    "vectorstore": "base_retriever",
}
"""What others call an argument of ours."""


def check_call(function: Callable[P, T]) -> Callable[P, T]:
    """
    Make a function, or the `__init__` of a wrapper, say how it is called.

    Raises:
        UsageError: At a call whose arguments are positional, misnamed or missing.
    """
    described = signature(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            described.bind(*args, **kwargs)
        except TypeError:
            name = function.__name__
            if name == "__init__":
                name = type(args[0]).__name__
            raise _wrong_call(name, described.parameters, len(args), kwargs) from None
        return function(*args, **kwargs)

    return checked


def _wrong_call(
    name: str,
    parameters: Mapping[str, Parameter],
    positional: int,
    given: Mapping[str, object],
) -> UsageError:
    values = parameters.values()
    known = [p.name for p in values if p.kind is not p.VAR_KEYWORD and p.name != "self"]
    needed = [one for one in known if parameters[one].default is Parameter.empty]
    if positional > sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in values):
        shown = ", ".join(f"{one}=..." for one in needed or ["policy"])
        return UsageError(
            f"{name} takes arguments by name only.", hint=f"Write {name}({shown})."
        )
    unknown = [one for one in given if one not in known]
    for missing in needed:
        if missing not in given:
            meant = [one for one in unknown if _nearest(one, [missing])]
            hint = f"Did you mean it by `{meant[0]}`?" if meant else ""
            return UsageError(f"{name} needs the argument `{missing}`.", hint=hint)
    return unknown_argument(name, unknown[0], known)


def unknown_argument(name: str, given: str, known: Collection[str]) -> UsageError:
    """
    Return the error of an argument that nobody reads; it names the nearest one.

    Args:
        name: Of the class or function.
        given: The name of the argument.
        known: The names that there are.
    """
    nearest = _nearest(given, known)
    meant = f"Did you mean `{nearest}`? " if nearest else ""
    return UsageError(
        f"{name} takes no argument `{given}`.",
        hint=f"{meant}It takes {', '.join(known)}.",
    )


def _nearest(name: str, known: Collection[str]) -> str | None:
    name = name.lower()
    other = _OTHER_NAMES.get(name)
    parts = [one for one in known if one == other or one in name.split("_")]
    return next(iter(parts or get_close_matches(name, known, n=1)), None)


def check_type(given: object, kind: type[Any], name: str) -> None:
    """
    Refuse what is of another kind.

    Args:
        given: By the caller.
        kind: What it must be: a class, or a protocol that can be checked at runtime.
        name: What errors call it, such as `cache`.

    Raises:
        UsageError: It is of another kind; the error names its type only.
    """
    if not isinstance(given, kind):
        raise UsageError(
            f"A {type(given).__name__} is no {name}.", hint=f"Pass a {kind.__name__}."
        )
