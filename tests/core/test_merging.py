"""What workers wrote apart, merged: the same in any order, twice, and as by one."""

from __future__ import annotations

from itertools import count
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdrag.cli import main
from sdrag.errors import UsageError
from sdrag.state import merge_states, open_state
from sdrag.state.entries import Entries
from sdrag.state.findings import Located
from sdrag.state.span_bytes import ClosedSpans, by_rule
from sdrag.vocabulary import Binding, Constraint, Passage, Span

TOP_N, FLOOR = 2, 0.8
RULES = (Constraint("names", "Hide names"), Constraint("sums", "Hide sums"))
NUMBERS = count()
PLAIN = "x" * 400

SCORES = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])
CHUNKS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.tuples(SCORES, SCORES), max_size=8
)
FORMS = st.lists(st.sampled_from(["Karlsson", "Lee", "Osei"]), max_size=2)
FOUND = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 9)), max_size=4
)
WORKED = st.tuples(CHUNKS, FORMS, FOUND)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("merging")


def new(folder):
    """A state of its own under the key that all here share."""
    return open_state(folder / f"{next(NUMBERS)}.db", key=folder / "shared.key")


def bind(state, chunks):
    """Bind chunks as a worker does: the best of its batch, and all above the floor."""
    passages = [Passage(name, f"Text of {name}.") for name in chunks]
    bindings = [
        Binding(rule.id, name, scores[index])
        for name, scores in chunks.items()
        for index, rule in enumerate(RULES)
    ]
    state.bindings.write(passages, RULES, bindings, top_n=TOP_N, floor=FLOOR)


def locate(state, forms, found):
    """Locate spans in texts of one document, closed under its register."""
    document = state.keys.document(None, "d")
    rule = state.keys.rule(RULES[0])
    entries = Entries()
    for form in forms:
        entries.add_form(rule, form, state.hashes)
    version = state.findings.grow({document: entries})[document].version
    rows = {
        (text, whole): Located(
            document + text.encode() * 12,
            b"Lone",
            (rule,),
            ClosedSpans.of({rule: (Span(start, start + 1),)}, PLAIN),
            version,
        )
        for text, whole, start in found
    }
    for (_, whole), row in rows.items():
        state.findings.write([row], whole=bool(whole))


def worked(folder, work):
    state = new(folder)
    chunks, forms, found = work
    bind(state, chunks)
    locate(state, forms, found)
    return state


def merged(state, *shards):
    merge_states(state, shards, top_n=TOP_N, floor=FLOOR)
    return state


def told(state):
    """Return all that a state says: bound, located, and what is behind."""
    document = state.keys.document(None, "d")
    names = [Passage(name, f"Text of {name}.") for name in "abcdefgh"]
    texts = [document + text.encode() * 12 for text in "ab"]
    known, versions = state.findings.read(texts, b"Lone")
    version = versions.get(document, 0)
    return (
        state.bindings.all(RULES),
        state.bindings.read(names, RULES),
        state.findings.register([document])[document].entries,
        {
            text: (one.bound, by_rule(one.groups), one.is_behind(version))
            for text, one in known.items()
        },
    )


