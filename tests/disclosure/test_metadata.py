"""What of the metadata may leave: by key, at every depth, bounded, as plain data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from sdrag.disclosure.metadata import leaves, plain, rewritten
from sdrag.disclosure.texts import Texts
from sdrag.engine.steps import Reply, run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import MetadataSection
from sdrag.testing import Scripted
from sdrag.text.nested_values import MOST_DEPTH, MOST_VALUES
from sdrag.vocabulary import Constraint, Finding, Passage, Span

NAME = "Karlsson"
POLICY = {
    "constraints": [{"id": "n", "text": f'Do not mention "{NAME}"', "where": {}}],
    "metadata": {"allow": ["read"], "verbatim": ["unread"]},
}
DEPTHS = range(1, 41)


def in_lists(depth: int) -> Any:
    value: Any = NAME
    for _ in range(depth):
        value = [value]
    return value


def in_mappings(depth: int) -> Any:
    value: Any = NAME
    for _ in range(depth):
        value = {"inner": value}
    return value


def in_keys(depth: int) -> Any:
    value: Any = {NAME: 1}
    for _ in range(depth - 1):
        value = {"inner": value}
    return value


def in_both(depth: int) -> Any:
    value: Any = NAME
    for level in range(depth):
        value = {"inner": value} if level % 2 else (value,)
    return value


def in_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def in_itself_twice() -> Any:
    value: dict[str, Any] = {}
    value["one"] = value["other"] = value
    return value


def doubled(times: int) -> Any:
    value: Any = []
    for _ in range(times):
        value = [value, value]
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


def released(metadata: dict[str, Any], policy: Any = POLICY) -> dict[str, Any]:
    passage = Passage("p", "The harbour opens at six.", metadata)
    engine = Engine.build(policy)
    (one,) = run(disclose([passage], Request("?"), engine), Scripted()).passages
    return dict(one.metadata)


@pytest.mark.parametrize("nested", [in_lists, in_mappings, in_keys, in_both])
@pytest.mark.parametrize("depth", DEPTHS)
def test_what_is_not_read_does_not_leave(nested, depth):
    """A string is redacted at every depth that leaves; deeper, its key is left out."""
    metadata = plain({"key": nested(depth)}, ["key"])

    read = leaves(metadata)
    left = rewritten(metadata, lambda said: said.replace(NAME, "#"))

    assert (NAME in read) is (depth <= MOST_DEPTH)
    assert ("key" in left) is (depth <= MOST_DEPTH)
    assert NAME not in str(left)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 40])
def test_a_name_is_cut_out_of_what_leaves_however_deep_it_is(depth):
    """The engine reads as deep as the release writes."""
    left = released({"read": in_both(depth)})

    assert NAME not in str(left)
    assert ("[name]" in str(left.get("read"))) is (depth <= MOST_DEPTH)


@pytest.mark.parametrize(
    "value",
    [
        in_itself(),
        in_itself_twice(),
        doubled(MOST_DEPTH - 2),
        list(range(MOST_VALUES)),
        dict.fromkeys(map(str, range(MOST_VALUES))),
        {dt.date(2024, 5, 3): 1},
        {("Anna", NAME): 1},
        {"key": {"lc": 1}},
        [{"__lc_escaped__": {}}],
        10**5_000,
    ],
    ids=range(10),
)
def test_a_value_that_cannot_be_read_whole_is_left_out(value):
    """Its key goes, and no other key does."""
    metadata = {"one": value, "other": "x"}

    assert plain(metadata, metadata) == {"other": "x"}


def test_the_values_of_one_passage_share_a_bound():
    """Many keys hold no more than one."""
    half = list(range(MOST_VALUES // 2))
    metadata = {"a": half, "b": half, "c": [1]}

    assert plain(metadata, metadata).keys() == {"a", "c"}


def test_an_embedding_is_small_enough():
    """A vector of 3,072 numbers leaves."""
    vector = [0.5] * 3072

    assert plain({"v": vector}, ["v"]) == {"v": vector}


def test_a_value_is_read_once():
    """What leaves is what was read, whatever the host's object says next time."""
    metadata = plain({"key": Changing()}, ["key"])

    assert leaves(metadata) == ["key", "nothing"]
    assert rewritten(metadata, lambda said: said) == {"key": {"key": "nothing"}}


def test_the_hosts_values_are_not_changed():
    """Copies leave."""
    inner = {"a": [NAME]}
    left = released({"read": inner, "unread": inner})

    left["unread"]["a"].append("more")

    assert inner == {"a": [NAME]}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (NAME, NAME),
        ([NAME, 7], [NAME, 7]),
        ((NAME, None), [NAME, None]),
        ({NAME: {"by": NAME}}, {NAME: {"by": NAME}}),
        (in_lists(MOST_DEPTH), in_lists(MOST_DEPTH)),
    ],
    ids=range(5),
)
def test_verbatim_values_leave_as_they_are(value, left):
    """No constraint reads them."""
    assert released({"unread": value})["unread"] == left


