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

from sdrag.documents import (
    UnreadableError,
    documents_in,
    file_of,
    parquet_limits,
    parquet_rows,
)
from sdrag.documents.parquet_footer import row_groups
from sdrag.documents.parquet_pages import page_sizes
from sdrag.errors import MissingExtraError
from sdrag.vocabulary import Passage

SECRET = "Mara Whitlock"

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=6,
)
METADATA = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
SIMILAR = st.lists(
    st.fixed_dictionaries({"source": st.text(), "page": st.integers(0, 9)}),
    min_size=1,
    max_size=5,
)


def written(columns: dict[str, Any] | pa.Table, **options: Any) -> bytes:
    """Return the bytes of a table, or of what makes one."""
    file = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, file, **options)
    return file.getvalue()


def read(columns: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return list(parquet_rows(written(columns, **options)))


@given(st.lists(METADATA, min_size=1, max_size=4) | SIMILAR, st.data())
def test_documents_are_what_they_were(metadata, data) -> None:
    """Ids, texts and all metadata come back, whatever types they have."""
    texts = [data.draw(st.text(min_size=1)) for _ in metadata]
    documents = [
        Passage(f"d{number}", text, one)
        for number, (text, one) in enumerate(zip(texts, metadata, strict=True))
    ]

    rows = list(parquet_rows(file_of("out.parquet", documents)))

    assert json.dumps(rows, sort_keys=True) == json.dumps(
        [
            {"id": one.id, "content": one.text, "metadata": dict(one.metadata)}
            for one in documents
        ],
        sort_keys=True,
    )


def test_metadata_of_one_shape_are_columns_of_their_own() -> None:
    """So another program can ask for one of them; others are JSON text."""
    same = [Passage(str(n), "t", {"source": "a", "page": n}) for n in range(3)]
    mixed = [*same, Passage("4", "t", {"page": "four"})]

    for documents, is_struct in ((same, True), (mixed, False)):
        data = io.BytesIO(file_of("out.parquet", documents))
        kind = pq.read_schema(data).field("metadata").type
        assert pa.types.is_struct(kind) == is_struct
        assert pa.types.is_string(kind) != is_struct


@pytest.mark.parametrize("name", ["text", "content", "page_content"])
def test_a_row_is_a_document(name) -> None:
    """Its other columns are its metadata, where no column of that name is there."""
    data = written({"id": [7, 8], name: ["One.", "Two."], "page": [1, None]})

    one, two = documents_in("a.parquet", data)

    assert (one.id, one.text) == ("a.parquet#7", "One.")
    assert one.metadata == {"source": "a.parquet", "page": 1}
    assert two.metadata == {"source": "a.parquet", "page": None}


@pytest.mark.parametrize(
    "column",
    [
        [{"a": 1}],
        ['{"a": 1}'],
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    ],
)
def test_metadata_may_be_one_column(column) -> None:
    """As a struct, as a map or as JSON; columns that nobody reads are left out."""
    data = written({"text": ["One."], "metadata": column, "vector": [[0.1]]})

    assert documents_in("a.parquet", data)[0].metadata == {
        "source": "a.parquet",
        "a": 1,
    }


def test_a_row_without_a_text_is_its_json() -> None:
    """As an object without one is in a file of JSON."""
    lines = b'{"text": null, "n": 1}\n{"text": null, "n": 2}\n'
    data = written({"text": pa.array([None, None], pa.string()), "n": [1, 2]})

    assert [one.text for one in documents_in("a.parquet", data)] == [
        one.text for one in documents_in("a.jsonl", lines)
    ]


def test_values_are_those_of_json() -> None:
    """Plain types stay what they are; times become ISO strings."""
    noon = datetime(2026, 5, 1, 12, 0, 0, 5, tzinfo=UTC)
    values = {
        "a": True,
        "b": 2**40,
        "c": 0.5,
        "d": None,
        "e": [1, None],
        "f": {"g": ["h"]},
        "i": noon,
        "j": date(2026, 5, 1),
        "k": Decimal("1.50"),
        "l": b"bytes",
    }
    (row,) = read({"text": ["t"], "metadata": [values]})

    assert row["metadata"] == {
        **values,
        "i": "2026-05-01T12:00:00.000005+00:00",
        "j": "2026-05-01",
        "k": "1.50",
        "l": "bytes",
    }
    assert type(row["metadata"]["b"]) is int


@pytest.mark.parametrize("int96", [False, True])
def test_nanoseconds_are_cut_off(int96) -> None:
    """Python has no times of them, nested ones neither."""
    kind = pa.timestamp("ns")
    times = pa.array([1_500_000_000_123_456_789], kind)
    nested = pa.StructArray.from_arrays([times], ["at"])
    columns = {"text": ["t"], "at": times, "in": nested}
    (row,) = read(columns, use_deprecated_int96_timestamps=int96)

    assert row["metadata"]["at"] == "2017-07-14T02:40:00.123456"
    assert row["metadata"]["in"] == {"at": "2017-07-14T02:40:00.123456"}


def test_our_own_keys_are_metadata_like_any() -> None:
    """A column may name the source, as the metadata of JSON may, and nothing else."""
    lines = b'{"text": "t", "metadata": {"source": "desk", "document_id": "other"}}\n'
    data = written({"text": ["t"], "source": ["desk"], "document_id": ["other"]})

    (one,), (same,) = documents_in("a.parquet", data), documents_in("a.jsonl", lines)

    assert one.metadata == same.metadata == {"source": "desk", "document_id": "other"}
    assert one.id == one.document_id == "a.parquet"


def _nested(depth: int) -> pa.Array:
    array = pa.array([SECRET])
    for _ in range(depth):
        array = pa.StructArray.from_arrays([array], ["in"])
    return array


def _broken() -> pa.Array:
    """Return a column of text that is no UTF-8."""
    bytes_ = pa.array([b"\xff" + SECRET.encode()])
    return pa.Array.from_buffers(pa.string(), 1, bytes_.buffers())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is no valid Parquet file"),
        (SECRET.encode() + b"PAR1", "is no valid Parquet file"),
        (written({"text": [SECRET]})[:-9], "is no valid Parquet file"),
        (written({"text": [SECRET]})[40:], "is no valid Parquet file"),
        (written({}), "has not from 1 to 1,000 columns"),
        (written({str(n): [SECRET] for n in range(1001)}), "1,000 columns"),
        (
            written(pa.table([[SECRET], ["b"]], names=["text", "text"])),
            "two columns of one name",
        ),
        (written({"text": ["t"], "in": _nested(40)}), "is no valid Parquet file"),
        (written({"text": ["t"], "raw": [b"\xff"]}), "bytes that are no UTF-8 text"),
        (written({"text": _broken()}), "is no valid Parquet file"),
        (written({"text": ["t"], "metadata": [SECRET]}), "row 1 has metadata"),
        (written({"text": ["t"], "metadata": ["[1]"]}), "row 1 has metadata"),
        (written({"text": ["t"], "metadata": [3]}), "row 1 has metadata"),
        (
            written(
                {
                    "text": ["t"],
                    "m": pa.array(
                        [[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64())
                    ),
                }
            ),
            "names a key of a map twice",
        ),
        (
            written({"text": ["t"], "at": pa.array([2**62], pa.timestamp("us"))}),
            "is no valid Parquet file",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(data, reason) -> None:
    """The reason says why in no word of the file."""
    with pytest.raises(UnreadableError, match=reason) as refused:
        documents_in("a.parquet", data)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


LONG = "a" * 1_000_000


def _packed() -> bytes:
    plain = {"use_dictionary": False, "write_statistics": False}
    return written({"text": [LONG * 201]}, compression="zstd", **plain)


def _references() -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * 1000), pa.array([LONG]))


def _referred_to() -> bytes:
    return written({"text": _references()})


def _referred_to_in_a_list() -> bytes:
    listed = pa.ListArray.from_arrays(pa.array([0, 1000]), _references())
    return written({"text": ["t"], "m": listed})


def _prefixes() -> bytes:
    plain = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    return written({"text": [LONG] * 201}, compression="zstd", **plain)


def _repeated() -> bytes:
    ones = pa.repeat(1, 10_000_001)
    listed = pa.ListArray.from_arrays(pa.array([0, len(ones)]), ones)
    return written({"text": ["t"], "m": listed})


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_packed, "200,000,000 bytes"),
        (_referred_to, "200,000,000 bytes"),
        (_referred_to_in_a_list, "200,000,000 bytes"),
        (_prefixes, "200,000,000 bytes"),
        (_repeated, "10,000,000 values"),
    ],
)
def test_a_few_bytes_that_stand_for_many_are_refused(make, reason) -> None:
    """However they are made to: each value is counted as large as it will be."""
    data = make()
    assert len(data) < 100_000
    with pytest.raises(UnreadableError, match=reason):
        documents_in("a.parquet", data)


