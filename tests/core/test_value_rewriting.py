"""Nested values: every text in a copy is rewritten, and nothing else rides along."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
from pathlib import PurePosixPath
from typing import Any

import pytest
from pydantic import BaseModel

from sdrag.errors import InputTooLargeError
from sdrag.text.values import rewrite_value, texts_in

NAME = "Karlsson"


class Suspect(enum.Enum):
    """A member whose value is a name."""

    FIRST = NAME


class Count(int):
    """A number that says more than its digits."""

    def __repr__(self) -> str:
        return NAME


@dataclasses.dataclass
class Record:
    """A record."""

    who: str = NAME


class Model(BaseModel):
    """A record of pydantic's."""

    who: str = NAME


class Framework:
    """An object that an adapter knows."""

    text = NAME


def rebuild(value: Any, recurse: Any) -> Any:
    return [recurse(value.text)] if isinstance(value, Framework) else NotImplemented


def cut(text: str) -> str | None:
    """Cut the name out, and withhold what is secret."""
    return None if text == "secret" else text.replace(NAME, "[-]")


def rewritten(value: Any) -> Any:
    return rewrite_value(value, cut, withheld="nothing", rebuild=rebuild)


CASES = [
    (f"of {NAME}", "of [-]"),
    ("", ""),
    ("secret", "nothing"),
    (None, None),
    (True, True),
    (2.5, 2.5),
    (Count(3), 3),
    ({"who": [NAME, (NAME,)]}, {"who": ["[-]", ["[-]"]]}),
    ({NAME: 1, "secret": 2, 3: NAME}, {"3": "[-]"}),
    ({NAME}, ["[-]"]),
    (Suspect.FIRST, "[-]"),
    (Record(), {"who": "[-]"}),
    (Model(), {"who": "[-]"}),
    (Framework(), ["[-]"]),
    (dt.date(2020, 1, 2), "2020-01-02"),
    (PurePosixPath(f"/of/{NAME}"), "/of/[-]"),
    (NAME.encode(), "nothing"),
    (object(), "nothing"),
    (10**5000, "nothing"),
]


@pytest.mark.parametrize(("value", "left"), CASES, ids=map(str, range(len(CASES))))
def test_a_copy_holds_what_is_released(value, left):
    made = rewritten(value)

    assert made == left
    assert type(made) is type(left)
    assert NAME not in repr(made)


def test_the_value_itself_stays():
    value = {"who": [NAME, {"also": NAME}]}
    before = copy.deepcopy(value)

    rewritten(value)

    assert value == before


def test_a_value_that_is_too_deep_is_withheld():
    """Also one that holds itself."""
    value: list[Any] = [NAME]
    value.append(value)

    assert NAME not in repr(rewritten(value))


def test_a_value_that_repeats_itself_is_refused():
    """Each list holds the last one twice, so reading it would never end."""
    value: list[Any] = [NAME]
    for _ in range(30):
        value = [value, value]

    with pytest.raises(InputTooLargeError, match="100,000 parts"):
        rewritten(value)


def test_every_text_is_collected_once():
    """Keys and numbers too, but for the keys of frameworks and what is blank."""
    value = {"args": [NAME, NAME, " "], "who": 3, "is": {"type": None}}

    assert texts_in(value, rebuild) == ("who", "is", NAME, "3")
