"""
One place for everything that is remembered, and how it is opened.

`open_state` takes a path, the URL of a PostgreSQL database, a state, or nothing: then
the state is in memory and goes with the wrapper. The key of its fingerprints is in a
file of its own: next to the path, or where the URL says.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sdrag.embeddings import Vectors
from sdrag.errors import UsageError
from sdrag.state.keys import PROCESS_KEYS, Keys
from sdrag.state.memo import Memo

if TYPE_CHECKING:  # SQLAlchemy is imported when a state is opened
    from sdrag.state.bindings import Bindings
    from sdrag.state.database import Database
    from sdrag.state.findings import Findings

__all__ = ["State", "StateSource", "open_state"]

_MEMORY = ":memory:"
_SECRET_BYTES = 32
_PLACE_BYTES = 16
_MOST_CUTS = 20_000


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """
    Everything that is remembered.

    Args:
        keys: What texts, documents, forms and constraints are known by.
        bindings: Which constraints are bound to which passages.
        findings: What was found in texts, and the forms of their documents.
        database: Where it all is.
        path: The file, the URL without a password, or `:memory:`.
        key_path: The file of the key; None in memory.
        vectors: In memory alone, and none unless a wrapper took the state as its own.
        cuts: What was made of findings in this process, by keyed hashes.
    """

    keys: Keys
    bindings: Bindings
    findings: Findings
    database: Database = field(compare=False)
    path: str = _MEMORY
    key_path: str | None = None
    vectors: Vectors = field(default_factory=lambda: Vectors(0), compare=False)
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
        return replace(self, vectors=Vectors())

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
        return _opened_again, (self.path, self.key_path)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


StateSource = State | str | Path | None
"""A state, its path or its URL, or nothing: then it is in memory."""


def open_state(where: StateSource = None, *, key: str | Path | None = None) -> State:
    """
    Open a state.

    Args:
        where: A path; made when it is missing, readable by its owner only. Or a URL,
            `postgresql://user@host/database?schema=sdrag&key=FILE`. A state is returned
            as it is; without any, a new one is in memory.
        key: The file of the key; made when it is missing and the state is new. By
            default it is next to the path, or what the URL says.

    Raises:
        UsageError: It is none of these, its folder is missing, the key is not its
            key, or the state is lost and its key is not.
        HostError: The file is no state, the server is away, or nothing can be written.
        MissingExtraError: The extra `postgres` is not installed.
    """
    if isinstance(where, State):
        return where
    if where is not None and not isinstance(where, (str, os.PathLike)):
        raise UsageError(
            f"A state must be a path or a State, got {type(where).__name__}.",
            hint="Pass the path of a file, or what `open_state` returned.",
        )
    from sdrag.state.database import (  # noqa: PLC0415 -- SQLAlchemy takes time
        MEMORY,
        Database,
        PostgresUrl,
        is_postgres,
    )

    path = MEMORY if where is None else str(where)
    if path == MEMORY:
        return _state(Database(MEMORY), secrets.token_bytes(_SECRET_BYTES))
    # A key next to a file is of that file alone; another one may serve several states.
    if is_postgres(path):
        url = PostgresUrl(path)
        key_path = _named(key or url.key)
        known = _knows(key_path, url.place)
        database = Database(url, may_make=not known)
        path, place = url.shown, url.place
    else:
        key_path = Path(key or f"{path}.key")
        _check_place(Path(path))
        place = _whole(Path(path))
        if _whole(key_path) == f"{place}.key":
            place = ""
        known = _knows(key_path, place)
        database = Database(path, may_make=not known)
    secret = _sealed(database, key_path, known=known)
    _note(key_path, place)
    return _state(database, secret, path, str(key_path))


def _named(key: str | Path | None) -> Path:
    if not key:
        raise UsageError(
            "A state in PostgreSQL needs the file of its key, which is never in the"
            " database.",
            hint="Add `key=FILE` to the URL, or pass `key=`.",
        )
    return Path(key)


def _whole(path: Path) -> str:
    return str(path.parent.resolve() / path.name)


def _opened_again(path: str, key: str | None) -> State:
    return open_state(path, key=key)


def _state(
    database: Database, secret: bytes, path: str = _MEMORY, key_path: str | None = None
) -> State:
    from sdrag.state.bindings import Bindings  # noqa: PLC0415 -- as above
    from sdrag.state.findings import Findings  # noqa: PLC0415

    keys = Keys(secret)
    return State(
        keys=keys,
        bindings=Bindings(database, keys),
        findings=Findings(database, keys),
        database=database,
        path=path,
        key_path=key_path,
    )


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise UsageError("The state is a folder.", hint="Name a file.")
    if not path.parent.is_dir():
        raise UsageError("The folder of the state is missing.", hint="Make it first.")


def _sealed(database: Database, key_path: Path, *, known: bool) -> bytes:
    """
    Return the key, once it is the database's; a new database gets one.

    Whoever makes a state makes its key and its seal in one transaction, so nobody else
    sees a key without a seal.
    """
    from sdrag.state.database import lost_state  # noqa: PLC0415 -- as above

    if database.seal() is None:

        def make() -> bytes:
            if known:
                raise lost_state()
            return Keys(_made_key(key_path)).of("seal")

        database.seal(make)
    if not key_path.exists():
        raise UsageError(
            "The state exists, and the file of its key is missing on this host.",
            hint="Copy the file that the state was made with.",
        )
    secret, _ = _read_key(key_path)
    if database.seal() != Keys(secret).of("seal"):
        raise UsageError(
            "The key of the state is not the one that the state was made with.",
            hint="Put its own key file back, or begin with a new state.",
        )
    return secret


def _made_key(path: Path) -> bytes:
    """Make the key where there is none: a link appears whole or not at all."""
    if not path.exists():
        own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        handle = os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_SECRET_BYTES))
        with suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
    return _read_key(path)[0]


def _read_key(path: Path) -> tuple[bytes, bytes]:
    """Return the key, and what it knows: keyed hashes of where its states are."""
    data = path.read_bytes()
    secret, known = data[:_SECRET_BYTES], data[_SECRET_BYTES:]
    if len(secret) != _SECRET_BYTES or len(known) % _PLACE_BYTES:
        raise UsageError("The state's key file is not one of sdrag's.")
    return secret, known


def _knows(key_path: Path, place: str) -> bool:
    """Say whether a key has served a state; without a place, it can be but one."""
    if not key_path.exists():
        return False
    secret, known = _read_key(key_path)
    marks = range(0, len(known), _PLACE_BYTES)
    mark = _place_mark(secret, place)
    return not place or mark in (known[n : n + _PLACE_BYTES] for n in marks)


def _note(key_path: Path, place: str) -> None:
    """Have a key know a state, as far as its file can be written."""
    if place and not _knows(key_path, place):
        with suppress(OSError), key_path.open("ab") as file:
            file.write(_place_mark(_read_key(key_path)[0], place))


def _place_mark(secret: bytes, place: str) -> bytes:
    return Keys(secret).of("place", place, size=_PLACE_BYTES)