@pytest.mark.parametrize(
    "value",
    [{NAME}, NAME.encode(), object(), {"lc": 1}, in_lists(MOST_DEPTH + 1), in_itself()],
    ids=range(6),
)
def test_verbatim_values_are_plain_data(value):
    """Everything else is left out under any key."""
    assert "unread" not in released({"unread": value})


def test_verbatim_holds_for_keys_of_the_metadata_alone():
    """A key inside a value is read with the value."""
    left = released({"read": {"unread": NAME}})

    assert list(left["read"].values()) == ["[name]"]


def test_a_key_that_no_list_names_stays():
    """Neither list opens another key."""
    assert released({"other": "x", "unread": "y"}) == {"unread": "y"}


def test_a_verbatim_key_wins_over_an_allowed_one():
    """It stands in both lists, so nobody reads it."""
    policy = {**POLICY, "metadata": {"allow": ["key"], "verbatim": ["key"]}}

    assert released({"key": NAME}, policy) == {"key": NAME}


def test_verbatim_values_are_no_texts():
    """Neither the local engine nor a model is handed them."""
    section = MetadataSection(allow=("read",), verbatim=("unread",))
    passage = Passage("p", "x", {"read": "title", "unread": NAME})

    texts = Texts((passage,), (Constraint("n", "Remove names"),), section)

    assert [text.text for text in texts.all] == ["x", "title"]
    assert texts.leaves == [("p",)]


@pytest.mark.parametrize("key", ["lc", "__lc_escaped__"])
@pytest.mark.parametrize("name", ["allow", "verbatim"])
def test_no_list_takes_a_loaders_key(name, key):
    """A loader would make an object of what leaves under it."""
    with pytest.raises(ValidationError):
        MetadataSection(**{name: (key,)})


def test_both_lists_name_what_may_leave():
    """Each key once, the allowed ones first."""
    section = MetadataSection(allow=("a", "b"), verbatim=("b", "c"))

    assert section.keys == ("a", "b", "c")


class Finds:
    """A locator that finds one word, for the reason that it is given."""

    identity = "one word"

    def __init__(self, word: str, reason: str) -> None:
        self.word = word
        self.reason = reason

    def locate(self, passages, constraints):
        yield from ()
        return [
            Reply(
                tuple(
                    Finding(Span(start, start + len(self.word)), rule.id, self.reason)
                    for rule in constraints
                    if (start := passage.text.find(self.word)) >= 0
                )
            )
            for passage in passages
        ]


def found(word: str, reason: str, value: str, text: str = "It rained.") -> Any:
    passage = Passage("p", text, {"key": value}, document_id="d")
    policy = {
        "constraints": [{"id": "c", "text": "Hide how the safe was opened"}],
        "metadata": {"allow": ["key"]},
    }
    engine = Engine.build(policy, locator=Finds(word, reason))
    (one,) = run(disclose([passage], Request("?"), engine), Scripted()).passages
    return one.metadata.get("key")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("7f9c24e8-3b12-4c55-9f2e-1d0f6a7b8c9d", "3b12"),
        ("https://example.org/docs/page-12", "page-12"),
        ("https://example.org/docs%2Fhandbook.pdf", "handbook"),
        ("/srv/data/corpus/chunk_0001.txt", "corpus"),
        ("chunk-12", "chunk"),
    ],
)
@pytest.mark.parametrize("reason", ["scored", "cue", "type"])
def test_what_is_found_by_chance_takes_nothing_of_a_technical_value(
    reason, value, word
):
    """The scorer has an opinion on every digit, also of what a value decodes to."""
    assert found(word, reason, value) == value


@pytest.mark.parametrize("reason", ["scored", "cue", "type", "checked"])
def test_everything_counts_in_prose(reason):
    """A title is judged as a text is."""
    assert found("crowbar", reason, "With a crowbar") == "With a [withheld]"


@pytest.mark.parametrize(
    "value",
    [
        "https://example.org/docs/ab.cd/handbook.pdf",
        "https://example.org/docs%2Fab.cd%2Fhandbook.pdf",
        "/srv/data/ab.cd/file.txt",
    ],
)
@pytest.mark.parametrize("reason", ["checked", "named", "model", "local"])
def test_what_is_sure_takes_what_it_found(reason, value):
    """A checked form, a name of the constraint, a plug-in's or a model's finding."""
    assert "ab.cd" not in str(found("ab.cd", reason, value))


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("data/page-12", "data/page-12"),
        ("data", "[withheld]"),
        ("data were there", "[withheld] were there"),
    ],
)
def test_a_word_that_means_something_in_the_text_means_nothing_in_a_path(value, left):
    """It is known again by the words beside it, and a path has none."""
    assert found("data", "scored", value, "He opened it with data") == left


def test_a_form_that_was_located_in_the_text_goes_from_a_path():
    """A rare word is a form, whatever it was found for."""
    left = found("crowbar", "scored", "/srv/data/crowbar.pdf", "With a crowbar")

    assert left is None or "crowbar" not in left
