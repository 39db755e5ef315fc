"""
Whether a call that failed is made again, and how long is waited before it is.

A provider that is overloaded refuses for now. Such a call waits, each time longer and
never less than the provider asks for, and spends its time and not its attempts. Any
other failure costs an attempt and is tried again at once. tenacity does the waiting.

Clients raise errors of their own for a refusal, with the provider's response on them or
not, and frameworks wrap those. So an error is known by the name of its class or by the
status it carries, and by that of its causes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sdrag.errors import UsageError

if TYPE_CHECKING:
    from tenacity import RetryCallState

_OVERLOADED = frozenset({429, 503, 529})
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 500, 501})
"""llama-cpp-python answers 500 to a reply format that it does not know."""
_REFUSALS = re.compile(
    "(Overloaded|RateLimit|TooManyRequests|ServiceUnavailable)(Error)?"
    "|ResourceExhausted|ThrottlingException"
)
_USED_UP = "insufficient_quota"
"""The code of a 429 that no waiting ends: nothing is left to pay with."""
_TIMEOUT = re.compile(r"\w*Timeout(?:Error|Exception)?")
_HTTP = range(100, 600)
_MAX_CAUSES = 4
_HOST = re.compile(r"[a-z0-9.:_-]{1,253}")
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0


def retry_rules(attempts: int, seconds: float) -> dict[str, Any]:
    """
    Return what tenacity's `Retrying` takes for one call.

    Args:
        attempts: How often the call is made while it fails, in all; refusals for now do
            not count.
        seconds: For how long it may be made and waited for.
    """
    failures = 0

    def stop(state: RetryCallState) -> bool:
        nonlocal failures
        if refusal(_error(state)) is not None:
            return (state.seconds_since_start or 0.0) + state.upcoming_sleep >= seconds
        failures += 1
        return failures >= attempts

    def again(state: RetryCallState) -> bool:
        error = _error(state)
        fails_again = isinstance(error, UsageError) or is_timeout(error)
        return isinstance(error, Exception) and not fails_again

    return {"retry": again, "stop": stop, "wait": _pause, "reraise": True}


def _pause(state: RetryCallState) -> float:
    """Wait longer each time; a random part keeps calls from coming back together."""
    asked = refusal(_error(state))
    if asked is None:
        return 0.0
    wait = min(_FIRST_WAIT * 2.0 ** (state.attempt_number - 1), _LONGEST_WAIT)
    return max(wait, asked) + random.uniform(0.0, wait / 2)  # noqa: S311 -- no secret


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def refusal(error: BaseException | None) -> float | None:
    """Return the seconds that a provider asks to wait, 0 if it does not say how many.

    None where it has not refused for now.
    """
    causes = list(_causes(error))
    used_up = any(_read(cause, "code") == _USED_UP for cause in causes)
    if used_up or not any(map(_is_refusal, causes)):
        return None
    return max(map(_retry_after, causes))


@dataclass(slots=True)
class Abilities:
    """
    What a model is taken to be able to, until it turns out that it is not.

    Args:
        formats: Its server takes reply formats, or tools.
        limits: It says all within a limit of tokens; one that thinks first does not.
    """

    formats: bool = True
    limits: bool = True


def cannot(error: BaseException) -> bool:
    """Say whether a provider has not understood what it was asked to do."""
    return any(_status(cause) in _NOT_UNDERSTOOD for cause in _causes(error))


def is_timeout(error: BaseException | None) -> bool:
    """Say whether a call took its time, by the limit of a client or by our own."""
    return any(
        isinstance(cause, TimeoutError) or _TIMEOUT.fullmatch(type(cause).__name__)
        for cause in _causes(error)
    )


def server_of(error: BaseException) -> str:
    """Return the status that a provider answered with, and its host's name."""
    causes = list(_causes(error))
    statuses = [status for cause in causes if (status := _status(cause)) is not None]
    hosts = [host for cause in causes if (host := _host(cause))]
    kind = str(statuses[0]) if statuses else type(error).__name__
    return "@".join([kind, *hosts[:1]])


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


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_MAX_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__


def _is_refusal(error: BaseException) -> bool:
    names = (kind.__name__ for kind in type(error).__mro__)
    return _status(error) in _OVERLOADED or any(map(_REFUSALS.fullmatch, names))


def _status(error: BaseException) -> int | None:
    statuses = [_read(error, name) for name in ("status_code", "http_status", "code")]
    statuses.append(_read(_read(error, "response"), "status_code"))
    numbers = (int(each) for each in statuses if isinstance(each, int))  # or an enum
    return next((number for number in numbers if number in _HTTP), None)


def _retry_after(error: BaseException) -> float:
    """Return the seconds of the header `retry-after`; zero without one, or a date."""
    headers = _read(_read(error, "response"), "headers")
    try:
        values = {str(name).lower(): str(value) for name, value in headers.items()}
        seconds = float(values["retry-after"])
    except Exception:  # noqa: BLE001 -- headers may be anything
        return 0.0
    return max(seconds, 0.0) if isfinite(seconds) else 0.0


def _read(item: object, name: str) -> Any:
    """Read an attribute of a foreign object, whatever that does."""
    try:
        return getattr(item, name, None)
    except Exception:  # noqa: BLE001 -- it is not ours
        return None
