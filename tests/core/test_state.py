"""What is remembered: under keys that tell nothing, whole, and bounded where it may."""

from __future__ import annotations

import copy
import gc
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from weakref import ref

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state
from sdrag.state.bindings import Binding
from sdrag.state.database import Database
from sdrag.state.findings import FindingRow
from sdrag.state.keys import Keys
from sdrag.state.ledger import Shown
from sdrag.state.register import Register, make_forms, make_word
from sdrag.state.tables import binding, finding, form, tables
from sdrag.text.folding import fold
from sdrag.vocabulary import Constraint, Passage, Span

from ..support.tables import each_row

KEYS = Keys(b"k" * 32)
RULES = [bytes([n]) * 8 for n in range(4)]
PARTS = st.lists(st.text(max_size=4), max_size=4)
DOCUMENT = KEYS.document(None, "d")
TEXT, OTHER = (DOCUMENT + bytes([n]) * 12 for n in range(2))
NOTHING: dict = {}


@pytest.fixture(params=["file", "postgres"])
def state(request, tmp_path):
    if request.param == "postgres":
        return open_state(request.getfixturevalue("postgres_url"))
    return open_state(tmp_path / "state.db")


class TestKeys:
    @given(PARTS, PARTS)
    def test_equal_where_all_parts_are(self, left, right):
        """Two parts are not their concatenation, and another state has other keys."""
        assert (KEYS.of(*left) == KEYS.of(*right)) is (left == right)
        assert KEYS.of(*left) != Keys(b"j" * 32).of(*left)

    def test_what_is_known_by_one_key_and_what_is_not(self):
        """A document is its tenant's, a text its document's, a rule what it asks."""
        other = KEYS.document(None, "e")
        rule = Constraint("names", "Hide names")

        assert len({KEYS.document(tenant, "d") for tenant in (None, "", "a", "b")}) == 4
        assert KEYS.text(DOCUMENT, "text", "x").startswith(DOCUMENT)
        assert KEYS.text(DOCUMENT, "text", "x") != KEYS.text(DOCUMENT, "leaf", "x")
        assert KEYS.text(DOCUMENT, "text", "x")[8:] != KEYS.text(other, "text", "x")[8:]
        assert KEYS.rule(rule) == KEYS.rule(replace(rule, id="other"))
        assert KEYS.rule(rule) != KEYS.rule(replace(rule, text="Hide all names"))
        assert KEYS.rule(rule) != KEYS.rule(replace(rule, sensitivity="high"))


def forms_of(*surfaces, rule=RULES[0], keys=KEYS, document=DOCUMENT):
    """Return what is to be known again of some surface forms."""
    own = keys.of_document(document)
    return {one: {rule} for said in surfaces for one in make_forms(said, own)}


def register_of(*surfaces):
    return Register(forms_of(*surfaces), KEYS.of_document(DOCUMENT))


WORDS = st.sampled_from(["Ann", "Lee", "O.F.", "山田", "Müller", "555-0142", "o'neil"])


