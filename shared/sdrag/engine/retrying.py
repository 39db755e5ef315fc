"""
Whether a call that failed is made again, and what is waited for before it is.

A provider that is asked too much refuses for now. Trying again at once only adds to
that, so such a call waits, each time longer and never less than the provider asks for,
and spends its time and not its attempts. Any other failure costs an attempt and is
tried again at once. Nothing waits that could not be made in its time any more.

Clients raise errors of their own for a refusal, with the response of the provider on
them or not, and frameworks wrap those. So an error is known by the name of its class or
by the status it carries, and by that of its cause.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from sdrag.engine.steps import Failure, Outcome
from sdrag.errors import ModelTimeoutError, UsageError

__all__ = ["Retrying", "cannot", "refusal", "server_of"]

_STATUSES = frozenset({429, 503, 529})
"""Too many requests, unavailable for now, and overloaded."""
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 501})
"""Bad request, unsupported, unprocessable, and not implemented."""
_NAMES = frozenset(
    {
        "OverloadedError",
        "RateLimitError",
        "ResourceExhausted",
        "ServiceUnavailable",
        "ServiceUnavailableError",
        "ThrottlingException",
        "TooManyRequests",
        "TooManyRequestsError",
    }
)
_USED_UP = "insufficient_quota"
"""Comes as a refusal for now, and is none: nothing is left to pay with."""
_DEPTH = 4
_HOST = re.compile(r"[a-z0-9.:_-]{1,253}")
_FIRST = 0.5
_LONGEST = 8.0


@dataclass(slots=True)
class Retrying:
    """
    What is left to one call.

    Args:
        attempts: How often it is made while it fails, in all.
        deadline: Until when it may wait, by `clock`; without one it waits for nothing
            and a refusal is a failure like any other.
        clock: Tells seconds.
        spread: Draws between two numbers, so that calls refused together do not come
            back together.
    """

    attempts: int
    deadline: float | None = None
    clock: Callable[[], float] = monotonic
    spread: Callable[[float, float], float] = random.uniform
    _pause: float = field(default=_FIRST, init=False)

    def pause(self, outcome: Outcome[Any], refused: float | None) -> float | None:
        """
        Return the seconds until the call is made again, or that it is not.

        Args:
            outcome: Of the call as it was made now.
            refused: What `refusal` says of its error.
        """
        if not isinstance(outcome, Failure):
            return None
        if refused is not None and self.deadline is not None:
            return self._waited(refused, self.deadline)
        self.attempts -= 1
        # One that took its time, or was misused, fails again.
        final = isinstance(outcome.error, (ModelTimeoutError, UsageError))
        return None if final or self.attempts <= 0 else 0.0

    def _waited(self, asked: float, deadline: float) -> float | None:
        pause = max(self._pause, asked) + self.spread(0.0, self._pause / 2)
        self._pause = min(2 * self._pause, _LONGEST)
        return pause if self.clock() + pause < deadline else None


def refusal(error: BaseException) -> float | None:
    """
    Return for how long a provider has asked to be left alone.

    Returns:
        Seconds, zero where it did not say; nothing where it has not refused for now.
    """
    causes = list(_causes(error))
    used_up = any(_read(cause, "code") == _USED_UP for cause in causes)
    if used_up or not any(map(_is_refusal, causes)):
        return None
    return max(map(_asked_for, causes))


def cannot(error: BaseException) -> bool:
    """Say whether a provider has not understood what it was asked to do."""
    said = (_status(cause) for cause in _causes(error))
    return any(status in _NOT_UNDERSTOOD for status in said)


def server_of(error: BaseException) -> str:
    """Return the status that a provider answered with, and its host's name."""
    causes = list(_causes(error))
    statuses = [status for cause in causes if (status := _status(cause)) is not None]
    hosts = [host for cause in causes if (host := _host(cause))]
    said = str(statuses[0]) if statuses else type(error).__name__
    return "@".join([said, *hosts[:1]])


def _host(error: BaseException) -> str:
    """Return a host's name; of a URL nothing else, since it may hold credentials."""
    for holder in (error, _read(error, "request"), _read(error, "response")):
        try:
            name = urlsplit(str(_read(holder, "url"))).hostname or ""
        except Exception:  # noqa: BLE001, S112 -- it may be anything
            continue
        if _HOST.fullmatch(name):
            return name
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_DEPTH):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def _is_refusal(error: BaseException) -> bool:
    if not _NAMES.isdisjoint(item.__name__ for item in type(error).__mro__):
        return True
    return _status(error) in _STATUSES


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an error carries."""
    said = (
        _read(error, "status_code"),
        _read(error, "http_status"),
        _read(error, "code"),
        _read(_read(error, "response"), "status_code"),
    )
    return next((item for item in said if isinstance(item, int)), None)


def _asked_for(error: BaseException) -> float:
    """Return the seconds of the header `retry-after`; zero without one."""
    headers = _read(_read(error, "response"), "headers")
    try:
        said = {str(name).lower(): str(value) for name, value in headers.items()}
        seconds = _seconds(said["retry-after"])
    except Exception:  # noqa: BLE001 -- headers may be anything
        return 0.0
    return max(seconds, 0.0) if isfinite(seconds) else 0.0


def _seconds(said: str) -> float:
    """Read a number of seconds, or the date that is waited for."""
    try:
        return float(said)
    except ValueError:
        date = parsedate_to_datetime(said)
    return (date.astimezone(UTC) - datetime.now(UTC)).total_seconds()


def _read(thing: object, name: str) -> Any:
    """Read an attribute of a foreign object, whatever that does."""
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 -- it is not ours
        return None
