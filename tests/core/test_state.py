"""What is remembered: under keys that tell nothing, whole, and bounded where it may."""

from __future__ import annotations

import copy
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state
from sdrag.state.entries import Entries, Hashes
from sdrag.state.findings import Located
from sdrag.state.keys import Keys
from sdrag.state.register import Register
from sdrag.state.schema import VERSION
from sdrag.state.span_bytes import ClosedSpans, by_rule
from sdrag.text.folding import fold
from sdrag.text.spans import merge
from sdrag.vocabulary import Constraint, Span

KEYS, HASHES = Keys(b"k" * 32), Hashes(b"k" * 32)
RULES = [bytes([n]) * 16 for n in range(4)]
PARTS = st.lists(st.text(max_size=4), max_size=4)
LENGTHS = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), max_size=5)
PLAIN = "x" * 4000
TEXTS = st.sampled_from(["x", "x ", "x  \n", "xx  xxx "]).map(lambda s: s * 4000)
DOCUMENT = KEYS.document(None, "d")
TEXT, OTHER = (DOCUMENT + bytes([n]) * 12 for n in range(2))


@pytest.fixture(params=["memory", "file", "postgres"])
def state(request, tmp_path):
    if request.param == "postgres":
        return open_state(request.getfixturevalue("postgres_url"))
    return open_state(None if request.param == "memory" else tmp_path / "state.db")


def apart(pairs):
    """Make spans that are sorted and apart of gaps and lengths."""
    spans, end = [], 0
    for gap, length in pairs:
        spans.append(Span(end + gap, end + gap + length))
        end = spans[-1].end
    return tuple(spans)


def written_and_read(closed):
    return ClosedSpans.read(closed.written(RULES), RULES, {})


class TestKeys:
    @given(PARTS, PARTS)
    def test_equal_where_all_parts_are(self, left, right):
        """Two parts are not their concatenation, and another state has other keys."""
        assert (KEYS.of(*left) == KEYS.of(*right)) is (left == right)
        assert KEYS.of(*left) != Keys(b"j" * 32).of(*left)

    def test_a_document_is_its_tenants(self):
        """Without a tenant, of one, and of another: three documents of one name."""
        names = {KEYS.document(tenant, "d") for tenant in (None, "", "a", "b")}

        assert len(names) == 4

    def test_a_text_belongs_to_its_document(self):
        """The same words in another document, or as a value, are another text."""
        other = KEYS.document(None, "e")

        assert KEYS.text(DOCUMENT, "text", "x").startswith(DOCUMENT)
        assert KEYS.text(DOCUMENT, "text", "x") != KEYS.text(DOCUMENT, "leaf", "x")
        assert KEYS.text(DOCUMENT, "text", "x")[8:] != KEYS.text(other, "text", "x")[8:]

    @pytest.mark.parametrize(
        ("changed", "same"),
        [
            (Constraint("other", "Hide names"), True),
            (Constraint("names", "Hide all names"), False),
            (Constraint("names", "Hide names", sensitivity="high"), False),
        ],
    )
    def test_a_rule_is_known_by_what_it_asks_for(self, changed, same):
        """By its words; not by its id."""
        assert (KEYS.rule(changed) == KEYS.rule(Constraint("names", "Hide names"))) == (
            same
        )