class TestRegister:
    @each_row(
        "form, text, places",
        [
            ("Ann Lee", "ANN-LEE, ann_lee, AnnLee, Ann  Lee", 4),
            ("Ann Lee", "An nlee", 1),
            ("Meyers", "Mey\u200bers", 1),
            ("Meyers", "Meyersdorf", 0),
            ("王小明", "我是王小明吗", 1),
            ("Crane", "crane, CRANE", 2),
            ("Crane", "cra ne", 0),
            ("Li", "Li met li and LI", 1),
            ("O.F.", "O.F. came OF age", 1),
            ("$5", "$5, 5 and $500", 1),
            ("C++", "C++ and C", 1),
            ("-5", "5 of 5", 0),
            ("1984-05-03", "1984.05.03 or 19840503", 2),
        ],
    )
    def test_a_form_is_known_by_its_words(self, form, text, places):
        """Whatever separates a long one; a short one by as many words, in its case."""
        assert len(list(register_of(form).find([fold(text)]))) == places

    @given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=3))
    def test_more_forms_find_no_less(self, some, more):
        """Rows are only added, so what was found stays found."""
        text = [fold(" and ".join((*some, *more)))]

        less = {span for _, span in register_of(*some).find(text)}

        assert less
        assert less <= {span for _, span in register_of(*some, *more).find(text)}

    def test_a_hidden_word_is_known_between_the_same_words(self):
        """A common word that was hidden for what it means is harmless elsewhere."""
        keys, words = KEYS.of_document(DOCUMENT), ["by", "the", "lamp", "he", "sat"]
        register = Register({make_word(words, 2, keys): {RULES[0]}}, keys)
        texts = ("By the lamp, he sat.", "The Lamp. He", "the lamp was", "a lamp he")

        assert [len(list(register.find([fold(text)]))) for text in texts] == [
            1,
            1,
            0,
            0,
        ]

    @given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.data())
    def test_a_hidden_word_is_known_in_each_part_of_its_text(self, words, data):
        """As far as the part has the words beside it, at its edges too."""
        keys = KEYS.of_document(DOCUMENT)
        places = range(len(words))
        register = Register(
            {make_word(words, i, keys): {RULES[0]} for i in places}, keys
        )
        first, last = sorted(data.draw(st.tuples(*[st.sampled_from(places)] * 2)))
        part = words[first : last + 1]

        found = {span for _, span in register.find([fold(" ".join(part))])}

        assert len(found) == len(part)

    def test_it_says_nothing_without_its_key(self):
        """Neither to whoever hashes with another one, nor of another document."""
        forms = forms_of("Karlsson")
        text = [fold("Anna Karlsson left")]

        assert list(Register(forms, KEYS.of_document(DOCUMENT)).find(text))
        for keys in (
            Keys(b"j" * 32).of_document(DOCUMENT),
            KEYS.of_document(KEYS.document("tenant", "d")),
        ):
            assert not list(Register(forms, keys).find(text))
        assert "arlsson" not in repr((forms, register_of("Karlsson")))


def located(text=TEXT, engine=b"Lone", rules=RULES[:2], start=1, *, whole=False):
    spans = {rules[0]: (Span(start, start + 1),)}
    return FindingRow(text, engine, frozenset(rules), spans, whole)


CHANGES = {
    "spans": finding.update().values(spans="[]"),
    "rules": finding.update().values(rules=RULES[3]),
    "text": finding.update().values(text=OTHER),
    "engine": finding.update().values(engine=b"Mother"),
    "forms": form.update().values(forms="[[],[]]"),
    "another document's forms": form.update().values(document=TEXT[:8][::-1]),
    "no forms": form.delete(),
}


COLUMNS = [column for table in tables.sorted_tables for column in table.c]
WRONG_VALUES = [b"\xff\0", "x", 5, 10**12, 1.5, "[1]", '{"a": []}', '{"a": "b"}']


def use_all(path):
    """Write to every table of a state, and read what is there."""
    state, rule = open_state(path), Constraint("names", "Hide names")
    passage, facts = Passage("p", "Text."), [Shown(TEXT, DOCUMENT, {"fact": 0.5})]
    state.ledger.update(b"s" * 16, lambda _: facts, 0.0, 9.0)
    bound = [Binding("names", "p", 0.5)]
    state.bindings.write([passage], [rule], bound, top_n=1, floor=0.0)
    state.findings.add([located()], {DOCUMENT: forms_of("Karlsson")})
    state.bindings.place({"p": DOCUMENT})
    state.findings.read([TEXT], b"Lone")
    state.findings.registers([DOCUMENT])
    state.bindings.read([passage], [rule])


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """The folder of a state with a row in every table."""
    folder = tmp_path_factory.mktemp("used")
    use_all(folder / "state.db")
    return folder


def spans_in(rows):
    return {span for row in rows for spans in row.spans.values() for span in spans}


