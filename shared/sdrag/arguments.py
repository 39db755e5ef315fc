"""
What a caller hands in, checked where it is handed in.

What cannot do its work would be found out at the first question, and there a failure
only withholds.
"""

from __future__ import annotations

from typing import Any

from sdrag.errors import UsageError

__all__ = ["check_type"]


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