class TestSpans:
    @given(st.dictionaries(st.sampled_from(RULES), LENGTHS.map(apart)))
    def test_written_and_read_again(self, spans):
        """What hides a text whole, which has no spans, included."""
        found = written_and_read(ClosedSpans.of(spans, PLAIN))

        assert by_rule(found.groups) == spans

    @given(st.lists(st.integers(0, 500).map(lambda n: Span(n, n + 9)), unique=True))
    def test_spans_may_overlap(self, spans):
        """They are kept as they were found, in their order."""
        given = ClosedSpans.of({RULES[0]: spans, RULES[1]: spans[:1]}, PLAIN)

        found = by_rule(written_and_read(given).groups)

        assert found.get(RULES[0], ()) == tuple(sorted(spans))

    @given(st.dictionaries(st.sampled_from(RULES), LENGTHS.map(apart)), TEXTS)
    def test_what_all_rules_cut_stands_ready(self, spans, text):
        """Joined over whitespace; nothing, where one of them hides the text whole."""
        together = written_and_read(ClosedSpans.of(spans, text)).together

        every = () if () in spans.values() else merge(chain(*spans.values()), text)
        assert together.spans == every
        assert set(together.rules) == spans.keys()

    def test_what_hides_a_text_whole_hides_all_that_others_show(self):
        """Of two engines one may say so: then no span is left to it."""
        first, second = {RULES[0]: (Span(1, 2),)}, {RULES[0]: ()}

        groups = [ClosedSpans.of(one, PLAIN).groups for one in (first, second)]

        assert by_rule((*groups[0], *groups[1])) == {RULES[0]: ()}


def found_in(register, text):
    return {(rule, span) for rules, span in register.find(text) for rule in rules}


WORDS = st.sampled_from(["Ann", "Lee", "O.F.", "山田", "Müller", "555-0142", "o'neil"])


WRITTEN = """
from sdrag.state.entries import Entries, Hashes
from sdrag.state.register import Register
rules = [bytes([n]) * 16 for n in range(6)]
contexts = {n: {rule for m, rule in enumerate(rules) if n >> m & 1} for n in range(64)}
print(Register(Entries(contexts=contexts), Hashes(b"k" * 32)).written().hex())
"""


