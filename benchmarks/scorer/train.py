"""
Train the scorer: which words of a passage does a constraint withhold?

The upper layers of the packaged MiniLM and a small head learn to mark words. Passages
are composed anew in every epoch from the texts in `passages/`: sentences are dropped,
shuffled and mixed with those of other texts, as retrieved chunks are, and every
constraint of a batch is put to every passage of it, so that a passage also teaches what
does not concern a constraint. One text in ten is kept aside and measured on.

    python -m benchmarks.scorer.train --out weights.safetensors
"""

from __future__ import annotations

import argparse
import math
import random
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils.rnn import pad_sequence

from benchmarks.networks.layers import load_minilm, pad
from benchmarks.networks.scorer import LateInteraction, average_sentences
from benchmarks.scorer.texts import Text, read_texts
from sdrag.embeddings import load_tokenizer
from sdrag.text.sentences import sentences

SEED = 20
BATCH = 8
MOST_TOKENS = 320
FOREIGN = 0.15
"""How much a token weighs for a constraint on another text: there are many of them."""
POSITIVE = 2.0
"""How much a token to withhold weighs: privacy before completeness."""
SHUFFLED, MIXED = 0.4, 0.6
"""Shares of passages whose sentences are shuffled and thinned, or mixed with others."""


STRETCH = 14
"""Sentences of a long text that are read at once, as many as are retrieved, or more."""

Marks = list[tuple[int, int]]


@dataclass(frozen=True)
class Passage:
    """A composed passage, where its sentences start, and the marks of each secret."""

    body: str
    starts: list[int]
    marks: list[Marks]


@dataclass(frozen=True)
class Batch:
    """
    What one step reads; labels and weights are (constraints, tokens of all texts).

    `real` says which tokens are a text's own: not what is put before and after it.
    """

    passages: Sequence[Sequence[int]]
    real: torch.Tensor
    sentences: torch.Tensor
    asked: Sequence[Sequence[int]]
    labels: torch.Tensor
    weights: torch.Tensor


def compose(text: Text, others: Sequence[Text], rng: random.Random | None) -> Passage:
    """Put a passage together; without chance the text as it is."""
    chosen = [(text, span) for span in sentences(text.body)]
    if rng and rng.random() < SHUFFLED:
        rng.shuffle(chosen)
        chosen = chosen[: rng.randint(4, 12)]
    elif rng and len(chosen) > STRETCH:
        start = rng.randint(0, len(chosen) - STRETCH)
        chosen = chosen[start : start + STRETCH]
    if rng and rng.random() < MIXED:
        other = rng.choice(others)
        strangers = [(other, span) for span in sentences(other.body)]
        for stranger in rng.sample(strangers, min(len(strangers), rng.randint(1, 3))):
            chosen.insert(rng.randint(0, len(chosen)), stranger)
    body, starts, marks = "", [], [Marks() for _ in text.secrets]
    for source, span in chosen:
        starts.append(len(body))
        shift = len(body) - span.start
        if source is text:
            for own, secret in zip(marks, text.secrets, strict=True):
                own += [
                    (max(start, span.start) + shift, min(end, span.end) + shift)
                    for start, end in secret.marks
                    if start < span.end and span.start < end
                ]
        body += span.of(source.body) + " "
    return Passage(body.rstrip(), starts, marks)


def worded(wordings: Sequence[str], rng: random.Random | None) -> str:
    """Choose a wording, at times in lower case or without its full stop."""
    if rng is None:
        return wordings[0]
    wording = rng.choice(wordings)
    if rng.random() < 0.3:
        wording = wording[0].lower() + wording[1:]
    return wording.rstrip(".") if rng.random() < 0.3 else wording


def batch_of(
    texts: Sequence[Text], others: Sequence[Text], tokenizer: Tokenizer,
    rng: random.Random | None,
) -> Batch:  # fmt: skip
    """Compose one passage of each text, and put every constraint to each of them."""
    passages = [compose(text, others, rng) for text in texts]
    asks = [worded(s.wordings, rng) for text in texts for s in text.secrets]
    coded = tokenizer.encode_batch([passage.body for passage in passages])
    offsets = [torch.tensor(_first(one.offsets)) for one in coded]
    real = torch.cat([own[:, 1] > own[:, 0] for own in offsets])
    labels = torch.zeros(len(asks), len(real))
    weights = torch.full_like(labels, FOREIGN if rng else 0.0)
    numbers: list[int] = []
    row = 0
    for own, passage in zip(offsets, passages, strict=True):
        place = slice(len(numbers), len(numbers) + len(own))
        for marks in passage.marks:
            weights[row, place] = 1.0
            labels[row, place] = _covered(own, marks)
            row += 1
        # A batch has no number twice: no text has so many sentences as tokens.
        numbers += [
            place.start + bisect_right(passage.starts, start) - 1
            for start in own[:, 0].tolist()
        ]
    return Batch(
        passages=[_first(one.ids) for one in coded],
        real=real,
        sentences=torch.tensor(numbers)[real],
        asked=[one.ids for one in tokenizer.encode_batch(asks)],
        labels=labels[:, real],
        weights=weights[:, real],
    )