hypothesis_settings = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@hypothesis_settings
@given(st.lists(WORKED, min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(folder, work, random):
    """At once, one after another, in another order, or again."""
    shards = [worked(folder, one) for one in work]
    shuffled = random.sample(shards, len(shards))

    at_once = merged(new(folder), *shards)
    one_by_one = new(folder)
    for shard in shuffled:
        merged(one_by_one, shard)
    expected = told(at_once)

    assert told(one_by_one) == expected
    assert told(merged(at_once, *shuffled)) == expected
    assert told(merged(at_once, one_by_one)) == expected


@hypothesis_settings
@given(CHUNKS, st.data())
def test_shards_hold_the_best_of_the_corpus(folder, chunks, data):
    """However it is divided, each constraint's bindings are those of one worker."""
    worker = {name: data.draw(st.integers(0, 2)) for name in chunks}
    shards = [new(folder) for _ in range(3)]
    for index, shard in enumerate(shards):
        bind(shard, {n: c for n, c in chunks.items() if worker[n] == index})
    alone = new(folder)
    bind(alone, chunks)

    assert told(merged(new(folder), *shards)) == told(alone)


@hypothesis_settings
@given(WORKED, WORKED)
def test_nothing_is_taken_away(folder, first, second):
    """What was cut is cut, and who was known is known, whatever is merged into it."""
    state, shard = worked(folder, first), worked(folder, second)
    *_, before, known = told(state)
    *_, after, now = told(merged(state, shard))

    grown = Entries({f: set(r) for f, r in after.forms.items()}, {})
    assert not grown.add(Entries(before.forms, {}))
    for text, (_, spans, _) in known.items():
        for rule, own in spans.items():
            assert set(own) <= set(now[text][1][rule])


def test_what_was_closed_under_less_is_behind(folder):
    """A worker that did not see the name has not cut it: its chunks are read again."""
    knowing, other = new(folder), new(folder)
    locate(knowing, ["Karlsson"], [("a", 1, 0)])
    locate(other, [], [("b", 1, 5)])

    *_, known = told(merged(new(folder), knowing, other))

    behind = {text[-1:]: late for text, (_, _, late) in known.items()}
    assert behind == {b"a": False, b"b": True}


def test_a_chunk_in_two_wordings_is_not_bound_by_both(folder):
    """The other wording counts as never bound, whichever state is merged first."""
    states = [new(folder), new(folder)]
    for state, text in zip(states, ("One.", "Two."), strict=True):
        passage = Passage("p", text)
        binding = Binding("names", "p", 0.9)
        state.bindings.write([passage], RULES, [binding], top_n=TOP_N, floor=FLOOR)
    wordings = [Passage("p", "One."), Passage("p", "Two.")]

    read = [
        merged(new(folder), *order).bindings.read(wordings, RULES)
        for order in (states, states[::-1])
    ]

    assert read[0] == read[1]
    assert read[0].count(None) == 1


def test_another_key_is_refused(folder, tmp_path):
    """Nothing in one could be found under the other."""
    with pytest.raises(UsageError, match="another key"):
        merged(new(folder), open_state(tmp_path / "other.db"))


def test_files_are_merged_into_postgres(folder, postgres):
    """As into a file, from a file and from another schema of the server."""
    work = [
        ({"a": (0.1, 0.9), "b": (0.5, 0.3)}, ["Lee"], [("a", 1, 3), ("b", 0, 1)]),
        ({"b": (0.5, 0.3), "c": (0.7, 0.7)}, ["Osei"], [("a", 1, 5)]),
    ]
    shards = [worked(folder, one) for one in work]
    there, elsewhere = (
        open_state(postgres.url(f"m{uuid4().hex}", folder / "shared.key"))
        for _ in range(2)
    )

    merged(there, shards[0])
    merged(elsewhere, shards[1], there)

    expected = told(merged(new(folder), *shards))
    assert told(elsewhere) == expected
    assert told(merged(new(folder), elsewhere)) == expected


def merged_by_command(monkeypatch, folder, *given):
    """Run `sdrag state merge`, and return how it ended."""
    policy = folder / "policy.yaml"
    policy.write_text("constraints: [Remove names]", encoding="utf-8")
    command = ["sdrag", "state", "merge", str(policy), *map(str, given)]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("alike", [True, False])
def test_what_is_refused_leaves_nothing(alike, tmp_path, monkeypatch, capsys):
    """Neither a file nor a key: without `--key` a new file has one of its own."""
    shards = [tmp_path / "one.db", tmp_path / "two.db"]
    for shard in shards:
        open_state(shard, key=tmp_path / "one.db.key" if alike else None)
    if alike:
        (tmp_path / "two.db.key").hardlink_to(tmp_path / "one.db.key")

    assert merged_by_command(monkeypatch, tmp_path, tmp_path / "all.db", *shards) == 2

    assert "--key" in capsys.readouterr().err
    assert not list(tmp_path.glob("all*"))


def test_what_is_refused_makes_no_table(folder, tmp_path, postgres, monkeypatch):
    """The schema of a state with another key is not there afterwards."""
    new(folder)
    shard, schema = tmp_path / "one.db", f"m{uuid4().hex}"
    open_state(shard)
    url = postgres.url(schema, folder / "shared.key")

    assert merged_by_command(monkeypatch, tmp_path, url, shard) == 2

    with psycopg.connect(postgres.bare) as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)
        ).fetchall()
    assert found == []


def test_a_command_merges_under_one_key(tmp_path, monkeypatch):
    """Into a new file, once its key is named."""
    key, shard = tmp_path / "own.key", tmp_path / "one.db"
    open_state(shard, key=key)

    given = (tmp_path / "all.db", shard, "--key", key)

    assert merged_by_command(monkeypatch, tmp_path, *given) == 0
    assert (tmp_path / "all.db").exists()
    assert not (tmp_path / "all.db.key").exists()


def test_a_mistyped_url_is_not_repeated(tmp_path, monkeypatch, capsys):
    """It holds a password, and is taken for a path."""
    wrong = "postgress://clerk:hunter2@host/database"

    ended = merged_by_command(monkeypatch, tmp_path, tmp_path / "all", wrong)

    told = capsys.readouterr()
    assert ended == 2
    assert "There is no state 1." in told.err
    assert "hunter2" not in told.out + told.err