@pytest.mark.parametrize("limit", ["MAX_UNPACKED", "MAX_VALUES", "MAX_ROWS"])
def test_limits_are_those_of_what_is_held(monkeypatch, limit) -> None:
    """Of the whole file, or of one row group where only that is held."""
    data = written(
        {"text": [f"Text {n}." for n in range(40)]},
        row_group_size=10,
        use_dictionary=False,
    )
    most = {"MAX_UNPACKED": 300, "MAX_VALUES": 250, "MAX_ROWS": 25}[limit]
    monkeypatch.setattr(parquet_limits, limit, most)

    assert len(list(parquet_rows(data, whole=False))) == 40
    with pytest.raises(UnreadableError, match=f"more than {most}"):
        list(parquet_rows(data))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_pages_say_what_they_unpack_to(version, use_dictionary) -> None:
    """Their own headers are read, which agree with the footer of an honest file."""
    data = written(
        {"text": [f"Text {n % 700}." for n in range(5000)], "n": [[1, None]] * 5000},
        data_page_version=version,
        use_dictionary=use_dictionary,
        data_page_size=1000,
        write_page_checksum=True,
    )
    footer = pq.read_metadata(io.BytesIO(data)).row_group(0)
    for column in map(footer.column, range(2)):
        start = column.dictionary_page_offset or column.data_page_offset
        length = column.total_compressed_size
        pages = list(page_sizes(memoryview(data), start, length))
        unpacked = sum(one.unpacked for one in pages)
        assert len(pages) > 2
        assert sum(one.values for one in pages) >= column.num_values
        assert unpacked < column.total_uncompressed_size < unpacked + 100 * len(pages)


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
def test_no_type_is_built_that_a_library_has_registered(name) -> None:
    """Building it may run code of its own: those of Ray can read pickles."""
    column = pa.ExtensionArray.from_storage(Registered(), pa.array([SECRET]))
    data = written({name: column})
    pa.register_extension_type(Registered())
    try:
        with pytest.raises(UnreadableError, match="only another program knows"):
            documents_in("a.parquet", data)
        assert not Registered.built
        pq.read_metadata(io.BytesIO(data))
        assert Registered.built  # or it would be no proof
    finally:
        Registered.built = False
        pa.unregister_extension_type("sdrag.test")