def _first(items: Sequence[Any]) -> Sequence[Any]:
    """Return what is read of a passage; its last token is the one after it."""
    if len(items) <= MOST_TOKENS:
        return items
    return [*items[: MOST_TOKENS - 1], items[-1]]


def _covered(offsets: torch.Tensor, marks: Marks) -> torch.Tensor:
    covered = torch.zeros(len(offsets), dtype=torch.bool)
    for start, end in marks:
        covered |= (offsets[:, 0] < end) & (start < offsets[:, 1])
    return covered.float()


def logits_of(network: LateInteraction, batch: Batch) -> torch.Tensor:
    """Run the network over a batch."""
    with torch.autocast("cpu", torch.bfloat16):
        states = network.read(batch.passages)
        asked = network.read(batch.asked).split([*map(len, batch.asked)])
    _, mask = pad(batch.asked)
    constraints = network.prepare(pad_sequence(asked, batch_first=True), mask)
    states = states[batch.real].float()
    around = average_sentences(states, batch.sentences)
    return network.logits(states, around, constraints)


def batches(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Yield texts in batches."""
    return (texts[at : at + BATCH] for at in range(0, len(texts), BATCH))


def measured(
    network: LateInteraction, tokenizer: Tokenizer, texts: Sequence[Text]
) -> dict[str, float]:
    """Return average precision over tokens, and recall and precision at 0.15."""
    found, wanted = [], []
    with torch.inference_mode():
        for some in batches(texts):
            batch = batch_of(some, texts, tokenizer, None)
            own = batch.weights > 0
            found.append(logits_of(network, batch)[own].sigmoid())
            wanted.append(batch.labels[own])
    chances, labels = torch.cat(found), torch.cat(wanted)
    ranked = labels[chances.argsort(descending=True)]
    precision = ranked.cumsum(0) / torch.arange(1, len(ranked) + 1)
    marked = (chances >= 0.15).float()
    return {
        "average_precision": round(float((precision * ranked).sum() / ranked.sum()), 3),
        "recall": round(float((marked * labels).sum() / labels.sum()), 3),
        "precision": round(float((marked * labels).sum() / marked.sum()), 3),
    }


def train(options: argparse.Namespace) -> None:
    """Train and save after every epoch."""
    torch.manual_seed(options.seed)
    texts = read_texts()
    aside, tuning = texts[4::10], [t for n, t in enumerate(texts) if n % 10 != 4]

    tokenizer = load_tokenizer()
    network = LateInteraction(load_minilm())
    # It starts as the published model does: near is near in meaning.
    for layer in (network.query, network.key):
        torch.nn.init.eye_(layer.weight)
    for layer in (network.together, network.telling, network.said):
        torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(network.telling.bias)
    if options.start:
        weights = load_file(options.start)
        network.load_state_dict(
            {k: v.float() for k, v in weights.items()}, strict=False
        )
    _without_dropout(network)
    optimizer, schedule = _optimizer(network, options, math.ceil(len(tuning) / BATCH))
    print(len(tuning), "texts", measured(network.eval(), tokenizer, aside), flush=True)
    started = time.perf_counter()
    for epoch in range(options.epochs):
        rng = random.Random(options.seed + options.epochs * 100 + epoch)
        shuffled = rng.sample(tuning, len(tuning))
        network.train()
        for some in batches(shuffled):
            batch = batch_of(some, tuning, tokenizer, rng)
            losses = binary_cross_entropy_with_logits(
                logits_of(network, batch), batch.labels, reduction="none",
                pos_weight=torch.tensor(POSITIVE),
            )  # fmt: skip
            loss = (losses * batch.weights).sum() / batch.weights.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        took = time.perf_counter() - started
        figures = measured(network.eval(), tokenizer, aside)
        print(f"epoch {epoch + 1}, {took:.0f} s", figures, flush=True)
        save_file(
            {n: p.detach().half().contiguous() for n, p in network.trained()},
            options.out,
        )


def _without_dropout(network: LateInteraction) -> None:
    # Attention with dropout takes a path that is twice as slow on a CPU.
    for layer in network.upper:
        layer.attention.self.dropout.p = 0.0


def _optimizer(
    network: LateInteraction, options: argparse.Namespace, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """The head starts from nothing and learns five times as fast as the layers."""
    layers = [p for name, p in network.trained() if name.startswith("upper")]
    head = [p for name, p in network.trained() if not name.startswith("upper")]
    rates = [options.rate, options.rate * 5]
    optimizer = torch.optim.AdamW(
        [{"params": layers, "lr": rates[0]}, {"params": head, "lr": rates[1]}],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rates, total_steps=options.epochs * steps + 1, pct_start=0.1
    )
    return optimizer, schedule


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train(options)


if __name__ == "__main__":
    main()