class TestFindings:
    def test_nothing_found_is_not_nothing_looked_for(self, state):
        """A row without spans says that nothing is there; no row says nothing."""
        state.findings.add([located(), replace(located(OTHER), spans={})], NOTHING)

        known = state.findings.read([TEXT, OTHER, b"x" * 20], b"Lone")[0]

        (row,), (empty,) = known[TEXT], known[OTHER]
        assert row.rules == empty.rules == set(RULES[:2])
        assert row.spans == {RULES[0]: (Span(1, 2),)}
        assert empty.spans == {}
        assert known.keys() == {TEXT, OTHER}

    @given(
        st.dictionaries(
            st.sampled_from(RULES),
            st.lists(st.integers(0, 500).map(lambda n: Span(n, n + 9)), min_size=1),
        )
    )
    def test_spans_are_read_as_they_were_written(self, spans):
        """They may overlap, and several rules may share them."""
        state = open_state()
        sorted_ones = {rule: tuple(sorted({*own})) for rule, own in spans.items()}
        row = FindingRow(TEXT, b"L", frozenset(RULES), sorted_ones)
        state.findings.add([row], NOTHING)

        ((found,),) = state.findings.read([TEXT], b"L")[0].values()

        assert found.spans == sorted_ones

    def test_rows_are_only_added(self, state):
        """What any engine found, at a question or whole, stays found; once each."""
        rows = [located(), located(engine=b"Mtwo", start=5)]
        rows.append(located(start=9, whole=True))
        for row in (*rows, *rows):
            state.findings.add([row], NOTHING)

        known = state.findings.read([TEXT], b"Lone")[0][TEXT]

        assert spans_in(known) == {Span(1, 2), Span(5, 6), Span(9, 10)}
        assert [row.from_document for row in known].count(True) == 1
        assert len(known) == 3

    def test_another_local_engine_knows_nothing_of_it(self, state):
        """What one found that is not asked any more is stale; a model's is not."""
        state.findings.add([located(), located(engine=b"Mtwo")], NOTHING)

        (row,) = state.findings.read([TEXT], b"Lother")[0][TEXT]

        assert row.engine == b"Mtwo"

    def test_a_document_is_forgotten_with_all_that_is_known_of_it(self, state):
        """Rows and forms; other documents stay."""
        away = KEYS.document(None, "e")
        far = away + b"\0" * 12
        forms = {DOCUMENT: forms_of("Karlsson"), away: forms_of("Karlsson")}
        state.findings.add([located(), located(OTHER), located(far)], forms)

        state.findings.forget([DOCUMENT])

        assert set(state.findings.read([TEXT, OTHER, far], b"Lone")[0]) == {far}
        registers = state.findings.registers([DOCUMENT, away])
        assert [bool(registers[one]) for one in (DOCUMENT, away)] == [False, True]

    def test_many_writers_lose_no_form(self, state):
        """Every one is there in the end, whoever came first."""
        forms = [f"Karlsson{'abcdefghijkl'[n]}" for n in range(12)]

        def grow(form):
            made = forms_of(form, keys=state.keys)
            state.findings.add([], {DOCUMENT: made})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(grow, forms))

        register = state.findings.registers([DOCUMENT])[DOCUMENT]
        assert len(list(register.find_forms([fold(" ".join(forms))]))) == len(forms)

    def test_forms_of_another_process_are_seen(self, state):
        """A register that was read before is not served again once it has grown."""
        before = state.findings.registers([DOCUMENT])[DOCUMENT]
        grown = {DOCUMENT: forms_of("Karlsson", keys=state.keys)}
        type(state.findings)(state.database, state.keys).add([], grown)

        after = state.findings.registers([DOCUMENT])[DOCUMENT]

        assert not before
        assert after
        assert state.findings.registers([DOCUMENT])[DOCUMENT] is after

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
    def test_a_row_that_was_changed_is_refused(self, state, change):
        """Its tag does not fit, or its document's row is gone: nothing is released."""
        state.findings.add([located()], {DOCUMENT: forms_of("Karlsson")})
        with state.database.writing() as connection:
            connection.execute(change)

        def look_up():
            state.findings.read([TEXT, OTHER], b"Lone")
            state.findings.registers([DOCUMENT])

        with pytest.raises(HostError, match="not as sdrag wrote it"):
            look_up()

    @pytest.mark.parametrize("column", COLUMNS, ids=str)
    def test_a_value_of_another_type_is_named(self, column, used, tmp_path):
        """SQLite takes any value in any column; none is taken for a fault of ours."""
        for number, value in enumerate(WRONG_VALUES):
            path = Path(shutil.copytree(used, tmp_path / str(number))) / "state.db"
            with suppress(sqlite3.IntegrityError), closing(sqlite3.connect(path)) as at:
                change = f"UPDATE {column.table} SET {column.name} = ?"  # noqa: S608
                at.execute(change, (value,))
                at.commit()
            with suppress(HostError, UsageError):
                use_all(path)

    def test_the_oldest_that_was_met_makes_room(self, monkeypatch, state):
        """What a binder found stays."""
        monkeypatch.setattr("sdrag.state.findings._MOST_MET", 2)
        monkeypatch.setattr("sdrag.state.database._EVICTED_AT", 1.0)
        texts = [DOCUMENT + bytes([n]) * 12 for n in range(5)]
        state.findings.add([located(texts[0], whole=True)], NOTHING)
        for text in texts[1:]:
            state.findings.add([located(text)], NOTHING)

        assert {*state.findings.read(texts, b"Lone")[0]} == {texts[0], *texts[3:]}


