"""A key is rotated at once, or not at all, and nothing that was found is lost."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from sdrag.effects.steps import run
from sdrag.errors import HostError, KeyRotatedError, SdragError, UsageError
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.state.keys import Keys
from sdrag.state.rotation import rotate
from sdrag.state.tables import binding, chunk, finding, form, shown, tables
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted

POLICY = {
    "constraints": ["Remove the names of witnesses", "Hide how the door was opened"],
    "session": {},
}
CHUNKS = [
    Passage(f"{name}-{index}", text, document_id=name)
    for name in ("Karlsson", "Okafor")
    for index, text in enumerate(
        (f"The witness Jonathan {name} saw it.", f"{name} was late. He paid $5.")
    )
]
CLINIC = Passage("c", "He was at Riverside Clinic on 4 May 2021.", document_id="c")
RUNNER = Scripted()
ROUNDS = Keys(b"k" * 64)


@pytest.fixture(params=["file", "postgres"])
def where(request, tmp_path):
    """A state that holds rows of every table but values."""
    place = tmp_path / "state.db"
    if request.param == "postgres":
        place = request.getfixturevalue("postgres_url")
    engine = Engine(POLICY, state=open_state(place))
    run(bind(CHUNKS, engine), RUNNER)
    ask(place, [CLINIC])
    return place


def ask(where, passages=CHUNKS):
    """Return what is released, in one session."""
    engine = Engine(POLICY, state=open_state(where))
    request = Request("Who?", session_id="s")
    released, _ = engine.run(disclose(passages, request, engine))
    return [passage.text for passage in released.passages]


def count(state, table):
    with state.database.reading() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table))


def counts(where):
    state = open_state(where)
    return {table.name: count(state, table) for table in tables.tables.values()}


def is_text(column):
    return isinstance(column, str)


def hashes(where):
    """Return the hashes in the rows of a state, and those of forms and facts."""
    with open_state(where).database.reading() as connection:
        rows = [
            column
            for table in (chunk, binding, finding, form, shown)
            for row in connection.execute(sa.select(table))
            for column in row
        ]
    written = re.findall("[0-9a-f]{16}", " ".join(filter(is_text, rows)))
    return {one for one in rows if isinstance(one, bytes) and one} | {*written}


@pytest.mark.parametrize("size", [2, 8, 12, 16, 32])
def test_what_is_encrypted_is_decrypted(size):
    """Equal hashes stay equal, and another second half makes others of them."""
    each = [bytes([n]) * size for n in range(50)]
    covered = [ROUNDS.cover(one) for one in each]

    assert [ROUNDS.uncover(one) for one in covered] == each
    assert len({*covered, *each}) == 100
    other = Keys(b"k" * 32 + b"j" * 32)  # of two bytes few are alike by chance
    assert not {*covered} & {other.cover(one) for one in each}


def test_all_stays_found_under_another_key(where):
    """Nothing is read again, nobody is shown more, and no hash is as it was."""
    before, rows, old = ask(where), counts(where), hashes(where)
    key = Path(open_state(where).key_path)
    old_key, name = key.read_bytes(), open_state(where).name
    for _ in range(2):
        rotated = rotate(open_state(where))
        assert rotated == {t: rows[t] for t in rotated if t != "values"} | {"values": 0}

    assert ask(where) == before
    assert counts(where) == rows
    assert not old & hashes(where) - {b"quoted"}
    for file in key.parent.glob("state.db*"):  # nor in what SQLite left over
        left = file.read_bytes()
        binary = [one for one in old if isinstance(one, bytes) and len(one) > 6]
        assert not [one for one in binary if one in left]
    assert open_state(where).name != name
    key.write_bytes(old_key)
    with pytest.raises(UsageError, match="rotation"):
        open_state(where)


def test_who_has_it_open_is_refused(where):
    """Neither reads nor writes: not a question, not a binder, not a rotation."""
    state = open_state(where)
    engine = Engine(POLICY, state=state)
    other = open_state(where)
    rotate(open_state(where))
    rows = counts(where)

    released, event = engine.run(disclose(CHUNKS, Request("q"), engine))
    assert not released.passages
    assert {one.reason for one in event.decisions} == {"failed-keyrotated"}
    for work in (
        lambda: run(bind(CHUNKS, engine), RUNNER),
        lambda: rotate(other),
        lambda: state.findings.forget([b"d" * 8]),
    ):
        with pytest.raises(KeyRotatedError):
            work()
    assert counts(where) == rows


FILE_STEPS = ("os.open", "os.fsync", "os.replace", "os.unlink")


def _rotate_until(where, step, number):
    """Rotate, and be killed at a statement or a step with files."""
    state, seen = open_state(where), SimpleNamespace(steps=0)

    def reach(*_):
        seen.steps += 1
        if seen.steps == number:
            os.kill(os.getpid(), signal.SIGKILL)

    if step == "statement":
        for name in ("before_cursor_execute", "commit"):
            sa.event.listen(state.database._engine, name, reach)
        rotate(state)
    else:
        original = getattr(os, step.removeprefix("os."))

        def counted(*args, **kwargs):
            reach()
            return original(*args, **kwargs)

        with patch(step, counted):
            rotate(state)
    os._exit(7)


def _opens(where, secret, key):
    """Say whether a state opens under a key, and under no key that waits beside it."""
    key.write_bytes(secret)
    place = f"{where.rpartition('&')[0]}&key={key}" if "://" in str(where) else where
    try:
        return open_state(place, key=key).name
    except SdragError:
        return None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.parametrize("step", ["statement", *FILE_STEPS])
def test_it_may_be_killed_anywhere(step, where, tmp_path):
    """It opens under one of two keys, with all that was found, and is rotated again."""
    expected, rows = ask(where), counts(where)
    key, number, codes = Path(open_state(where).key_path), 0, []
    stride = 3 if "://" in str(where) else 1
    while not codes or codes[-1] == -signal.SIGKILL:
        number += stride if step == "statement" else 1
        old = key.read_bytes()
        args = (where, step, number)
        worker = get_context("fork").Process(target=_rotate_until, args=args)
        worker.start()
        worker.join(60)
        codes.append(worker.exitcode)

        known = {file.read_bytes() for file in tmp_path.glob(f"{key.name}*")} | {old}
        (tmp_path / "apart").mkdir(exist_ok=True)
        apart = tmp_path / "apart" / "key"
        assert len([one for one in known if _opens(where, one, apart)]) == 1
        shutil.rmtree(tmp_path / "apart")
        assert ask(where) == expected
        assert counts(where) == rows
    assert codes[-1] == 7
    rotate(open_state(where))
    assert [file.name for file in tmp_path.glob(f"{key.name}*")] == [key.name]


@pytest.mark.parametrize(
    "change",
    [
        form.update().values(forms="[[],[]]"),
        chunk.update().values(fingerprint=b"x"),
        chunk.update().values(rules=b"123456789"),
    ],
)
def test_a_row_that_was_changed_is_not_laundered(change, where):
    """The state stays as it was, under its old key."""
    state = open_state(where)
    with state.database.writing() as connection:
        connection.execute(change)

    with pytest.raises(HostError, match="not as sdrag wrote it"):
        rotate(state)
    assert open_state(where).name == state.name


def test_the_command_rotates_and_says_what_is_refused(where, tmp_path):
    """What is not there is not made; nothing of a document is printed."""
    name = open_state(where).name
    done = CliRunner().invoke(app, ["state", "rotate", str(where), "--json"])

    assert done.exit_code == 0
    assert json.loads(done.output.splitlines()[-1])["rows"]["finding"] > 0
    assert "Refused" in done.output
    assert "Karlsson" not in done.output
    assert open_state(where).name != name
    lost = CliRunner().invoke(app, ["state", "rotate", str(tmp_path / "none.db")])
    assert isinstance(lost.exception, UsageError)
    assert not (tmp_path / "none.db").exists()


def test_the_only_copy_of_a_key_is_never_deleted(tmp_path):
    """Whatever has its place, of one who was killed before it was moved there."""
    for number, other in enumerate((b"", os.urandom(32))):
        state = open_state(tmp_path / f"{number}.db")
        with (
            patch("sdrag.state.key_file.settle", side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            rotate(state)
        key = Path(state.key_path)
        (waiting,) = tmp_path.glob(f"{key.name}.*")
        old = key.read_bytes()
        key.write_bytes(other)
        with pytest.raises(UsageError):
            open_state(state.path)

        assert waiting.exists()
        key.write_bytes(old)
        assert open_state(state.path).keys.of("a") != Keys(old).of("a")


def test_a_link_to_the_key_stays_one_and_a_place_that_is_mounted_is_refused(tmp_path):
    """Refused before anything is written."""
    apart, place = tmp_path / "apart", tmp_path / "state.db"
    open_state(place)
    (tmp_path / "state.db.key").rename(apart)
    (tmp_path / "state.db.key").symlink_to(apart)
    rotate(open_state(place))
    assert (tmp_path / "state.db.key").is_symlink()
    assert len(apart.read_bytes()) == 64

    state = open_state(place)
    mounted = OSError(errno.EXDEV, "another device")
    with (
        patch.object(Path, "hardlink_to", side_effect=mounted),
        pytest.raises(UsageError),
    ):
        rotate(state)
    assert open_state(place).name == state.name


def test_who_reads_meanwhile_keeps_old_rows_in_the_file_and_it_is_said(tmp_path):
    """Run again, nothing of them is left."""
    state = open_state(tmp_path / "state.db", timeout_seconds=0.2)
    reader = open_state(tmp_path / "state.db")
    with reader.database.reading(), pytest.raises(HostError, match="was being read"):
        rotate(state)

    rotate(open_state(tmp_path / "state.db"))
    assert not (tmp_path / "state.db-wal").stat().st_size
