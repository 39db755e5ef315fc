"""What stands in metadata beside strings leaves as plain data, or not at all."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
from pathlib import PurePosixPath
from typing import Self

import numpy as np
from pydantic import BaseModel

from sdrag.vocabulary import Passage

from ..support.faces import Scenario, langchain_invoke, llamaindex_retrieve, through

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [{"id": "n", "text": "Remove the names of witnesses", "where": {}}]
}


class Suspect(enum.IntEnum):
    """A number whose repr is a name."""

    Karlsson = 3


class Title(str):
    """A string that carries more than its characters."""

    __slots__ = ("source",)

    def __new__(cls, shown: str) -> Self:
        made = super().__new__(cls, shown)
        made.source = TEXT
        return made

    def __repr__(self) -> str:
        return self.source


class Weight(float):
    """A number that says where it comes from."""

    def __repr__(self) -> str:
        return f"{float(self)} of {NAME}"


@dataclasses.dataclass
class Record:
    """A record."""

    who: str = NAME


class Model(BaseModel):
    """A record of pydantic's."""

    who: str = NAME


PLAIN = [
    (Suspect.Karlsson, 3),
    (Title("Log"), "Log"),
    (Weight(2.5), 2.5),
    (np.float64(2.5), 2.5),
    ({"a": [Suspect.Karlsson, Title("Log")]}, {"a": [3, "Log"]}),
    ((True, None), [True, None]),
]
LEFT_OUT = [
    Record(),
    Model(),
    {NAME},
    NAME.encode(),
    memoryview(NAME.encode()),
    np.array([NAME]),
    PurePosixPath(NAME),
    dt.date(2020, 1, 1),
    decimal.Decimal(1),
    {"lc": 1, "type": "constructor", "id": [NAME]},
    (name for name in [NAME]),
]


@through(langchain_invoke, llamaindex_retrieve)
def test_what_leaves_is_plain_data(face):
    """Nothing that a class of the host's hangs on a value leaves along."""
    values = [value for value, _ in PLAIN] + LEFT_OUT
    metadata = {f"k{place}": value for place, value in enumerate(values)}
    passage = Passage("p", "The harbour opens at six.", metadata)
    policy = {**POLICY, "metadata": {"allow": list(metadata)}}

    ((_, _, left),) = face(Scenario("metadata", (passage,), policy))

    expected = {f"k{place}": plain for place, (_, plain) in enumerate(PLAIN)}
    kept = {name: left[name] for name in left if name != "sdrag"}
    assert kept == expected
    assert repr(kept) == repr(expected)
