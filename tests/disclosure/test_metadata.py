"""What of the metadata may leave: by key, at every depth, bounded, as plain data."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import lzma
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import ValidationError

from sdrag.disclosure.plain_values import copy_plain, find_labelled, rewrite_values
from sdrag.disclosure.texts import Texts
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import MetadataSection
from sdrag.text.nested import MOST_DEPTH, MOST_VALUES
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted, locate_by
from ..support.tables import each_row

NAME = "Karlsson"
POLICY = {
    "constraints": [{"id": "n", "text": f'Do not mention "{NAME}"', "where": {}}],
    "metadata": {"allow": ["read"], "verbatim": ["unread"]},
}


def nest(depth: int, wrap: Callable[[Any], Any], value: Any = NAME) -> Any:
    for _ in range(depth):
        value = wrap(value)
    return value


def in_lists(depth: int) -> Any:
    return nest(depth, lambda value: [value])


def in_mappings(depth: int) -> Any:
    return nest(depth, lambda value: {"inner": value})


def in_keys(depth: int) -> Any:
    return nest(depth - 1, lambda value: {"inner": value}, {NAME: 1})


def in_tuples(depth: int) -> Any:
    return nest(depth, lambda value: (value,))


def in_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def in_itself_twice() -> Any:
    value: dict[str, Any] = {}
    value["one"] = value["other"] = value
    return value


class Changing(Mapping[str, str]):
    """A mapping that says something else whenever it is read."""

    def __init__(self) -> None:
        self.times = 0

    def __iter__(self):
        return iter(["key"])

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: str) -> str:
        self.times += 1
        return NAME if self.times > 1 else "nothing"


def released(metadata: dict[str, Any]) -> dict[str, Any]:
    passage = Passage("p", "The harbour opens at six.", metadata)
    (one,) = run(disclose([passage], Request("?"), Engine(POLICY)), Scripted()).passages
    return dict(one.metadata)


@each_row("depth", [1, 2, 31, 32, 33, 40])
def test_what_is_not_read_does_not_leave(depth):
    """The engine reads as deep as the release writes; deeper, the key is left out."""
    for nested in (in_lists, in_mappings, in_keys, in_tuples):
        metadata = copy_plain({"key": nested(depth)}, ["key"])
        left = released({"read": nested(depth)})

        assert (NAME in dict(map(reversed, find_labelled(metadata)))) is (
            depth <= MOST_DEPTH
        )
        assert ("read" in left) is (depth <= MOST_DEPTH)
        assert ("[name]" in str(left)) is (depth <= MOST_DEPTH)
        assert NAME not in str(left)


def test_every_value_of_a_nested_mapping_is_read():
    """Not only the last one, nor one of those whose keys read alike."""
    told = {"first": NAME, "second": f"by {NAME}", "third": [{"a": NAME, "b": "x"}]}

    assert NAME not in str(released({"read": told}))
    assert released({"read": told})["read"].keys() == told.keys()
    for order in permutations((NAME, "x", "y")):
        inner = dict(zip("abc", order, strict=True))
        assert NAME in [leaf for _, leaf in find_labelled({"key": inner})]


UNREADABLE = [
    in_itself(),
    in_itself_twice(),
    nest(MOST_DEPTH - 2, lambda value: [value, value], []),
    list(range(MOST_VALUES)),
    dict.fromkeys(map(str, range(MOST_VALUES))),
    {dt.date(2024, 5, 3): 1},
    {("Anna", NAME): 1},
    {"key": {"lc": 1}},
    [{"__lc_escaped__": {}}],
    10**5_000,
    {NAME},
    NAME.encode(),
    object(),
    in_lists(MOST_DEPTH + 1),
]


def test_a_value_that_cannot_be_read_whole_is_left_out():
    """Its key goes, and no other key does; also where no constraint reads it."""
    for place, value in enumerate(UNREADABLE):
        metadata = {"one": value, "other": "x"}
        assert copy_plain(metadata, metadata) == {"other": "x"}, place
        assert "unread" not in released({"unread": value}), place


def test_the_values_of_one_passage_share_a_bound():
    """Many keys hold no more than one."""
    half = list(range(MOST_VALUES // 2))
    metadata = {"a": half, "b": half, "c": [1]}

    assert copy_plain(metadata, metadata).keys() == {"a", "c"}


def test_a_value_is_read_once():
    """What leaves is what was read, whatever the host's object says next time."""
    metadata = copy_plain({"key": Changing()}, ["key"])

    assert find_labelled(metadata) == [("", "key"), ("key", "nothing")]
    assert rewrite_values(metadata, lambda _, said: said) == {"key": {"key": "nothing"}}


