"""
Every error sdrag raises, and whose fault it is.

    SdragError
    ├── PolicyError              the author of the policy
    │   └── ConstraintNotUnderstoodError   ... or whoever gave no model to understand it
    ├── UsageError               the developer of the host application
    │   ├── MissingExtraError    ... who has not installed an extra (an ImportError)
    │   ├── InputTooLargeError   ... who passed more than a limit allows
    │   └── PromptSanitizationError   ... whose plug-in built a prompt that must not be
    ├── HostError                your retriever, store, embeddings or authorizer
    │   └── KeyRotatedError      ... or whoever rotated the key of a state that was open
    ├── ModelError               the model or its provider
    │   ├── ModelTimeoutError    ... which did not answer in time
    │   └── ModelReplyError      ... which answered what cannot be read
    ├── LocalLimitError          nobody: a text was over a limit of local work
    ├── WithheldError            nobody: disclosure control did what it is for
    └── InternalError            ours: please report it

An error carries ids, lengths and a hint. It never carries the text that was being
worked on, nor the message of an error below it, since those quote their input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Self, TypeVar

E = TypeVar("E", bound=BaseException)
_OURS = frozenset({"langchain_sdrag", "llamaindex_sdrag", "sdrag"})


def cut_off(error: E) -> E:
    """
    Cut off the error below, the notes, and the frames it passed, which hold text.

    Python hangs all three on an error, `from None` or not, and tools that collect
    errors read them.
    """
    error.__context__ = error.__cause__ = None
    error.__dict__.pop("__notes__", None)
    return error.with_traceback(None)


class SdragError(Exception):
    """
    The root of the tree.

    Args:
        message: What happened, without content.
        hint: What to do about it.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint

    @property
    def code(self) -> str:
        """The reason of a decision that it led to, such as `failed-host`."""
        return f"failed-{type(self).__name__.removesuffix('Error').lower()}"

    def sealed(self) -> Self:
        """Cut off what hangs on the error, for it holds text; see `cut_off`."""
        return cut_off(self)


class PolicyError(SdragError):
    """
    The policy cannot be read or does not mean anything.

    Args:
        message: What is wrong.
        line: The line of the file, counted from 1, where it is known.
        key: The dotted key, such as `disclosure.bind_top_n`.
        hint: What to write instead.
        others: What else is wrong, one error each.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        key: str = "",
        hint: str = "",
        others: Sequence[PolicyError] = (),
    ) -> None:
        place = ", ".join(
            part
            for part in (f"line {line}" if line else "", f"key {key!r}" if key else "")
            if part
        )
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.line = line
        self.key = key
        self.others = tuple(others)

    @property
    def problems(self) -> tuple[PolicyError, ...]:
        """This error and all that was found with it, in the order of the file."""
        return (self, *self.others)

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} {len(self.problems)} problems in all." if self.others else text


class ConstraintNotUnderstoodError(PolicyError):
    """
    Constraints need a model to be understood, and none was given.

    Args:
        reasons: Why each is not understood, by its id, in a sentence that quotes
            nothing.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        listed = " ".join(f"{name}: {reason}" for name, reason in reasons.items())
        super().__init__(
            f"Constraints are not understood without a model. {listed}",
            key="constraints",
            hint="Pass a model (`llm=`), reword them, or say `when_not_understood:"
            " withhold` to withhold every passage for which they hold.",
        )
        self.reasons = MappingProxyType(dict(reasons))


class UsageError(SdragError):
    """sdrag was called in a way that cannot work."""


class MissingExtraError(UsageError, ImportError):
    """
    A feature needs packages that are not installed.

    Args:
        feature: What was asked for.
        extra: The extra of the distribution that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed.",
            hint=f'Run: pip install "sdrag[{extra}]"',
        )
        self.extra = extra


class InputTooLargeError(UsageError):
    """An input is over a limit that keeps time and memory bounded."""


class PromptSanitizationError(UsageError):
    """A prompt mixes what must never be in one prompt; no model was called."""


class HostError(SdragError):
    """
    Something that the application passed has failed.

    The original error is not chained: its message may quote what was retrieved.
    """


class KeyRotatedError(HostError):
    """The key of a state was rotated while it was open; nothing was read or written."""

    def __init__(self) -> None:
        super().__init__(
            "The key of the state was rotated while the state was open.",
            hint="Copy the new key to this host, and start the application again.",
        )


class ModelError(SdragError):
    """
    The model or its provider failed.

    Args:
        message: What happened, without content.
        hint: What to do about it.
        server: The status and the host's name, such as `503@api.example.com`; nothing
            else of the URL, which may hold credentials.
    """

    def __init__(self, message: str, *, hint: str = "", server: str = "") -> None:
        super().__init__(message, hint=hint)
        self.server = server


class ModelTimeoutError(ModelError):
    """The model did not answer within its time limit."""


class ModelReplyError(ModelError):
    """The model answered, and the answer cannot be read."""


class LocalLimitError(SdragError):
    """Local work on a text was not done: it is over a limit of one request."""


class WithheldError(SdragError):
    """Something was withheld, and the host asked for an error."""


class InternalError(SdragError):
    """A promise of sdrag's own was about to be broken; the work was stopped."""


@contextmanager
def require_extra(extra: str, feature: str) -> Iterator[None]:
    """
    Turn an ImportError inside the block into the command that mends it.

    Raises:
        MissingExtraError: A package of the extra is missing.
        ImportError: What cannot be imported is ours: no extra brings that.
    """
    try:
        yield
    except MissingExtraError:
        raise  # the one inside knows better which extra it is
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _OURS:
            raise
        raise MissingExtraError(feature, extra) from error


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


def check_listed(given: object, name: str) -> None:
    """
    Refuse what is no list of things, a text least of all.

    Raises:
        UsageError: It is none; the error names its type only.
    """
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise UsageError(
            f"A {type(given).__name__} is no list of {name}.", hint="Pass a list."
        )


def check_fields(id_: object, text: object, metadata: object) -> None:
    """
    Refuse a document whose fields are of another type than its framework says.

    Raises:
        HostError: One is; the error names its type only.
    """
    fields = (
        ("id", id_ or "", str),
        ("text", text, str),
        ("metadata", metadata, Mapping),
    )
    for name, value, kind in fields:
        if not isinstance(value, kind):
            raise HostError(
                f"The {name} of a document is a {type(value).__name__}.",
                hint="Give it the type that the framework says.",
            )
