"""What stands in metadata beside strings leaves as plain data, or not at all."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
from pathlib import PurePosixPath
from typing import Any, Self

import numpy as np
import pytest
from pydantic import BaseModel

from sdrag.vocabulary import Passage

from ..support.faces import Scenario, langchain_invoke, llamaindex_retrieve

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [{"id": "n", "text": "Remove the names of witnesses", "where": {}}],
    "metadata": {"allow": ["kept"]},
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


def released(value: Any, face: Any) -> dict[str, Any]:
    passage = Passage("p", "The harbour opens at six.", {"kept": value})
    ((_, _, metadata),) = face(Scenario("metadata", (passage,), POLICY))
    return metadata


both = pytest.mark.parametrize("face", [langchain_invoke, llamaindex_retrieve])


@both
@pytest.mark.parametrize(
    ("value", "plain"), PLAIN, ids=lambda value: type(value).__name__
)
def test_a_value_of_a_plain_type_leaves_as_that_type(value, plain, face):
    """Nothing that a class of the host's hangs on it leaves along."""
    kept = released(value, face)["kept"]

    assert kept == plain
    assert repr(kept) == repr(plain)


@both
@pytest.mark.parametrize("value", LEFT_OUT, ids=lambda value: type(value).__name__)
def test_anything_else_stays_behind(value, face):
    """Nobody can judge it, however it is spelt."""
    assert "kept" not in released(value, face)
