"""A policy that is in a file, and may change while it is in force."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["PolicyFile"]


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """
    The file that a policy is read from.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=host, policy=PolicyFile("policy.yaml", watch=True)
        )
        ```

    Args:
        path: Of a YAML file.
        watch: Wrappers that have a `reload` look at each request whether the file has
            changed, and then read it again. Whatever else takes a policy reads it once.
    """

    path: str | Path = field(repr=False)
    watch: bool = False

    @classmethod
    def of(cls, source: object) -> PolicyFile | None:
        """Return the file that a policy comes from; None where it comes from none."""
        if isinstance(source, PolicyFile):
            return cls(Path(source.path).absolute(), source.watch)
        if isinstance(source, (str, Path)):
            return cls(Path(source).absolute())
        return None
