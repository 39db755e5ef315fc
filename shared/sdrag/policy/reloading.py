"""
A policy that changes while it is in force: whole, or not at all.

What a wrapper makes of its policy is one object that never changes. A request takes it
once, at its start, and uses nothing else, so its answer is wholly under one policy. A
changed file is read, and all is made of it, before one assignment puts it in force. A
file that cannot be read, or whose policy is refused, changes nothing: the wrapper warns
of it once a change, and goes on under the policy it has.

A file that is watched costs one `os.stat` a request. While one thread reads what has
changed, requests that begin wait for it: none of them is under the old policy.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from sdrag.errors import InternalError, PolicyError, SdragError, UsageError
from sdrag.policy.document import Policy
from sdrag.policy.file import PolicyFile

__all__ = ["Made", "ReloadingPolicy"]

_TRIES = 3

_Stamp = tuple[int, ...] | None
"""What changes with a file; none where there is none."""
_UNREAD: _Stamp = ()


class Made(Protocol):
    """What a wrapper makes of a policy."""

    @property
    def policy(self) -> Policy:
        """What it was made of."""
        ...

    def warn(self, error: SdragError) -> None:
        """Warn that it stays in force, since its changed file is not taken."""
        ...


M = TypeVar("M", bound=Made)
Make = Callable[[Policy, M], M]
"""Makes anew, of a policy and what was made of the last one."""


@dataclass(frozen=True, slots=True)
class _Held(Generic[M]):
    """
    What is in force, and what was seen of the file last.

    Args:
        made: What is in force.
        stamp: Of the file, when it was looked at.
        fault: Why it was not taken then.
    """

    made: M
    stamp: _Stamp = _UNREAD
    fault: str = ""


class ReloadingPolicy(Generic[M]):
    """
    What a wrapper has made of its policy; several threads may share it.

    Args:
        made: What is in force.
        file: That the policy comes from; without one it never changes.
    """

    __slots__ = ("_file", "_held", "_lock")

    def __init__(self, made: M, file: PolicyFile | None = None) -> None:
        self._held = _Held(made)
        self._file = file
        self._lock = Lock()

    @property
    def made(self) -> M:
        """What is in force, without looking at the file."""
        return self._held.made

    @property
    def file(self) -> PolicyFile | None:
        """That the policy comes from."""
        return self._file

    def current(self, make: Make[M]) -> M:
        """Return what is in force for a request that begins now."""
        if self._changed() is not None:
            with self._lock:
                if (file := self._changed()) is not None:
                    self._look(file, make)
        return self._held.made

    async def acurrent(self, make: Make[M]) -> M:
        """Return it without blocking the event loop."""
        if self._changed() is not None:
            return await to_thread(self.current, make)
        return self._held.made

    def reload(self, make: Make[M]) -> bool:
        """
        Read the file again; say whether its policy is in force now.

        Raises:
            UsageError: The policy comes from no file.
        """
        if self._file is None:
            raise UsageError(
                "This policy was not read from a file.",
                hint="Give the wrapper the path of one, or a `PolicyFile`.",
            )
        with self._lock:
            return self._look(self._file, make)

    def _changed(self) -> PolicyFile | None:
        """Return the file if it is watched, and is not as it was seen last."""
        file = self._file
        if file is None or not file.watch or _stamp_of(file) == self._held.stamp:
            return None
        return file

    def _look(self, file: PolicyFile, make: Make[M]) -> bool:
        """Take what the file says, or warn; the lock is held."""
        last = self._held
        for _ in range(_TRIES):
            stamp = _stamp_of(file)
            found = _found(file, last.made, make)
            if _stamp_of(file) == stamp:
                break
        else:
            stamp, found = _UNREAD, _being_written()
        if not isinstance(found, SdragError):
            self._held = _Held(found, stamp)
            return True
        fault = type(found).__name__
        self._held = _Held(last.made, stamp, fault)
        if (stamp, fault) != (last.stamp, last.fault):
            last.made.warn(found)
        return False

    def __deepcopy__(self, memo: dict[int, Any]) -> ReloadingPolicy[M]:
        """Copy what is in force; the copy looks at the file for itself."""
        return ReloadingPolicy(deepcopy(self._held.made, memo), self._file)


def _stamp_of(file: PolicyFile) -> _Stamp:
    try:
        seen = Path(file.path).stat()
    except (OSError, ValueError):
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino


def _found(file: PolicyFile, last: M, make: Make[M]) -> M | SdragError:
    """Make what the file says, or return why not; `last`, where it says the same."""
    try:
        policy = Policy.read(file)
        return last if policy.hash == last.policy.hash else make(policy, last)
    except SdragError as error:
        return error.sealed()
    except Exception as error:  # noqa: BLE001 -- a request goes on whatever it is
        return InternalError(f"Reading the policy failed with {type(error).__name__}.")


def _being_written() -> PolicyError:
    return PolicyError(
        "The policy file is being written.",
        hint="Write another file and rename it, so that nobody reads half of it.",
    )
