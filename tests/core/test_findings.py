"""What was found is kept whole, and bounded where it may be."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state
from sdrag.state.bindings import Binding
from sdrag.state.findings import FindingRow
from sdrag.state.ledger import Shown
from sdrag.state.tables import finding, form, tables
from sdrag.text.folding import fold
from sdrag.vocabulary import Constraint, Passage, Span

from .test_register import DOCUMENT, KEYS, RULES, forms_of

TEXT, OTHER = (DOCUMENT + bytes([n]) * 12 for n in range(2))
NOTHING: dict = {}


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


def test_nothing_found_is_not_nothing_looked_for(state):
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
def test_spans_are_read_as_they_were_written(spans):
    """They may overlap, and several rules may share them."""
    state = open_state()
    sorted_ones = {rule: tuple(sorted({*own})) for rule, own in spans.items()}
    row = FindingRow(TEXT, b"L", frozenset(RULES), sorted_ones)
    state.findings.add([row], NOTHING)

    ((found,),) = state.findings.read([TEXT], b"L")[0].values()

    assert found.spans == sorted_ones


def test_rows_are_only_added(state):
    """What any engine found, at a question or whole, stays found; once each."""
    rows = [located(), located(engine=b"Mtwo", start=5)]
    rows.append(located(start=9, whole=True))
    for row in (*rows, *rows):
        state.findings.add([row], NOTHING)

    known = state.findings.read([TEXT], b"Lone")[0][TEXT]

    assert spans_in(known) == {Span(1, 2), Span(5, 6), Span(9, 10)}
    assert [row.from_document for row in known].count(True) == 1
    assert len(known) == 3


def test_another_local_engine_knows_nothing_of_it(state):
    """What one found that is not asked any more is stale; a model's is not."""
    state.findings.add([located(), located(engine=b"Mtwo")], NOTHING)

    (row,) = state.findings.read([TEXT], b"Lother")[0][TEXT]

    assert row.engine == b"Mtwo"


def test_a_document_is_forgotten_with_all_that_is_known_of_it(state):
    """Rows and forms; other documents stay."""
    away = KEYS.document(None, "e")
    far = away + b"\0" * 12
    forms = {DOCUMENT: forms_of("Karlsson"), away: forms_of("Karlsson")}
    state.findings.add([located(), located(OTHER), located(far)], forms)

    state.findings.forget([DOCUMENT])

    assert set(state.findings.read([TEXT, OTHER, far], b"Lone")[0]) == {far}
    registers = state.findings.registers([DOCUMENT, away])
    assert [bool(registers[one]) for one in (DOCUMENT, away)] == [False, True]


def test_many_writers_lose_no_form(state):
    """Every one is there in the end, whoever came first."""
    forms = [f"Karlsson{'abcdefghijkl'[n]}" for n in range(12)]

    def grow(form):
        made = forms_of(form, keys=state.keys)
        state.findings.add([], {DOCUMENT: made})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(grow, forms))

    register = state.findings.registers([DOCUMENT])[DOCUMENT]
    assert len(list(register.find_forms([fold(" ".join(forms))]))) == len(forms)


def test_forms_of_another_process_are_seen(state):
    """A register that was read before is not served again once it has grown."""
    before = state.findings.registers([DOCUMENT])[DOCUMENT]
    grown = {DOCUMENT: forms_of("Karlsson", keys=state.keys)}
    type(state.findings)(state.database, state.keys).add([], grown)

    after = state.findings.registers([DOCUMENT])[DOCUMENT]

    assert not before
    assert after
    assert state.findings.registers([DOCUMENT])[DOCUMENT] is after


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_row_that_was_changed_is_refused(state, change):
    """Its tag does not fit, or its document's row is gone: nothing is released."""
    state.findings.add([located()], {DOCUMENT: forms_of("Karlsson")})
    with state.database.writing() as connection:
        connection.execute(change)

    def look_up():
        state.findings.read([TEXT, OTHER], b"Lone")
        state.findings.registers([DOCUMENT])

    with pytest.raises(HostError, match="not as sdrag wrote it"):
        look_up()


@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2))]
)
@pytest.mark.parametrize(("place", "column"), [*enumerate(COLUMNS)], ids=str)
def test_a_value_of_another_type_is_named(place, column, turn, used, tmp_path):
    """SQLite takes any value in any column; none is taken for a fault of ours."""
    for number, value in enumerate(WRONG_VALUES[(place + turn) % 3 :: 3]):
        path = Path(shutil.copytree(used, tmp_path / str(number))) / "state.db"
        with suppress(sqlite3.IntegrityError), closing(sqlite3.connect(path)) as at:
            change = f"UPDATE {column.table} SET {column.name} = ?"  # noqa: S608
            at.execute(change, (value,))
            at.commit()
        with suppress(HostError, UsageError):
            use_all(path)


def test_the_oldest_that_was_met_makes_room(monkeypatch, state):
    """What a binder found stays."""
    monkeypatch.setattr("sdrag.state.findings._MOST_MET", 2)
    monkeypatch.setattr("sdrag.state.statements._EVICTED_AT", 1.0)
    texts = [DOCUMENT + bytes([n]) * 12 for n in range(5)]
    state.findings.add([located(texts[0], whole=True)], NOTHING)
    for text in texts[1:]:
        state.findings.add([located(text)], NOTHING)

    assert {*state.findings.read(texts, b"Lone")[0]} == {texts[0], *texts[3:]}