def _execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def _delete(path):
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _replace(path, *statements):
    _delete(path)
    path.touch()
    _execute(path, *statements)


def _link_to_nowhere(path):
    _delete(path)
    path.symlink_to(path.with_name("not mounted"))


LOSSES = {
    "deleted": _delete,
    "deleted but for the log": lambda path: path.unlink(),
    "truncated": _replace,
    "an empty database": lambda path: _replace(path, "PRAGMA journal_mode = WAL"),
    "another's tables": lambda path: _replace(path, "CREATE TABLE notes (text TEXT)"),
    "no rows": lambda path: _execute(path, "DELETE FROM meta"),
    "tables are gone": lambda path: _execute(path, "DROP TABLE form"),
    "a link to nowhere": _link_to_nowhere,
}


def _copy(path, copied):
    with (
        closing(sqlite3.connect(path)) as source,
        closing(sqlite3.connect(copied)) as target,
    ):
        source.backup(target)


FIRST_STEPS = (
    "os.open",
    "os.fsync",
    "os.link",
    "os.unlink",
    "sqlalchemy.MetaData.create_all",
    "sqlalchemy.engine.default.DefaultDialect.do_commit",
    "sdrag.state.opening._write_key",
    "sdrag.state.opening._settle",
    "sdrag.state.opening._read_key",
)


def _end_at(path, step, ends):
    """Open a state for the first time, on a disk that is full at one step."""
    from unittest.mock import patch  # noqa: PLC0415 -- in the process that ends

    def end(*_, **__):
        if ends == "killed":
            os._exit(9)
        raise OSError(28, f"No space left on {path}")

    with patch(step, end):
        try:
            open_state(path)
        except HostError as error:
            os._exit(str(path) in str(error))


