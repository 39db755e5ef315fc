"""
Train the head of names: `python -m benchmarks.names.train --out head.npz`.

Frames are filled anew in every epoch, so no text is read twice; court cases and posts
come with other names in them. Of the frames a fifth, of the locales seven and of the
court cases a third are kept back with `--held-out`, and measured at the end.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.names.texts import (
    EITHER,
    Frames,
    Marked,
    court_cases,
    documents,
    posts,
    swap,
)
from benchmarks.names.values import HELD_OUT, LATIN, TRANSCRIBED, Values
from sdrag.detectors.local import head, tables
from sdrag.text.sentences import sentences

WIDTH, NARROW, AFFIX = 48, 32, 12
_TOKENS = 4000
_DROP_WORD, _DROP_AFFIX, _DROP_LIST = 0.2, 0.1, 0.15
Unit = tuple[list[tuple[int, ...]], list[int]]


class Network(nn.Module):
    """What `sdrag.detectors.local.head.Head` computes, to be trained."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors)
        self.narrow = nn.Linear(vectors.shape[1], NARROW, bias=False)
        self.word_in = nn.Linear(NARROW, WIDTH, bias=False)
        self.shape = nn.Embedding(head.SHAPES, WIDTH)
        self.begin = nn.Embedding(head.BUCKETS, AFFIX)
        self.end = nn.Embedding(head.BUCKETS, AFFIX)
        self.affix_in = nn.Linear(AFFIX, WIDTH, bias=False)
        self.lists = nn.Linear(head.BITS, WIDTH)
        self.mean = nn.Linear(WIDTH, WIDTH, bias=False)
        self.convs = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, 3, dilation=d, padding=d) for d in head.DILATIONS
        )
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(WIDTH, len(head.TYPES))

    def forward(self, told: Tensor, mask: Tensor) -> Tensor:
        """Return logits, (units, tokens, types)."""
        word, shape, begin, end = (told[..., at] for at in range(4))
        bits = told[..., 4] | told[..., 5] << (head.BITS - 2)
        listed = (bits[..., None] >> torch.arange(head.BITS) & 1).float()
        if self.training:
            word, begin, end, listed = self._forget(word, begin, end, listed)
        states = torch.relu(
            self.word_in(self.narrow(self.vectors[word]))
            + self.shape(shape)
            + self.affix_in(self.begin(begin))
            + self.affix_in(self.end(end))
            + self.lists(listed)
        )
        real = mask[..., None].float()
        states = states * real
        mean = states.sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)
        for number, conv in enumerate(self.convs):
            out = conv(self.dropout(states).transpose(1, 2)).transpose(1, 2)
            if number == 0:
                out = out + self.mean(mean)
            states = (states + torch.relu(out)) * real
        return self.out(self.dropout(states))

    def _forget(self, *told: Tensor) -> tuple[Tensor, ...]:
        word, begin, end, listed = told
        lost = torch.rand(word.shape) < _DROP_WORD
        word = torch.where(lost, head.KNOWN, word)
        begin = torch.where(torch.rand(word.shape) < _DROP_AFFIX, 0, begin)
        end = torch.where(torch.rand(word.shape) < _DROP_AFFIX, 0, end)
        kept = (torch.rand(listed.shape) > _DROP_LIST).float()
        kept[..., -2:] = 1
        return word, begin, end, listed * kept

    def export(self, path: Path) -> None:
        """Write the weights; the larger tables in eight bits."""
        state = {name: row.detach().numpy() for name, row in self.state_dict().items()}
        rows = {
            "word": state["vectors"] @ state["narrow.weight"].T,
            "word_in": state["word_in.weight"].T,
            "shape": state["shape.weight"],
            "begin": state["begin.weight"],
            "end": state["end.weight"],
            "affix_in": state["affix_in.weight"].T,
            "lists": state["lists.weight"].T,
            "bias": state["lists.bias"],
            "mean": state["mean.weight"].T,
            "out": state["out.weight"].T,
            "out_bias": state["out.bias"],
        }
        for number in range(len(head.DILATIONS)):
            kernel = state[f"convs.{number}.weight"]  # (out, in, 3)
            rows[f"conv{number}"] = kernel.transpose(2, 1, 0).reshape(-1, WIDTH)
            rows[f"bias{number}"] = state[f"convs.{number}.bias"]
        packed = {}
        for name, row in rows.items():
            packed[name] = row.astype(np.float16)
            if name in ("word", "begin", "end"):
                scale = np.abs(row).max(axis=1, keepdims=True) / 127 + 1e-8
                packed[name] = np.round(row / scale).astype(np.int8)
                packed[f"{name}.scale"] = scale.astype(np.float16)
        np.savez_compressed(path, **packed)


