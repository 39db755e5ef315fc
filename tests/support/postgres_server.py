"""
A PostgreSQL server of the tests' own, on a folder and a socket that go with it.

It does not run as root: then it is the user `postgres`, whom its package brings.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
_SETTINGS = ("fsync=off", "log_statement=all", "log_parameter_max_length=0")


def missing() -> str:
    """Say what keeps a server from running here."""
    if not _binaries():
        return "PostgreSQL is not installed"
    if os.geteuid() == 0 and not (shutil.which("runuser") and _has_user()):
        return "root cannot run PostgreSQL, and there is no user `postgres`"
    return ""


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """Serve until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    server = Server(folder)
    try:
        server.initialize()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A server, which may be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def initialize(self) -> None:
        """Make its databases."""
        encoding = ("-E", "UTF8", "--locale=C")
        self._run(
            "initdb", "-D", self._data, "-U", "tester", "-A", "trust", "-N", *encoding
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-k {self._folder} -h '' " + " ".join(f"-c {o}" for o in _SETTINGS)
        self._run("pg_ctl", "-D", self._data, "-o", options, "-w", *self._log, "start")

    def stop(self) -> None:
        """Stop it at once."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def url(self, schema: str, key: Path | str) -> str:
        """Return the URL of a state."""
        return f"{self.bare}&schema={schema}&key={quote(str(key))}"

    @property
    def bare(self) -> str:
        """The URL of the database."""
        return f"postgresql://tester@/postgres?host={quote(str(self._folder))}"

    def logged(self) -> str:
        """Return what it has logged."""
        return (self._folder / "log").read_text(errors="replace")

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    @property
    def _log(self) -> tuple[str, str]:
        return "-l", str(self._folder / "log")

    def _run(self, program: str, *given: str) -> None:
        command = [str(_binaries() / program), *given]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(
            command,
            check=False,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")


def _binaries() -> Path | None:
    found = [one for pattern in _FOLDERS for one in Path("/").glob(pattern[1:])]
    return max(found, default=None)


def _has_user() -> bool:
    import pwd  # noqa: PLC0415 -- not on every system

    with contextlib.suppress(KeyError):
        pwd.getpwnam("postgres")
        return True
    return False
