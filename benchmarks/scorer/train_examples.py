"""
Train the head that weighs examples: how much counts what, in a sentence's logit.

It learns from episodes: a constraint, one to six examples of it, at times sentences
that stay, and other sentences, of which is known whether they hold it. No network has
seen any of these constraints: they are those of the articles, of one passage in twenty
and of the policies of `benchmarks/readability/development`. Where the networks make
nothing of a constraint, only examples can tell it; that is learned from the documents,
under words that say nothing.

    python -m benchmarks.scorer.train_examples

It prints the weights for `sdrag.disclosure.local.by_example`; half an hour on a core.
The bias is then chosen so that as many absent sentences open as without examples.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from benchmarks.readability.documents import HERE, find_places, read
from benchmarks.scorer.labelled import (
    FOLDER,
    as_example,
    marks_in,
    parts_of,
    read_constraints,
    read_documents,
)
from benchmarks.scorer.texts import Secret, Text, read_texts
from benchmarks.suites.json_files import load_articles
from sdrag import Constraint
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.by_example import (
    compare,
    hear,
    judge,
    learn,
    read_tokens,
)
from sdrag.disclosure.local.by_meaning import needs_meaning
from sdrag.disclosure.local.lesson import HEARD, UNHEARD

ARTICLES = Path(__file__).parents[1] / "articles"
VAGUE = (
    "Hide critical information",
    "Keep the private matters private",
    "Hide our intentions",
)
ABSENT = 400
STAY = 0.4
"""Share of episodes in which sentences are shown to stay."""
SURE = 25
"""Of those that the networks are surest of."""
PRESENT = 0.25
"""What all present sentences of an episode weigh, beside the absent ones."""
DECAY = 0.002
"""Of the weights, in training."""
FEATURES = [name for name in UNHEARD if not name.startswith(("bias", "word"))]
KEPT = [n for n, name in enumerate(["bias", *FEATURES]) if name in HEARD]
"""The features that weigh otherwise where the examples are heard."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document, what of it goes, and how the scorer reads it."""

    document: str
    text: str
    marks: tuple[tuple[int, int], ...]
    chance: float
    read: tuple[Any, Any]


def read_sources() -> Iterator[tuple[str, list[tuple[str, Text]], int]]:
    """Yield words of a constraint, documents, and the number of its secret in them."""
    for name in (None, "development", "unseen", "aside"):
        for row in load_articles(ARTICLES / name if name else None):
            body = row["article_text"]
            secrets = tuple(
                Secret((words,), tuple(find_places(body, *phrases)))
                for words, phrases in row["constraint_to_witness_words"].items()
            )
            yield from _each([(body[:80], Text("article", body, secrets))])
    for text in read_texts()[4::20]:
        yield from _each([(text.body[:80], text)])
    policies: dict[str, list[tuple[str, Text]]] = {}
    for name, policy, document in read(HERE / "development"):
        go = {entry["constraint"]: entry["phrases"] for entry in document["go"]}
        secrets = tuple(
            Secret(
                (rule["text"],),
                tuple(find_places(document["text"], *go.get(rule["id"], ()))),
            )
            for rule in policy
            if needs_meaning(parse(Constraint("c", rule["text"])))
        )
        text = Text(name, document["text"], secrets)
        policies.setdefault(name, []).append((document["id"], text))
    for documents in policies.values():
        yield from _each(documents)
    known = read_documents(FOLDER / "documents", read_constraints(held_out=False))
    numbered = [(str(number), text) for number, text in enumerate(known)]
    for number in range(len(known[0].secrets)):
        yield VAGUE[number % len(VAGUE)], numbered, number


def _each(
    documents: list[tuple[str, Text]],
) -> Iterator[tuple[str, list[tuple[str, Text]], int]]:
    for number, secret in enumerate(documents[0][1].secrets):
        yield secret.wordings[0], documents, number


