"""Documents in Parquet files, and files that are no documents."""

from __future__ import annotations

import io
import json
import sys
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.errors import MissingExtraError
from sdrag.studio.documents import UnreadableError, parquet, read_bytes
from sdrag.vocabulary import Passage

SECRET = "Mara Whitlock"


def written(columns: dict[str, Any] | pa.Table, **options: Any) -> bytes:
    """Return the bytes of a table, or of what makes one."""
    file = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, file, **options)
    return file.getvalue()


def read(data: bytes) -> tuple[Passage, ...]:
    return read_bytes("a.parquet", data).documents


def test_a_row_is_a_document():
    """Its other columns are its metadata, or one column is: a struct, a map, JSON."""
    for name in ("text", "content", "page_content"):
        data = written({"id": [7, 8], name: ["One.", "Two."], "page": [1, None]})
        one, two = read(data)
        assert (one.id, one.text) == ("a.parquet#7", "One.")
        assert one.metadata == {"source": "a.parquet", "page": 1}
        assert two.metadata == {"source": "a.parquet", "page": None}
        assert not read_bytes("a.parquet", data).remarks
    mapped = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    for column in ([{"a": 1}], ['{"a": 1}'], mapped):
        data = written({"text": ["One."], "metadata": column, "vector": [[0.1]]})
        assert read(data)[0].metadata == {"source": "a.parquet", "a": 1}
        assert "other keys (1)" in read_bytes("a.parquet", data).remarks[0]
    data = written({"text": pa.array([None, None], pa.string()), "n": [1, 2]})
    assert [json.loads(row.text)["n"] for row in read(data)] == [1, 2]


def test_values_are_those_of_json():
    """Plain types stay what they are; times become ISO strings."""
    values = {
        "a": True,
        "b": 2**40,
        "c": 0.5,
        "d": None,
        "e": [1, None],
        "f": {"g": ["h"]},
        "i": datetime(2026, 5, 1, 12, 0, 0, 5, tzinfo=UTC),
        "j": date(2026, 5, 1),
        "k": Decimal("1.50"),
        "l": b"bytes",
    }
    times = pa.array([1_500_000_000_123_456_789], pa.timestamp("ns"))
    (row,) = read(written({"text": ["t"], "in": [values], "at": times}))

    assert row.metadata["at"] == "2017-07-14T02:40:00.123456"
    assert row.metadata["in"] == {
        **values,
        "i": "2026-05-01T12:00:00.000005+00:00",
        "j": "2026-05-01",
        "k": "1.50",
        "l": "bytes",
    }


def _nested(depth: int) -> pa.Array:
    array = pa.array([SECRET])
    for _ in range(depth):
        array = pa.StructArray.from_arrays([array], ["in"])
    return array


TWICE = pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64()))
UNREADABLE = {
    "no file": (b"", "no valid Parquet"),
    "other bytes": (SECRET.encode() + b"PAR1", "no valid Parquet"),
    "cut off": (written({"text": [SECRET]})[:-9], "no valid Parquet"),
    "cut at the front": (written({"text": [SECRET]})[40:], "no valid Parquet"),
    "no columns": (written({}), "no columns"),
    "one name twice": (
        written(pa.table([[SECRET], ["b"]], names=["text", "text"])),
        "two of one name",
    ),
    "deep": (written({"text": ["t"], "in": _nested(40)}), "no valid Parquet"),
    "bytes": (written({"text": ["t"], "raw": [b"\xff"]}), "no UTF-8"),
    "metadata": (written({"text": ["t"], "metadata": [SECRET]}), "row 1 has metadata"),
    "a list": (written({"text": ["t"], "metadata": ["[1]"]}), "row 1 has metadata"),
    "a key twice": (written({"text": ["t"], "m": TWICE}), "no valid Parquet"),
    "far times": (
        written({"text": ["t"], "at": pa.array([2**62], pa.timestamp("us"))}),
        "no valid Parquet",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_refused(case):
    """The reason says why in no word of the file."""
    data, reason = UNREADABLE[case]
    with pytest.raises(UnreadableError, match=reason) as refused:
        read(data)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_file_is_bounded(monkeypatch):
    """Rows and bytes as the file says, and bytes as they are once unpacked."""
    data = written({"text": [f"Text {n}." for n in range(40)]}, row_group_size=10)
    shared = written({"text": pa.array(["a" * 10_000] * 1000).dictionary_encode()})
    for limit, most in (("MAX_UNPACKED", 500), ("MAX_ROWS", 25)):
        with monkeypatch.context() as patch:
            patch.setattr(parquet, limit, most)
            with pytest.raises(UnreadableError, match=f"more than {most}"):
                read(data)
    monkeypatch.setattr(parquet, "MAX_UNPACKED", 100_000)
    assert len(shared) < 100_000
    with pytest.raises(UnreadableError, match="100,000 bytes"):
        read(shared)


class Registered(pa.ExtensionType):
    """A type that says when it is built from what a file says."""

    built = False

    def __init__(self, name: str = "sdrag.test") -> None:
        super().__init__(pa.string(), name)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: object, written: bytes) -> Registered:
        cls.built = True
        return cls()


@pytest.mark.parametrize("name", ["text", "text_of_it", "text_of_it_all_now"])
def test_no_type_is_built_that_a_library_has_registered(name):
    """Building it may run code of its own: those of Ray can read pickles."""
    column = pa.ExtensionArray.from_storage(Registered(), pa.array([SECRET]))
    data = written({name: column})
    pa.register_extension_type(Registered())
    try:
        with pytest.raises(UnreadableError, match="only another program knows"):
            read(data)
        assert not Registered.built
        pq.read_metadata(io.BytesIO(data))
        assert Registered.built  # or it would be no proof
    finally:
        Registered.built = False
        pa.unregister_extension_type("sdrag.test")


GOOD = written(
    {"text": [SECRET, "Two."], "metadata": [{"a": [1, 2]}, {"a": []}]}, row_group_size=1
)


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=3))
def test_a_broken_file_is_read_or_refused(place, other):
    """Whichever bytes are wrong, no other error is raised."""
    with suppress(UnreadableError):
        read(GOOD[:place] + other + GOOD[place + len(other) :])


def test_a_missing_pyarrow_is_one_clear_error(monkeypatch):
    """It names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"sdrag\[parquet\]"):
        read(GOOD)