class TestOpening:
    def test_a_state_is_returned_as_it_is(self, state):
        """And a deep copy of what holds it shares it."""
        assert open_state(state) is state
        assert copy.deepcopy([state])[0] is state

    def test_two_states_share_nothing(self, tmp_path):
        """Not even the name by which they are told apart; one file is one state."""
        names = [open_state().name, open_state().name]
        names += [open_state(tmp_path / name).name for name in ("a", "b")]

        assert len(set(names)) == 4
        assert open_state(tmp_path / "a").name == names[2]

    @pytest.mark.parametrize("place", ["file", "postgres"])
    def test_many_may_open_it_first(self, place, request, tmp_path):
        """There is one key, whoever made it, and nothing else is left."""
        where = tmp_path / "s"
        if place == "postgres":
            where = request.getfixturevalue("postgres_url")
        with ThreadPoolExecutor(8) as pool:
            names = set(pool.map(lambda _: open_state(where).name, range(16)))

        assert len(names) == 1
        assert len([one for one in tmp_path.iterdir() if "key" in one.name]) == 1

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
    @pytest.mark.parametrize("ends", ["failed", "killed"])
    @pytest.mark.parametrize("step", FIRST_STEPS)
    def test_a_first_opening_may_end_at_any_step(self, step, ends, tmp_path):
        """The next one opens the state, with one key, as if nothing had been."""
        path = tmp_path / "state.db"
        worker = get_context("fork").Process(target=_end_at, args=(path, step, ends))
        worker.start()
        worker.join(60)

        assert worker.exitcode == (0 if ends == "failed" else 9)
        assert open_state(path).name == open_state(path).name
        assert path.with_name("state.db.key").stat().st_size == 32

    def test_another_opening_gives_up_no_lock_of_this_process(self, tmp_path):
        """So no process that ends takes the log away from under a connection."""
        path = tmp_path / "state.db"
        states = [open_state(path) for _ in range(3)]
        reads = "SELECT count(*) FROM meta"
        program = f"import sqlite3; sqlite3.connect({str(path)!r}).execute({reads!r})"
        subprocess.run([sys.executable, "-c", program], check=True)

        assert path.with_name("state.db-wal").exists()
        assert len({state.name for state in states}) == 1

    def test_what_is_no_state_of_this_key_and_version_is_refused(self, tmp_path):
        """Half a key would make fingerprints that somebody can guess."""
        path, key = tmp_path / "state.db", tmp_path / "state.db.key"
        open_state(path)
        whole = key.read_bytes()
        for content, message in ((b"short", "key"), (b"o" * 32, "not the one")):
            key.write_bytes(content)
            with pytest.raises(UsageError, match=message):
                open_state(path)
        key.write_bytes(whole)
        _execute(path, "UPDATE meta SET value = x'30' WHERE name = 'version'")
        for _ in range(2):
            with pytest.raises(UsageError, match=r"another version.*bind"):
                open_state(path)
        with pytest.raises(UsageError, match="must be a path or a State"):
            open_state(3)

    @pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES.keys())
    def test_a_lost_file_is_not_made_anew(self, lose, tmp_path):
        """While its key is there. The error says what to do; a backup is opened."""
        path, copied = tmp_path / "state.db", tmp_path / "copy"
        name = open_state(path).name
        _copy(path, copied)
        lose(path)
        before = path.exists()

        for _ in range(2):
            with pytest.raises((UsageError, HostError), match=r"[Rr]estore"):
                open_state(path)
        assert path.exists() == before

        _delete(path)
        copied.replace(path)
        assert open_state(path).name == name

    def test_without_its_key_a_lost_file_is_a_new_state(self, tmp_path):
        path = tmp_path / "state.db"
        first = open_state(path).name
        path.unlink()
        path.with_name("state.db.key").unlink()

        assert open_state(path).name != first

    def test_a_state_may_be_moved_with_its_key(self, tmp_path):
        """And a key serves no other state: it would not know that one is lost."""
        name = open_state(tmp_path / "a.db", key=tmp_path / "key").name
        (tmp_path / "moved").mkdir()
        for file in ("a.db", "key"):
            (tmp_path / file).rename(tmp_path / "moved" / file)

        moved = {"key": tmp_path / "moved" / "key"}
        assert open_state(tmp_path / "moved" / "a.db", **moved).name == name
        with pytest.raises(UsageError, match="lost"):
            open_state(tmp_path / "moved" / "b.db", **moved)

    def test_it_shows_neither_its_path_nor_its_key(self, tmp_path):
        state = open_state(tmp_path / "karlsson.db")

        assert "karlsson" not in f"{state!r} {state.keys!r} {state.database!r}"


OTHERS = {
    "notes": ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')"),
    "some of our names": ("CREATE TABLE meta (body TEXT)",),
    "all of our names": tuple(
        f"CREATE TABLE {name} (body TEXT)"
        for name in ("meta", "chunk", "binding", "finding", "form")
    ),
    "a log ahead": ("PRAGMA journal_mode = WAL", "CREATE TABLE notes (text TEXT)"),
    "a view alone": ("CREATE VIEW today AS SELECT 1 AS n",),
    "full text search": ("CREATE VIRTUAL TABLE pages USING fts5(body)",),
}
NO_DATABASES = {
    "a letter": b"x",
    "words": b"no database, but long enough to be looked at" * 40,
    "zeros": bytes(4096),
    "half a header": b"SQLite form",
    "lines of JSON": b'{"text": "kept"}\n' * 200,
}


