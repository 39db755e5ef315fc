"""
Train the network of values: `python -m benchmarks.values.train --out values.npz`.

It learns from what people wrote (`*.jsonl` here and in `../carriers`) and from records.
In a text of a writer every value of one kind is labelled, so a stretch that holds none
of them is known not to be of that kind, and of nothing else. `--without NAME` leaves a
writer out, and says how well their values are told from the rest.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.suites.json_files import read_json
from benchmarks.values.records import TABLES, Records, read_list
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.local.values import BUCKETS, KINDS, Described, PlacedValues
from sdrag.disclosure.local.joined_text import JoinedText, find_mentions
from sdrag.vocabulary import Mention, Passage, Span

FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "carriers")
BAGS = ("form", "label", "around")
WIDTH, HIDDEN = 64, 192
_BATCH = 256
_RATE = 3e-3
_DROP_PIECE, _DROP_LABEL = 0.1, 0.05
_MOST_IN_EIGHT_BITS = 127


class Example(NamedTuple):
    """A value, and what is known of it: that it is of one of the kinds, or of none."""

    value: Described
    kinds: tuple[int, ...]
    is_one: bool


class Network(nn.Module):
    """What `sdrag.detectors.local.values.ValueNetwork` computes, to be trained."""

    def __init__(self, facts: int, seed: int) -> None:
        super().__init__()
        self.draw = np.random.default_rng(seed)
        self.bags = nn.ModuleDict(
            {name: nn.EmbeddingBag(BUCKETS, WIDTH, mode="sum") for name in BAGS}
        )
        for bag in self.bags.values():
            nn.init.normal_(bag.weight, std=0.05)
        self.facts = nn.Linear(facts, WIDTH)
        self.into = nn.Linear(4 * WIDTH, HIDDEN)
        self.deep = nn.Linear(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(KINDS))
        self.dropout = nn.Dropout(0.2)

    def forward(self, values: Sequence[Described]) -> Tensor:
        """Return logits, (values, kinds)."""
        read = [torch.tanh(self._sum(name, values)) for name in BAGS]
        facts = torch.from_numpy(np.stack([value.facts for value in values]))
        read.append(torch.relu(self.facts(facts)))
        states = torch.relu(self.into(self.dropout(torch.cat(read, dim=1))))
        states = states + torch.relu(self.deep(self.dropout(states)))
        logits: Tensor = self.out(states)
        return logits

    def _sum(self, name: str, values: Sequence[Described]) -> Tensor:
        bags = [getattr(value, name) for value in values]
        sizes = np.array([len(bag) for bag in bags])
        weights = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)
        if self.training:
            weights *= self.draw.random(len(weights)) > _DROP_PIECE
            if name == "label":
                weights *= np.repeat(self.draw.random(len(bags)) > _DROP_LABEL, sizes)
        sums: Tensor = self.bags[name](
            torch.from_numpy(np.concatenate(bags).astype(np.int64)),
            torch.from_numpy(np.cumsum(sizes) - sizes),
            per_sample_weights=torch.from_numpy(weights.astype(np.float32)),
        )
        return sums

    def export(self, path: Path) -> None:
        """Write the weights; the tables in eight bits."""
        state = {name: row.detach().numpy() for name, row in self.state_dict().items()}
        packed = {}
        for name in BAGS:
            row = state[f"bags.{name}.weight"]
            scale = np.abs(row).max(axis=1, keepdims=True) / _MOST_IN_EIGHT_BITS + 1e-8
            packed[name] = np.round(row / scale).astype(np.int8)
            packed[f"{name}.scale"] = scale.astype(np.float16)
        for name, ours in (("facts", "facts"), ("into", "in"), ("deep", "deep")):
            packed[ours] = state[f"{name}.weight"].T.astype(np.float16)
            packed[f"{ours}_bias"] = state[f"{name}.bias"].astype(np.float16)
        packed["out"] = state["out.weight"].T.astype(np.float16)
        packed["out_bias"] = state["out.bias"].astype(np.float16)
        np.savez_compressed(path, **packed)


def writers() -> dict[str, list[dict[str, Any]]]:
    """Return the cases of each writer."""
    paths = (path for folder in FOLDERS for path in sorted(folder.glob("*.jsonl")))
    return {path.stem: list(read_json(path)) for path in paths}


def examples(cases: Iterable[dict[str, Any]]) -> Iterator[Example]:
    """Yield what is known of the values of cases."""
    names = {n: k for k, called in TABLES["called"].items() for n in read_list(called)}
    for case in cases:
        parts = _parts_of(case["kind"])
        if not all(part in names for part in parts):
            continue
        kinds = tuple(KINDS.index(names[part]) for part in parts)
        text = case["text"]
        values = PlacedValues(text, mentions_of(text))
        secrets = {s for secret in case["secrets"] for s in _places(text, secret)}
        kept = {s for keep in case["keeps"] for s in _places(text, keep)}
        for span in sorted({*secrets, *values.spans, *kept}):
            inside = any(_is_most(span, secret) for secret in secrets)
            if inside or not any(span.overlaps(secret) for secret in secrets):
                yield Example(_pack(values.describe(span)), kinds, inside)


def _pack(value: Described) -> Described:
    """Return a value whose bags and facts are arrays."""
    bags = (np.array(bag, dtype=np.int32) for bag in value[:-1])
    return Described(*bags, np.array(value.facts, dtype=np.float32))


def _parts_of(kind: str) -> list[str]:
    for mark in (" + ", "+", ", ", " and "):
        kind = kind.lower().replace(mark, "|")
    return kind.removeprefix("nothing ").split("|")


def _places(text: str, value: str) -> Iterator[Span]:
    start = text.find(value)
    while start >= 0:
        yield Span(start, start + len(value))
        start = text.find(value, start + 1)


def _is_most(span: Span, secret: Span) -> bool:
    size = secret.end - secret.start
    return secret.contains(span) and 2 * (span.end - span.start) >= size


def mentions_of(text: str) -> tuple[Mention, ...]:
    """Return what the rules find in a text, as the locator has it."""
    steps = find_mentions([JoinedText.of([Passage("", text)])], LocalDetector())
    try:
        next(steps)
    except StopIteration as done:
        (outcome,) = done.value
        mentions: tuple[Mention, ...] = outcome.value
        return mentions
    raise RuntimeError


def made(many: int, seed: int) -> Iterator[Example]:
    """Yield the values of so many records."""
    records = Records(seed)
    for _ in range(many):
        text, marked = records.record()
        values = PlacedValues(text, mentions_of(text))
        for start, end, kind in marked:
            value = _pack(values.describe(Span(start, end)))
            yield Example(value, (KINDS.index(kind),), is_one=True)


def loss_of(logits: Tensor, batch: Sequence[Example]) -> Tensor:
    """Return the loss: of one of its kinds, or of none of them."""
    chances = functional.log_softmax(logits, dim=1)
    known = torch.zeros_like(chances, dtype=torch.bool)
    for at, example in enumerate(batch):
        known[at, list(example.kinds)] = True
    low = torch.full_like(chances, -1e4)
    chance = torch.logsumexp(torch.where(known, chances, low), dim=1)
    is_one = torch.tensor([example.is_one for example in batch])
    none = torch.log1p(-chance.exp().clamp(max=0.9999))
    return -torch.where(is_one, chance, none).mean()


def train(given: Sequence[Example], epochs: int, seed: int) -> Network:
    """Return a trained network."""
    torch.manual_seed(seed)
    random.seed(seed)
    network = Network(len(given[0].value.facts), seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=1e-3)
    order, steps = list(given), epochs * (len(given) // _BATCH + 1)
    done = 0
    for _ in range(epochs):
        random.shuffle(order)
        for at in range(0, len(order), _BATCH):
            batch = order[at : at + _BATCH]
            done += 1
            for group in optimizer.param_groups:
                group["lr"] = _RATE * min(1, done / 50) * max(0.02, 1 - done / steps)
            loss = loss_of(network([example.value for example in batch]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    network.eval()
    return network


@torch.no_grad()
def score(network: Network, given: Sequence[Example]) -> str:
    """Return how well values of a kind are told from what is none of it."""
    chances = []
    for at in range(0, len(given), 1024):
        logits = network([example.value for example in given[at : at + 1024]])
        chances += list(functional.softmax(logits, dim=1).numpy())
    sure = np.array(
        [row[list(e.kinds)].sum() for row, e in zip(chances, given, strict=True)]
    )
    is_one = np.array([example.is_one for example in given])
    of, none = np.sort(sure[is_one]), np.sort(sure[~is_one])
    area = 1 - np.searchsorted(of, none).mean() / len(of)
    shares = [
        f"{(none < of[int(len(of) * missed)]).mean():.3f}" for missed in (0.02, 0.05)
    ]
    found = [
        f"{(of > none[int(len(none) * share)]).mean():.3f}" for share in (0.95, 0.99)
    ]
    return (
        f"area {area:.4f}; ruled out at 2 % and 5 % missed: {', '.join(shares)};"
        f" found at 5 % and 1 % wrong: {', '.join(found)}"
    )


def main() -> None:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--records", type=int, default=12_000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    started = time.perf_counter()
    known = {name: list(examples(cases)) for name, cases in writers().items()}
    learned = [e for n, rows in known.items() if n not in given.without for e in rows]
    learned += made(given.records, given.seed)
    print(f"{len(learned)} values, {time.perf_counter() - started:.0f} s", flush=True)
    network = train(learned, given.epochs, given.seed)
    network.export(given.out)
    for name in given.without:
        print(name, score(network, known[name]), flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