@each_row(
    "value, left",
    [
        (NAME, NAME),
        ([NAME, 7], [NAME, 7]),
        ((NAME, None), [NAME, None]),
        ({NAME: {"by": NAME}}, {NAME: {"by": NAME}}),
        (in_lists(MOST_DEPTH), in_lists(MOST_DEPTH)),
    ],
)
def test_verbatim_values_leave_as_they_are(value, left):
    """No constraint reads them, and copies leave."""
    kept = released({"unread": value})["unread"]

    assert kept == left
    assert kept is not value or isinstance(value, str)


def test_verbatim_values_are_no_texts():
    """Neither the local engine nor a model is handed them."""
    section = MetadataSection(allow=("read",), verbatim=("unread",))
    passage = Passage("p", "x", {"read": "title", "unread": NAME})

    texts = Texts((passage,), (Constraint("n", "Remove names"),), section)

    assert [text.text for text in texts.all] == ["x", "title"]
    assert texts.leaves == [("p",)]


def test_no_list_takes_a_loaders_key():
    """A loader would make an object of what leaves under it."""
    for name in ("allow", "verbatim"):
        for key in ("lc", "__lc_escaped__"):
            with pytest.raises(ValidationError):
                MetadataSection(**{name: (key,)})


AGES_AND_PAY = {
    "constraints": ["Hide ages and salaries"],
    "metadata": {
        "allow": [*("age", "salary", "person", "people", "ages", "page", "start_index")]
    },
}


@each_row(
    "metadata, left",
    [
        ({"age": 45, "salary": 12400}, {}),
        ({"age": "45", "salary": "12400"}, {}),
        ({"salary": 12400.5, "page": 12}, {"page": 12}),
        ({"page": 45, "age": 45}, {"page": 45}),
        ({"start_index": 15234, "salary": 12400}, {"start_index": 15234}),
        ({"person": {"age": 45, "salary": 12400, "page": 3}}, {"page": 3}),
        ({"people": [{"age": 45}, {"page": 45}]}, {"page": 45}),
        ({"ages": [45, 46]}, {}),
    ],
)
def test_a_number_is_read_with_its_key(metadata, left):
    """Like a line of a structure; a placeholder stands in place of a hidden one."""
    passage = Passage("p", "It rained.", metadata)
    (one,) = run(
        disclose([passage], Request("?"), Engine(AGES_AND_PAY)), Scripted()
    ).passages
    kept = {key: one.metadata[key] for key in metadata}
    values = [each for each in find_labelled(kept) if each[0]]

    assert {key: value for key, value in values if value != "[amount]"} == left


def found(word: str, reason: str, value: str) -> Any:
    passage = Passage("p", "It rained.", {"key": value}, document_id="d")
    policy = {
        "constraints": [{"id": "c", "text": "Hide how the safe was opened"}],
        "metadata": {"allow": ["key"]},
    }
    engine = locate_by(Engine(policy), re.escape(word), reason)
    (one,) = run(disclose([passage], Request("?"), engine), Scripted()).passages
    return one.metadata.get("key")


UUID = "7f9c24e8-3b12-4c55-9f2e-1d0f6a7b8c9d"


