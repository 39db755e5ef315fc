"""Generated documents and rules, small ones."""

from __future__ import annotations

import random

from sdrag.vocabulary import Passage

KEY = b"0123456789abcdef"
PEOPLE = ("Jane Doe", "Mark Lindqvist", "Anna Kowalska", "Peter Hughes", "Tom Baker")


def corpus(count: int = 200) -> list[Passage]:
    draw = random.Random(1)
    return [
        Passage(
            f"{draw.choice(PEOPLE).lower().replace(' ', '_')}-{number}.txt",
            f"{draw.choice(PEOPLE)} met {draw.choice(PEOPLE)} about case "
            f"KV-{draw.randrange(40) + 7719200} on {draw.randrange(28) + 1} May 2021.",
            {"source": f"{draw.choice(PEOPLE)} {number // 4}", "n": [1, {"a": (1,)}]},
        )
        for number in range(count)
    ]
