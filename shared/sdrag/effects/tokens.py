"""
What one request asks of its model: calls, round trips, and tokens in and out.

Every call counts when it is made, also one that fails and is made again, and one that
nobody waits for any more. Tokens are those the provider reports, or else estimated from
the characters. A call that was refused for now took no tokens: nobody read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain, repeat
from threading import Lock
from time import perf_counter

from sdrag.effects.retrying import refusal
from sdrag.vocabulary import Confidential

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English; the budget bounds a prompt, it does not fill it."""


@dataclass(frozen=True, slots=True, repr=False)
class Completion(Confidential):
    """
    A reply.

    Args:
        tokens_in: How many tokens were read; None or 0 where no number is given.
        tokens_out: How many were written, likewise.
        is_cut_off: It ended at a limit of tokens.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    is_cut_off: bool = False

    def __post_init__(self) -> None:
        """Leave out counts that are none, whatever a provider makes of them."""
        for name in ("tokens_in", "tokens_out"):
            count = getattr(self, name)
            if not isinstance(count, int) or count <= 0:
                object.__setattr__(self, name, None)


def is_cut_off(read: Callable[[str], object]) -> bool:
    """Say whether what a provider tells of a reply says that it ended at a limit."""
    reasons = ("finish_reason", "stop_reason", "done_reason")
    return any(read(name) in ("length", "max_tokens", "MAX_TOKENS") for name in reasons)


def estimate_tokens(texts: Iterable[str]) -> int:
    """Estimate how many tokens texts are, together."""
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def text_of(reply: Completion | str) -> str:
    """Return the text of a reply, with its cost or without."""
    return reply.text if isinstance(reply, Completion) else reply


_count_request: ContextVar[Callable[[], None]] = ContextVar(
    "count_request", default=lambda: None
)


def count_request() -> None:
    """Count a request of the call that is being made; it may send its prompt again."""
    _count_request.get()()


@dataclass(slots=True)
class Meter:
    """
    Counts of one request, over all of its threads.

    Args:
        calls: How many prompts were sent; one that was sent again counts again.
        round_trips: How often it was waited for: prompts sent together are one.
        failures: Which server of the model failed, and how.
        seconds: For which models and the host were waited for.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    round_trips: int = 0
    failures: set[str] = field(default_factory=set)
    seconds: float = 0.0
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count how long the block takes."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds += perf_counter() - start

    @contextmanager
    def call(
        self, texts: Iterable[str]
    ) -> Iterator[Callable[[Completion | str], Completion | str]]:
        """Count a call with these texts; yields what counts its reply."""
        sent = estimate_tokens(texts)
        self._add(calls=1, tokens_in=sent)
        repeated = chain((0,), repeat(1))  # the first one is counted

        def count(reply: Completion | str) -> Completion | str:
            cost = reply if isinstance(reply, Completion) else Completion(reply)
            if isinstance(cost.text, str):  # else it is no reply, and read as a failure
                read, written = cost.tokens_in, cost.tokens_out
                self._add(
                    tokens_in=0 if read is None else read - sent,
                    tokens_out=estimate_tokens((cost.text,))
                    if written is None
                    else written,
                )
            return reply

        outer = _count_request.set(lambda: self._add(calls=next(repeated)))
        try:
            yield count
        except Exception as error:
            if refusal(error) is not None:
                self._add(tokens_in=-sent)
            raise
        finally:
            _count_request.reset(outer)

    def _add(self, *, calls: int = 0, tokens_in: int = 0, tokens_out: int = 0) -> None:
        with self._lock:
            self.calls += calls
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out