def read_group(
    words: str, documents: Sequence[tuple[str, Text]], number: int, draw: random.Random
) -> list[Sentence]:
    """Read the sentences of a constraint: all that hold it, and some that do not."""
    places = [
        (name, text.body[a:b], marks_in(text.secrets[number], a, b))
        for name, text in documents
        for a, b in parts_of(text)
    ]
    present = [place for place in places if place[2]]
    absent = [place for place in places if not place[2]]
    if len(present) < 2:
        return []
    chosen = [*present, *draw.sample(absent, min(ABSENT, len(absent)))]
    chances = judge(Constraint("c", words), [text for _, text, _ in chosen])
    return [
        Sentence(name, text, marks, chance, read_tokens(text))
        for (name, text, marks), chance in zip(chosen, chances, strict=True)
    ]


def draw_episode(
    words: str, group: Sequence[Sentence], draw: random.Random
) -> tuple[Any, Any, float] | None:
    """Return features of sentences, whether they hold what goes, and how far heard."""
    present = [each for each in group if each.marks]
    documents = sorted({each.document for each in present})
    several = len({each.document for each in group}) > 1
    count = min(draw.randint(1, 6), len(documents if several else present) - 1)
    if count < 1:
        return None
    shown = (
        [
            draw.choice([each for each in present if each.document == name])
            for name in draw.sample(documents, count)
        ]
        if several
        else draw.sample(present, count)
    )
    if draw.random() < STAY:
        absent = [each for each in group if not each.marks]
        surest = sorted(absent, key=lambda each: -each.chance)[:SURE]
        shown += draw.sample(surest, min(len(surest), draw.randint(1, 3)))
    taken = {each.document for each in shown} if several else set()
    rest = [e for e in group if e not in shown and e.document not in taken]
    labels = np.array([bool(each.marks) for each in rest])
    if not labels.any() or labels.all():
        return None
    examples = tuple(as_example(e.text, e.marks) for e in shown)
    lesson = learn(Constraint("c", words, examples=examples))
    assert lesson is not None
    rows = [
        lesson.describe(each.chance, compare(*each.read, lesson.compared))
        for each in rest
    ]
    features = np.array([[row[name] for name in FEATURES] for row in rows])
    return features, labels, hear(lesson.known["networks of examples"])


def fit(episodes: Sequence[tuple[Any, Any, float]]) -> dict[str, dict[str, float]]:
    """Return the weights where examples are not heard, and what is added where so."""
    rows, labels, weights = [], [], []
    for features, present, heard in episodes:
        count = present.sum()
        one = np.ones((len(features), 1))
        both = np.concatenate([one, features], axis=1)
        rows.append(np.concatenate([both, heard * both[:, KEPT]], axis=1))
        labels.append(present)
        weights.append(np.where(present, PRESENT, 0.05) / count**0.5)
    x = torch.tensor(np.concatenate(rows), dtype=torch.float64)
    y = torch.tensor(np.concatenate(labels), dtype=torch.float64)
    share = torch.tensor(np.concatenate(weights), dtype=torch.float64)
    share /= share.mean()
    spread = x.std(dim=0).clamp(min=0.1)
    spread[0] = 1.0  # of the bias
    chosen = torch.zeros(x.shape[1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([chosen], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (
            cross_entropy((x / spread) @ chosen, y, reduction="none") * share
        ).mean()
        loss = loss + DECAY * (chosen[1:] ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    values = [round(float(value), 3) for value in (chosen / spread).detach()]
    names = ["bias", *FEATURES]
    return {
        "UNHEARD": dict(zip(names, values[: len(names)], strict=True)),
        "HEARD": dict(zip([names[n] for n in KEPT], values[len(names) :], strict=True)),
    }


def main() -> None:
    """Read, draw and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4, help="of each constraint")
    options = parser.parse_args()
    torch.set_num_threads(1)
    draw = random.Random(20)
    episodes = []
    for words, documents, number in read_sources():
        group = read_group(words, documents, number, draw)
        drawn = (draw_episode(words, group, draw) for _ in range(options.draws))
        episodes += filter(None, drawn if group else ())
    for name, weights in fit(episodes).items():
        print(name, weights)


if __name__ == "__main__":
    main()