def written_with(seed: str) -> str:
    """Write one register in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", WRITTEN],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


class TestRegister:
    def test_bytes_are_the_same_in_every_process(self):
        """What is written does not depend on the order in which a set is read."""
        assert len({written_with(seed) for seed in ("1", "2")}) == 1

    @given(
        st.dictionaries(st.sampled_from(RULES), st.lists(WORDS, max_size=3)),
        st.lists(WORDS, max_size=6),
    )
    def test_written_and_read_again(self, forms, said):
        """It finds the same in the same texts."""
        entries = Entries()
        for rule, own in forms.items():
            for form in own:
                entries.add_form(rule, form, HASHES)
        register = Register(entries, HASHES, 3)
        text = fold(" and ".join(said))

        again = Register.read(register.written(), HASHES, 3)

        assert found_in(again, text) == found_in(register, text)
        assert bool(again) == bool(register)

    @given(st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
    def test_it_only_grows(self, first, second):
        """In either order the same; a version counts how often."""
        parts = []
        for said in (first, second):
            entries = Entries()
            for form in said:
                entries.add_form(RULES[0], form, HASHES)
            parts.append(entries)
        empty = Register(Entries(), HASHES)

        one = empty.united(parts[0]).united(parts[1])
        other = empty.united(parts[1]).united(parts[0])

        assert one.written() == other.written()
        assert one.united(parts[0]) is one
        assert empty.written() == Register(Entries(), HASHES).written()

    def test_it_says_nothing_without_its_key(self):
        """Neither in what is written, nor to whoever hashes with another one."""
        entries = Entries()
        entries.add_form(RULES[0], "Karlsson", HASHES)
        register = Register(entries, HASHES, 1)
        stranger = Register.read(register.written(), Hashes(b"j" * 32), 1)

        assert list(register.find(fold("Anna Karlsson left")))
        assert not list(stranger.find(fold("Anna Karlsson left")))
        assert b"arlsson" not in register.written().lower()
        assert "arlsson" not in repr(register)


def located(text=TEXT, engine=b"Lone", rules=RULES[:2], start=1, version=0):
    spans = {rules[0]: (Span(start, start + 1),)}
    return Located(text, engine, tuple(rules), ClosedSpans.of(spans, PLAIN), version)


def cut_from(known):
    return by_rule(tuple(known.groups))


class TestFindings:
    def test_nothing_found_is_not_nothing_looked_for(self, state):
        """A row without spans says that nothing is there; no row says nothing."""
        state.findings.write([located()], whole=False)

        known, _ = state.findings.read([TEXT, OTHER], b"Lone")

        assert known[TEXT].looked == {b"Lone": set(RULES[:2])}
        assert cut_from(known[TEXT]) == {RULES[0]: (Span(1, 2),)}
        assert OTHER not in known

    def test_engines_are_united(self, state):
        """What either found is cut."""
        rows = [located(), located(engine=b"Mtwo", start=5)]
        state.findings.write(rows, whole=False)

        known, _ = state.findings.read([TEXT], b"Lone")

        assert cut_from(known[TEXT]) == {RULES[0]: (Span(1, 2), Span(5, 6))}

    def test_another_local_engine_knows_nothing_of_it(self, state):
        """What one found that is not asked any more is stale; a model's is not."""
        state.findings.write([located(), located(engine=b"Mtwo")], whole=False)

        known, _ = state.findings.read([TEXT], b"Lother")

        assert set(known[TEXT].looked) == {b"Mtwo"}

    def test_whole_documents_are_known_as_such(self, state):
        """What was met at a question gives way to what a binder found."""
        state.findings.write([located()], whole=False)
        state.findings.write([located(start=7)], whole=True)

        known, _ = state.findings.read([TEXT], b"Lone")

        assert known[TEXT].bound == {b"Lone": set(RULES[:2])}
        assert cut_from(known[TEXT]) == {RULES[0]: (Span(7, 8),)}

    def test_a_document_is_forgotten_with_all_that_is_known_of_it(self, state):
        """Rows and register; other documents stay."""
        far = KEYS.document(None, "e") + b"\0" * 12
        entries = Entries()
        entries.add_form(RULES[0], "Karlsson", state.hashes)
        state.findings.write([located(), located(OTHER), located(far)], whole=True)
        state.findings.grow({DOCUMENT: entries, far[:8]: entries})

        state.findings.forget([DOCUMENT])

        known, versions = state.findings.read([TEXT, OTHER, far], b"Lone")
        assert set(known) == {far}
        assert set(versions) == {far[:8]}

    def test_many_writers_lose_no_form(self, state):
        """Every one is there in the end, whoever came first."""
        forms = [f"Karlsson{'abcdefghijkl'[n]}" for n in range(12)]

        def grow(form):
            entries = Entries()
            entries.add_form(RULES[0], form, state.hashes)
            state.findings.grow({DOCUMENT: entries})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(grow, forms))

        register = state.findings.register([DOCUMENT])[DOCUMENT]
        assert len(list(register.find_forms(fold(" ".join(forms))))) == len(forms)
        assert register.version == len(forms)

    def test_an_older_closing_does_not_undo_a_later_one(self, state):
        """Whoever closed under the later register wins, in whatever order."""
        state.findings.write([located(version=1)], whole=True)
        state.findings.catch_up([located(version=3, start=30)])
        state.findings.catch_up([located(version=2, start=20)])

        known, _ = state.findings.read([TEXT], b"Lone")

        assert cut_from(known[TEXT]) == {RULES[0]: (Span(30, 31),)}


def _delete(path):
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _delete_but_the_log(path):
    path.unlink()


def _truncate(path):
    _delete(path)
    path.touch()


def _make_an_empty_database(path):
    _delete(path)
    _execute(path, "PRAGMA journal_mode = WAL")


def _make_other_tables(path):
    _delete(path)
    _execute(path, "CREATE TABLE notes (text TEXT)")


def _lose_all_rows(path):
    _execute(path, "DELETE FROM seal")


def _lose_all_tables(path):
    _execute(path, "DROP TABLE seal", "PRAGMA user_version = 0")


def _make_a_link_to_nowhere(path):
    _delete(path)
    path.symlink_to(path.with_name("not mounted"))


