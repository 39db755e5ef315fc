"""
What the policy's own patterns cost: one constraint on dates, with and without 200.

Half of the patterns are numbers behind three letters, half words with a group. They
match nothing: what is measured is the search.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from sdrag.disclosure.local import LocalLocator
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

_TEXTS = Path(__file__).parents[1] / "scorer" / "passages"
_LETTERS = "abcdefghklmnprst"
_CHUNK, _DOCUMENT = 1_000, 50_000


def patterns(*, size: int = 1_000_000, number: int = 200) -> dict[str, Any]:
    """
    Measure the local engine on so many characters, with so many patterns.

    Seconds are those of the processor.
    """
    text = "\n\n".join(path.read_text() for path in sorted(_TEXTS.glob("*.txt")))[:size]
    passages = [
        Passage(str(at), text[at : at + _CHUNK], document_id=str(at // _DOCUMENT))
        for at in range(0, len(text), _CHUNK)
    ]
    chance = Random(1)
    made = [{"name": "house code", **_make(n, chance)} for n in range(number)]
    without = {"constraints": ["Hide dates"]}
    with_them = {"constraints": ["Hide dates", "Hide house codes"], "patterns": made}
    seconds = [_time(passages, Policy.read(each)) for each in (without, with_them)]
    return {
        "characters": len(text),
        "seconds without": seconds[0],
        "seconds with": seconds[1],
        "times": seconds[1] / seconds[0],
    }


def _make(number: int, chance: Random) -> dict[str, Any]:
    if number % 2:
        letters = "".join(chance.choices(_LETTERS.upper(), k=3))
        return {"pattern": rf"\b{letters}-?\d{{4,6}}\b"}
    words = ("".join(chance.choices(_LETTERS, k=6)) for _ in range(5))
    return {"pattern": rf"(?:{'|'.join(words)})[- ](\d+)", "group": 1}


def _time(passages: list[Passage], policy: Policy) -> float:
    runner = PortRunner(Ports())
    run(LocalLocator().locate(passages[:50], policy.rules), runner)  # warms up
    start = process_time()
    run(LocalLocator().locate(passages, policy.rules), runner)
    return process_time() - start