def test_what_is_found_by_chance_takes_nothing_of_a_technical_value():
    """The scorer has an opinion on every digit; what has a type takes what it found."""
    for reason in ("scored", "again"):
        for word, value in (
            ("3b12", UUID),
            ("b204", "d41d8cd98f00b204e9800998ecf8427e"),
            ("05-03", "2024-05-03T10:11:12Z"),
        ):
            assert found(word, reason, value) == value
    assert "3b12" not in str(found("3b12", "type", UUID))


def test_everything_counts_in_prose():
    """A title is judged as a text is."""
    for reason in ("scored", "cue", "type", "checked"):
        assert found("crowbar", reason, "With a crowbar") == "With a [withheld]"


def test_what_is_sure_takes_what_it_found():
    """A checked form, a name of the constraint, a plug-in's or a model's finding."""
    for reason in ("checked", "named", "model", "local"):
        for value in (
            "https://example.org/docs/ab.cd/handbook.pdf",
            "https://example.org/docs%2Fab.cd%2Fhandbook.pdf",
            "/srv/data/ab.cd/file.txt",
        ):
            assert "ab.cd" not in str(found("ab.cd", reason, value))


def in_base64(raw: bytes) -> str:
    return b64encode(raw).decode()


PACKERS: dict[str, Callable[[str], str]] = {
    "gzip": lambda said: in_base64(gzip.compress(said.encode())),
    "gzip in hex": lambda said: gzip.compress(said.encode()).hex(),
    "zlib": lambda said: in_base64(zlib.compress(said.encode())),
    "xz": lambda said: in_base64(lzma.compress(said.encode())),
}


def under(constraints: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Release each value from a passage of its own, in which nothing else is."""
    rules = [{"text": text, "always": True} for text in constraints]
    policy = {"constraints": rules, "metadata": {"allow": ["key"]}, "allow_empty": True}
    passages = [
        Passage(f"p{at}", "It rained.", {"key": value})
        for at, value in enumerate(values)
    ]
    released = run(disclose(passages, Request("?"), Engine(policy)), Scripted())
    by_id = {passage.id: passage.metadata for passage in released.passages}
    return [by_id[f"p{at}"].get("key") for at in range(len(values))]


ENCODERS: list[Callable[[str], str]] = [
    quote,
    lambda said: in_base64(said.encode()),
    lambda said: f"0x{said.encode().hex()}",
    lambda said: "".join(f"&#{ord(letter)};" for letter in said),
    lambda said: '"' + "".join(f"\\u{ord(letter):04x}" for letter in said) + '"',
    lambda said: f"https://a.example/?q={in_base64(said.encode())}",
    lambda said: json.dumps({"sub": in_base64(said.encode())}),
]


def test_an_encoded_value_is_read():
    """What is found in it goes, and what holds nothing stays encoded."""
    told, plain = "The witness Anna Karlsson saw it.", "The harbour opens at six."
    hidden = [encode(told) for encode in ENCODERS]
    harmless = [encode(plain) for encode in ENCODERS]

    left = under(["Remove all names of people"], hidden)

    assert not [
        value for value, kept in zip(hidden, left, strict=True) if value == kept
    ]
    assert all("[" in kept for kept in left)
    assert under(["Remove all names of people"], harmless) == harmless


def test_what_is_packed_is_dropped():
    """Archives and compressed data are not opened; they stay where nothing binds."""
    packed = gzip.compress(b"Anna Karlsson saw it, and so did Jonathan Meyers.")
    values = [
        in_base64(raw)
        for raw in (
            packed[:-12],
            gzip.compress(bytes(10**6)),
            lzma.compress(bytes(10**6)),
            b"PK\3\4" + packed,
            b"\x28\xb5\x2f\xfd" + packed,
        )
    ] + [pack("The harbour opens at six.") for pack in PACKERS.values()]
    values += [
        packed[:-12].hex(),
        f"data:application/gzip;base64,{in_base64(packed[:-12])}",
    ]

    assert under(["Remove all names of people"], values) == [None] * len(values)
    assert under((), values) == values