def _copy_half(path):
    _delete(path)
    path.write_bytes(b"")
    path.with_name(path.name + "-journal").touch()


def _execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


LOSSES = [
    _delete,
    _delete_but_the_log,
    _truncate,
    _make_an_empty_database,
    _make_other_tables,
    _lose_all_rows,
    _lose_all_tables,
    _make_a_link_to_nowhere,
    _copy_half,
]


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

    def test_many_processes_may_open_it_first(self, tmp_path):
        """There is one key, whoever made it."""
        with ThreadPoolExecutor(8) as pool:
            names = set(pool.map(lambda _: open_state(tmp_path / "s").name, range(16)))

        assert len(names) == 1
        assert {one.name for one in tmp_path.iterdir()} <= {
            "s", "s.key", "s-wal", "s-shm"
        }  # fmt: skip

    @pytest.mark.parametrize("given", [3, [], object(), b"path"])
    def test_what_is_none_is_refused(self, given):
        with pytest.raises(UsageError, match="must be a path or a State"):
            open_state(given)

    def test_a_broken_file_is_the_hosts_fault(self, tmp_path):
        path = tmp_path / "state.db"
        path.write_bytes(b"no database, but long enough to be looked at" * 40)

        with pytest.raises(HostError):
            open_state(path)

    def test_a_broken_key_is_refused(self, tmp_path):
        """Half a key would make fingerprints that somebody can guess."""
        (tmp_path / "state.db.key").write_bytes(b"short")

        with pytest.raises(UsageError, match="key"):
            open_state(tmp_path / "state.db")

    def test_a_key_that_is_missing_is_not_made_anew(self, tmp_path):
        """Nothing of the state could be found under another one."""
        open_state(tmp_path / "state.db")
        (tmp_path / "state.db.key").unlink()

        with pytest.raises(UsageError, match="missing on this host"):
            open_state(tmp_path / "state.db")
        assert not (tmp_path / "state.db.key").exists()

    @pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
    @pytest.mark.parametrize("shared", [False, True])
    def test_a_lost_file_is_not_made_anew(self, lose, shared, tmp_path):
        """Its key remembers it, and the error says what to do; nothing is made."""
        path, key = tmp_path / "state.db", tmp_path / "other.key" if shared else None
        state = open_state(path, key=key)
        copied = tmp_path / "copy"
        with (
            closing(sqlite3.connect(path)) as source,
            closing(sqlite3.connect(copied)) as copy_,
        ):
            source.backup(copy_)
        del state
        lose(path)
        before = path.exists()

        for _ in range(2):
            with pytest.raises(UsageError, match=r"lost.*[Rr]estore.*anew"):
                open_state(path, key=key)
        assert path.exists() == before

        for name in ("state.db-wal", "state.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        copied.replace(path)
        assert open_state(path, key=key).key_path

    def test_without_its_key_a_lost_file_is_a_new_state(self, tmp_path):
        path = tmp_path / "state.db"
        first = open_state(path).name
        path.unlink()
        path.with_name("state.db.key").unlink()

        assert open_state(path).name != first

    def test_what_is_not_lost_is_opened(self, tmp_path, monkeypatch):
        """A shared key serves new files; a file is known by any path to it."""
        key = tmp_path / "shared.key"
        names = {open_state(tmp_path / f"{n}.db", key=key).name for n in range(3)}
        monkeypatch.chdir(tmp_path)
        names.add(open_state("0.db", key="shared.key").name)
        (tmp_path / "moved").mkdir()
        for name in ("0.db", "shared.key"):
            (tmp_path / name).rename(tmp_path / "moved" / name)
        names.add(open_state("moved/0.db", key="moved/shared.key").name)

        assert len(names) == 1

    @pytest.mark.parametrize("rights", [0o400, 0o600])
    def test_a_key_that_cannot_be_written_is_enough(self, rights, tmp_path):
        """And one that was made beforehand, by whoever runs the hosts."""
        key = tmp_path / "made.key"
        key.write_bytes(b"k" * 32)
        key.chmod(rights)

        names = {open_state(tmp_path / "a.db", key=key).name for _ in range(2)}

        assert len(names) == 1

    def test_a_file_of_another_version_is_not_lost(self, tmp_path):
        """It starts anew, under its own key only."""
        path = tmp_path / "state.db"
        name = open_state(path).name
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 1")
        assert open_state(path).name == name

        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 1")
        path.with_name("state.db.key").write_bytes(b"o" * 32)
        with pytest.raises(UsageError, match="not the one"):
            open_state(path)

    def test_it_shows_neither_its_path_nor_its_key(self, tmp_path):
        state = open_state(tmp_path / "karlsson.db")

        assert "karlsson" not in f"{state!r} {state.keys!r} {state.hashes!r}"


OTHERS = {
    "notes": ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')"),
    "our names, other columns": (
        "CREATE TABLE passage (body TEXT)",
        "CREATE TABLE reply (body TEXT)",
        "INSERT INTO passage VALUES ('kept')",
    ),
    "a seal of its own": (
        "CREATE TABLE seal (animal TEXT)",
        "INSERT INTO seal VALUES ('grey')",
    ),
    "a wider seal": ("CREATE TABLE seal (mark BLOB NOT NULL, born TEXT)",),
    "our version": (
        "CREATE TABLE notes (text TEXT)",
        f"PRAGMA user_version = {VERSION}",
    ),
    "another version": ("CREATE TABLE notes (text TEXT)", "PRAGMA user_version = 3"),
    "a log ahead": (
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE notes (text TEXT)",
        "INSERT INTO notes VALUES ('kept')",
    ),
    "a view alone": ("CREATE VIEW today AS SELECT 1 AS n",),
    "full text search": ("CREATE VIRTUAL TABLE pages USING fts5(body)",),
    "a quoted name": ('CREATE TABLE "seal (mark BLOB NOT NULL)" (text TEXT)',),
    "emptied, with a version": ("PRAGMA user_version = 12",),
    "emptied, with an id": ("PRAGMA application_id = 252006673",),
}
NO_DATABASES = {
    "a letter": b"x",
    "words": b"Dear all, the minutes are attached.\n",
    "long words": b"no database, but long enough to be looked at" * 40,
    "zeros": bytes(4096),
    "half a header": b"SQLite form",
    "a spreadsheet": b"PK\x03\x04" + bytes(600),
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

            for _ in range(2):
                with pytest.raises(HostError, match=r"not one of sdrag's.*[Nn]ame"):
                    open_state(path)

            for name, data in before.items():
                if not name.endswith("-shm"):  # it counts the readers of the log
                    assert (tmp_path / name).read_bytes() == data
            assert {file.name for file in tmp_path.iterdir()} == before.keys()

    @pytest.mark.parametrize("data", NO_DATABASES.values(), ids=NO_DATABASES.keys())
    def test_what_is_no_database_is_left_alone(self, data, tmp_path):
        path = tmp_path / "notes"
        path.write_bytes(data)

        with pytest.raises(HostError, match="not one of sdrag's"):
            open_state(path)

        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("version", [0, 1, VERSION, VERSION + 1])
    def test_tables_beside_a_state_stay(self, version, tmp_path):
        """Another version starts anew; what an application put there stays."""
        path = tmp_path / "both.db"
        name = open_state(path).name
        _execute(
            path,
            "CREATE TABLE notes (text TEXT)",
            "INSERT INTO notes VALUES ('kept')",
            f"PRAGMA user_version = {version}",
        )

        assert open_state(path).name == name
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT * FROM notes").fetchall() == [("kept",)]

    @pytest.mark.parametrize("make", [_truncate, _make_an_empty_database])
    def test_what_holds_nothing_is_made_a_state(self, make, tmp_path):
        path = tmp_path / "state.db"
        make(path)

        name = open_state(path).name

        assert open_state(path).name == name