def vectors() -> Tensor:
    """Return MiniLM's vectors of frequent words, and one for all others."""
    from benchmarks.networks.layers import load_minilm  # noqa: PLC0415 -- takes long
    from sdrag.embeddings import load_tokenizer  # noqa: PLC0415 -- as above

    pieces = load_minilm().embeddings.word_embeddings.weight.detach()
    tokenizer, rows = load_tokenizer(), []
    for word in list(tables.common_words())[: head.KNOWN]:
        ids = tokenizer.encode(word, add_special_tokens=False).ids
        rows.append(pieces[ids].mean(dim=0))
    known = torch.stack(rows)
    known = (known - known.mean(dim=0)) / known.std()
    return torch.cat([known, torch.zeros(1, known.shape[1])])


def units(marked: Iterable[Marked]) -> Iterator[Unit]:
    """Yield the sentences of marked texts: rows of numbers, and labels."""
    for text, spans in marked:
        typed = sorted(spans, key=lambda s: s[2] != "PERSON")
        parts = sentences(text)
        for part, unit in zip(
            parts, head.read_units(p.of(text) for p in parts), strict=True
        ):
            if unit.rows:
                labels = [_label(part.start + start, typed) for start in unit.starts]
                yield unit.rows, labels


def _label(start: int, spans: list[tuple[int, int, str]]) -> int:
    for first, last, type_ in spans:
        if first <= start < last:
            return -100 if type_ == EITHER else head.TYPES.index(type_)
    return 0


def batches(given: list[Unit], draw: random.Random) -> Iterator[list[Unit]]:
    """Yield units of about one length together."""
    order = sorted(given, key=lambda unit: len(unit[0]) + draw.random() * 4)
    made, batch = [], []
    for unit in order:
        if batch and (len(batch) + 1) * len(unit[0]) > _TOKENS:
            made.append(batch)
            batch = []
        batch.append((unit[0][:200], unit[1][:200]))
    draw.shuffle(made)
    return iter([*made, batch])


def pad(batch: list[Unit]) -> tuple[Tensor, Tensor, Tensor]:
    """Return a batch as tensors: rows, mask, labels."""
    longest = max(len(rows) for rows, _ in batch)
    told = torch.zeros(len(batch), longest, 6, dtype=torch.long)
    labels = torch.full((len(batch), longest), -100)
    mask = torch.zeros(len(batch), longest, dtype=torch.bool)
    for at, (rows, marks) in enumerate(batch):
        told[at, : len(rows)] = torch.tensor(rows)
        labels[at, : len(rows)] = torch.tensor(marks)
        mask[at, : len(rows)] = True
    return told, mask, labels


def score(network: Network, given: list[Unit]) -> str:
    """Return precision and recall of tokens by type."""
    network.eval()
    right, found, gold = (np.zeros(len(head.TYPES)) for _ in range(3))
    with torch.no_grad():
        for batch in batches(given, random.Random(0)):
            told, mask, labels = pad(batch)
            best = network(told, mask).argmax(dim=-1)
            counts = labels >= 0
            for at in range(1, len(head.TYPES)):
                right[at] += (counts & (best == at) & (labels == at)).sum()
                found[at] += (counts & (best == at)).sum()
                gold[at] += (counts & (labels == at)).sum()
    network.train()
    shares = zip(head.TYPES[1:], right[1:], found[1:], gold[1:], strict=True)
    return " ".join(
        f"{t[:3]} p{r / max(f, 1):.3f} r{r / max(g, 1):.3f}" for t, r, f, g in shares
    )


def main() -> None:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--texts", type=int, default=16_000)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    draw = random.Random(given.seed)
    locales = LATIN + TRANSCRIBED + (() if given.held_out else HELD_OUT)
    values = Values(locales, draw)
    frames = Frames(values, held_out=False if given.held_out else None)
    cases = list(court_cases(given.data / "spia" / "tab_entities.jsonl"))
    tweets = list(posts(given.data / "wnut17" / "wnut17train.conll"))
    forms = list(documents(Path("benchmarks/readability/development")))
    other = Values(HELD_OUT, random.Random(1))
    unseen = Frames(other, held_out=True)
    tests = {
        "frames": list(units(unseen.text() for _ in range(1500))),
        "posts": list(units(posts(given.data / "wnut17" / "emerging.dev.conll"))),
    }
    network = Network(vectors())
    trained = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=3e-3, weight_decay=0.01)
    steps, started = 0, time.perf_counter()
    for epoch in range(given.epochs):
        made = [frames.text() for _ in range(given.texts)]
        made += [swap(case, values) for case in cases]
        made += [swap(form, values) for form in forms * 3]
        made += [*tweets, *(swap(post, values) for post in tweets)]
        read = list(units(made))
        for batch in batches(read, draw):
            told, mask, labels = pad(batch)
            logits = network(told, mask)
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1),
                labels.flatten(),
                ignore_index=-100,
                label_smoothing=0.02,
            )
            rate = (
                3e-3 * max(0.03, 1 - epoch / given.epochs) * min(1, (steps + 1) / 200)
            )
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            steps += 1
        print(
            f"{epoch} {time.perf_counter() - started:.0f} s loss {loss.item():.4f}",
            flush=True,
        )
        for name, test in tests.items():
            print("  ", name, score(network, test), flush=True)
        network.export(given.out)


if __name__ == "__main__":
    main()
