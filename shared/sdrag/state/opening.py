"""
One place for everything that is remembered, and how it is opened.

`open_state` takes a path, the URL of a PostgreSQL database, a state, or nothing: then
the state is in memory and is discarded with it. The key of its fingerprints is in a
file of its own: next to the path, or where the URL says.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sdrag.errors import UsageError
from sdrag.memo import Memo
from sdrag.state import key_file
from sdrag.state.keys import PROCESS_KEYS, Keys

if TYPE_CHECKING:  # SQLAlchemy is imported when a state is opened
    from sdrag.state.bindings import Bindings
    from sdrag.state.database import Database, PostgresUrl
    from sdrag.state.findings import Findings
    from sdrag.state.ledger import Ledger
    from sdrag.state.values import Values

WAIT_SECONDS = 30.0
"""For which a state is waited for that others have locked, unless less is asked for."""

_MEMORY = ":memory:"
_MOST_CUTS = 20_000
_MOST_VECTORS = 4_096
"""Of 384 numbers, they take 6 MB."""


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """
    Everything that is remembered.

    Args:
        keys: What texts, documents, forms and constraints are known by.
        bindings: Which constraints are bound to which passages.
        findings: What was found in texts, and the forms of their documents.
        ledger: What sessions were shown.
        values: What placeholders stand for, for those who may see it.
        database: Where it all is.
        path: The file, the URL without a password, or `:memory:`.
        key_path: The file of the key; None in memory.
        vectors: Of texts, in this process alone: much of a text can be recovered from
            its vector. None is kept unless a wrapper took the state as its own.
        cuts: What was made of findings in this process, by keyed hashes.
    """

    keys: Keys
    bindings: Bindings
    findings: Findings
    ledger: Ledger
    values: Values
    database: Database = field(compare=False)
    path: str = _MEMORY
    key_path: str | None = None
    vectors: Memo[bytes, Any] = field(default_factory=lambda: Memo(0), compare=False)
    cuts: Memo[Any, Any] = field(
        default_factory=lambda: Memo(_MOST_CUTS), compare=False
    )

    @property
    def name(self) -> str:
        """What tells it from any other state, and tells nothing else."""
        return self.keys.of("name").hex()

    @property
    def shared_keys(self) -> Keys:
        """The keys that all have who may ask: of the file, or of this process."""
        return PROCESS_KEYS if self.is_in_memory else self.keys

    @property
    def is_in_memory(self) -> bool:
        """Whether it ends with this process, and no other one sees it."""
        return self.path == _MEMORY

    def remembering(self) -> Self:
        """
        Return the same state with an empty memory of vectors.

        It is for whoever embeds with one model: a wrapper takes a state as its own, and
        shares with other wrappers all but the memory.
        """
        return replace(self, vectors=Memo(_MOST_VECTORS))

    def __repr__(self) -> str:
        if self.is_in_memory:
            return "State(in memory)"
        return f"State(in {'PostgreSQL' if '://' in self.path else 'a file'})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle as the path: every process opens its own connections."""
        if self.is_in_memory:
            raise UsageError(
                "A state in memory cannot be shared with another process.",
                hint="Pass the path of one.",
            )
        wait = self.database.timeout_seconds
        opened = partial(open_state, key=self.key_path, timeout_seconds=wait)
        return opened, (self.path,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


StateSource = State | str | Path | None
"""A state, its path or its URL, or nothing: then it is in memory."""


def open_state(
    where: StateSource = None,
    *,
    key: str | Path | None = None,
    timeout_seconds: float = WAIT_SECONDS,
    create: bool = True,
) -> State:
    """
    Open a state.

    Args:
        where: A path; made when it is missing, readable by its owner only. Or a URL,
            `postgresql://user@host/database?schema=sdrag&key=FILE`. A state is returned
            as it is; without any, a new one is in memory.
        key: The file of the key, which is made with the state and serves no other one.
            By default it is next to the path, or what the URL says.
        timeout_seconds: For which a state is waited for that others have locked.
        create: Whether one that is missing is made.

    Raises:
        UsageError: It is none of these, its folder is missing, the key is not its
            key, it is missing and not made, or it is lost and its key is not.
        HostError: The file is no state, the server is away, or nothing can be written.
        MissingExtraError: The extra `postgres` is not installed.
    """
    if isinstance(where, State):
        return where
    if not timeout_seconds > 0:
        raise UsageError("`timeout_seconds` of a state must be over 0.")
    # SQLAlchemy takes time to import.
    from sdrag.state.database import Database  # noqa: PLC0415

    path = _name(where)
    if path == _MEMORY:
        secret = secrets.token_bytes(key_file.SECRET_BYTES)
        database = Database(_MEMORY)
        database.seal(lambda: b"")
        return _state(database, secret)
    if re.match("postgres(ql)?:/", path):
        url, key_path = _read_url(path, key)
        database = Database(url, timeout_seconds=timeout_seconds)
        path = url.shown
    else:
        key_path = Path(key or f"{path}.key")
        with key_file.file_failures():
            _make_file(Path(path), key_path, create=create)
        database = Database(path, timeout_seconds=timeout_seconds)
    key_path = Path(os.path.realpath(key_path))  # where a rotation puts the next one
    secret = _unsealed(database, key_path, create=create)
    return _state(database, secret, path, str(key_path))


def _name(where: str | Path | None) -> str:
    """Return the path or the URL of a state, as text."""
    if where is None:
        return _MEMORY
    if not isinstance(where, (str, os.PathLike)):
        raise UsageError(
            f"A state must be a path or a State, got {type(where).__name__}.",
            hint="Pass the path of a file, or what `open_state` returned.",
        )
    return str(where)


def _read_url(where: str, key: str | Path | None) -> tuple[PostgresUrl, Path]:
    """Return the URL of a state and the file of its key."""
    from sdrag.state.database import PostgresUrl  # noqa: PLC0415

    if "://" not in where:
        raise UsageError(
            "The URL of the state lost a slash.", hint="Pass it as text, not a Path."
        )
    url = PostgresUrl(where)
    if not (key or url.key):
        raise UsageError(
            "A state in PostgreSQL needs the file of its key, which is never in the"
            " database.",
            hint="Add `key=FILE` to the URL, or pass `key=`.",
        )
    return url, Path(key or url.key or "")


def _make_file(path: Path, key_path: Path, *, create: bool) -> None:
    """
    Make the file of a new state.

    One that is there is left to SQLite alone: closing a file gives up every lock that
    this process has on it, and with them what keeps its other connections sound.
    """
    from sdrag.state.tables import foreign_state, lost_state  # noqa: PLC0415

    if path.is_dir():
        raise UsageError("The state is a folder.", hint="Name a file.")
    if not path.parent.is_dir():
        raise UsageError("The folder of the state is missing.", hint="Make it first.")
    if not path.exists():
        if key_path.exists():
            raise lost_state()
        if not create:
            raise _no_state()
        with suppress(FileExistsError):  # another opening was first
            path.touch(mode=0o600, exist_ok=False)
    elif path.stat().st_size == 1:  # which SQLite would take for an empty file
        raise foreign_state()


def _state(
    database: Database, secret: bytes, path: str = _MEMORY, key_path: str | None = None
) -> State:
    from sdrag.state.bindings import Bindings  # noqa: PLC0415 -- as above
    from sdrag.state.findings import Findings  # noqa: PLC0415
    from sdrag.state.ledger import Ledger  # noqa: PLC0415
    from sdrag.state.values import Values  # noqa: PLC0415

    keys = Keys(secret)
    return State(
        keys=keys,
        bindings=Bindings(database, keys),
        findings=Findings(database, keys),
        ledger=Ledger(database, keys),
        values=Values(database, keys),
        database=database,
        path=path,
        key_path=key_path,
    )


def _no_state() -> UsageError:
    return UsageError("There is no state of that name.", hint="Name one that exists.")


def _unsealed(database: Database, key_path: Path, *, create: bool) -> bytes:
    """Return the key, once it is the database's; a new database gets one."""

    def make() -> bytes:
        if not create:
            raise _no_state()
        secret = secrets.token_bytes(key_file.SECRET_BYTES)
        return key_file.write_waiting(key_path, secret)

    with key_file.file_failures():
        seal = database.seal(None if key_path.exists() else make)
        key_file.settle(key_path, seal)
        if not key_path.exists():
            raise UsageError(
                "The state exists, and the file of its key is missing on this host.",
                hint="Copy the file that the state was made with.",
            )
        secret = key_file.read_key(key_path)
    if seal != Keys(secret).of("seal"):
        raise UsageError(
            "The key of the state is not the one that the state was made with.",
            hint="Put its own key file back (after a rotation, the new one), or begin"
            " with a new state.",
        )
    database.expect(seal)
    return secret