class TestFilesOfOthers:
    @pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS.keys())
    def test_a_database_of_another_application_is_left_alone(
        self, statements, tmp_path
    ):
        path = tmp_path / "app.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as application:
            for statement in statements:
                application.execute(statement)
            before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

            with pytest.raises(HostError):
                open_state(path)

            for name, data in before.items():
                if not name.endswith("-shm"):  # it counts the readers of the log
                    assert (tmp_path / name).read_bytes() == data
            assert {file.name for file in tmp_path.iterdir()} == before.keys()

    @each_row("data", NO_DATABASES.values())
    def test_what_is_no_database_is_left_alone(self, data, tmp_path):
        path = tmp_path / "notes"
        path.write_bytes(data)

        with pytest.raises(HostError):
            open_state(path)

        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]

    def test_tables_beside_a_state_stay(self, tmp_path):
        """What an application put there is not touched; an empty file is made one."""
        path = tmp_path / "both.db"
        path.touch()
        name = open_state(path).name
        _execute(path, "CREATE TABLE notes (text TEXT)")

        assert open_state(path).name == name


RULE = Constraint("names", "Hide names")
SECRET = "Anna Karlsson"


@each_row("name", ["a\0b", "\ud800"])
def test_an_id_that_no_database_holds_is_refused(state, name):
    """It is not quoted, and a look-up of one finds nothing."""
    passage = Passage(name, "Text.")

    with pytest.raises(UsageError, match="An id holds"):
        state.bindings.write([passage], [RULE], [], top_n=1, floor=1.0)
    assert state.bindings.read([passage], [RULE]) == [None]
    state.bindings.forget([name])


def bound(database):
    with database.reading() as connection:
        return sorted(connection.scalars(sa.select(binding.c.chunk)))


def put(database, name):
    with database.writing() as connection:
        values = {"rule": b"r" * 8, "chunk": name, "score": 0.5}
        connection.execute(binding.insert(), values)


class TestDatabase:
    def test_a_transaction_is_undone_when_its_block_raises(self, state):
        """Whatever was raised; a later one works."""
        with suppress(ZeroDivisionError), state.database.writing() as connection:
            values = {"rule": b"r" * 8, "chunk": "a", "score": 0.5}
            connection.execute(binding.insert(), values)
            raise ZeroDivisionError

        put(state.database, "b")
        assert bound(state.database) == ["b"]

    def test_a_failure_names_neither_statement_nor_row(self, state):
        """It is the host's, whatever the database said."""
        put(state.database, SECRET)

        with pytest.raises(HostError, match="state's database") as caught:
            put(state.database, SECRET)

        error = caught.value
        assert SECRET not in f"{error} {error!r} {error.__cause__!r}"
        assert "binding" not in f"{error}"
        assert error.__suppress_context__

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
    def test_a_forked_process_closes_no_connection_of_its_parent(self, state):
        """SQLite would take locks and the log of the parent for its own."""
        put(state.database, "parent")
        inherited = ref(state.database._engine.pool)
        pid = os.fork()
        if not pid:
            gc.collect()
            os._exit(inherited() is None)
        assert os.waitpid(pid, 0)[1] == 0

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
    def test_a_forked_process_opens_connections_of_its_own(self, state):
        """What the parent has open is its own; both write, and both are read."""
        put(state.database, "parent")
        child = get_context("fork").Process(target=put, args=(state.database, "child"))
        child.start()
        child.join()

        assert child.exitcode == 0
        assert bound(state.database) == ["child", "parent"]

    def test_a_debug_log_of_sqlalchemy_holds_no_row(self, state, caplog):
        """Rows hold ids of the host, and hashes."""
        with caplog.at_level(logging.DEBUG, "sqlalchemy"):
            put(state.database, SECRET)
            assert bound(state.database) == [SECRET]

        assert SECRET not in caplog.text

    def test_a_file_is_its_owners_alone(self, tmp_path):
        open_state(tmp_path / "state.db")

        assert {f.stat().st_mode & 0o077 for f in tmp_path.iterdir()} == {0}

    def test_waiting_for_another_writer_ends(self, tmp_path):
        """Whether a process or a thread has it; never with half a write."""
        path = tmp_path / "state.db"
        open_state(path)
        database = Database(str(path), timeout_seconds=0.05)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(HostError, match=r"locked for 0\.05 s\. Does another"):
            put(database, "a")

        other.rollback()
        other.close()
        with (
            database.writing(),
            ThreadPoolExecutor(1) as pool,
            pytest.raises(HostError, match=r"locked for 0\.05 s\."),
        ):
            pool.submit(put, database, "a").result()
        assert bound(database) == []