def test_what_pandas_wrote_about_a_table_is_not_used() -> None:
    """Neither its indexes nor its types."""
    table = pa.table({"text": ["t"], "page": [1]})
    about = {b"pandas": b'{"index_columns": ["text"], "columns": [{"numpy_type": 3}]}'}

    (row,) = parquet_rows(written(table.replace_schema_metadata(about)))

    assert row["metadata"] == {"page": 1}


GOOD = written(
    {"text": [SECRET, "Two."], "metadata": [{"a": [1, 2]}, {"a": []}]},
    row_group_size=1,
)


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=3))
def test_a_broken_file_is_read_or_refused(place: int, other: bytes) -> None:
    """Whichever bytes are wrong, no other error is raised."""
    data = GOOD[:place] + other + GOOD[place + len(other) :]
    with suppress(UnreadableError):
        documents_in("a.parquet", data)


@pytest.mark.parametrize("byte", [0x00, 0x15, 0x23, 0xFF])
def test_no_wrong_byte_ends_the_process(byte: int) -> None:
    """What pyarrow throws where nobody catches it would end the host with it."""
    for place in range(len(GOOD)):
        data = GOOD[:place] + bytes([byte]) + GOOD[place + 1 :]
        with suppress(UnreadableError):
            documents_in("a.parquet", data)


def test_two_readings_of_a_footer_are_refused() -> None:
    """A column's description that comes twice is read in two ways by two readers."""
    length = int.from_bytes(GOOD[-8:-4], "little")
    footer = GOOD[-8 - length : -8]
    assert row_groups(memoryview(GOOD), 2)
    twice = b"\x15\x02\x05\x02\x02"  # the version, and the version again
    assert footer.startswith(b"\x15")
    data = GOOD[: -8 - length] + twice + footer[2:]
    data += (len(footer) + 3).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError):
        row_groups(memoryview(data), 2)


def test_a_footer_says_where_columns_are() -> None:
    """As pyarrow says of an honest file."""
    data = written(
        {"text": ["One.", "Two."], "in": [{"a": 1, "b": "c"}] * 2}, row_group_size=1
    )
    metadata = pq.read_metadata(io.BytesIO(data))
    expected = [
        [
            (
                column.dictionary_page_offset or column.data_page_offset,
                column.total_compressed_size,
            )
            for column in map(metadata.row_group(number).column, range(3))
        ]
        for number in range(2)
    ]

    found = row_groups(memoryview(data), 3)

    assert [[(one.start, one.length) for one in group] for group in found] == expected


def test_a_missing_pyarrow_is_one_clear_error(monkeypatch) -> None:
    """It names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"sdrag\[parquet\]"):
        documents_in("a.parquet", GOOD)
