"""The documents of the example; yours are in your own store already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

PROMPT = """Answer the question from these passages alone.

{passages}

Question: {question}"""


class Note(NamedTuple):
    """One document."""

    source: str
    tenant: str
    text: str


def notes(path: str) -> list[Note]:
    """Read documents, one JSON object a line."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [Note(**json.loads(line)) for line in lines]
