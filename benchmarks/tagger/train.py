"""
Train the tagger: which words of a document identify somebody, and what are they?

Low-rank updates of the packaged MiniLM and a head learn from the court cases of the
Text Anonymization Benchmark, two documents in three; the third, by number, is the part
that `suites entities --part aside` measures on, and is not read here. The data is
not part of the project: name its folder in SDRAG_DATA.

    python -m benchmarks.tagger.train --out weights.safetensors
"""

from __future__ import annotations

import argparse
import os
import random
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy

from benchmarks.networks.layers import load_minilm
from benchmarks.networks.tagger import KINDS, TaggerNetwork
from benchmarks.suites.entities import Annotated, read_annotated
from sdrag.embeddings import load_tokenizer
from sdrag.embeddings.windows import tokenize

DATA = Path(os.environ.get("SDRAG_DATA", "../shared/data"))
CASES = "spia/tab_entities.jsonl"
WINDOW = 250
BATCH = 8
DROPOUT = 0.2
"""Of attention too: without it the unlikely words are told apart less well."""
IGNORED = -100


@dataclass(frozen=True)
class Marked:
    """A document's tokens, and the number of each one's kind."""

    ids: Sequence[int]
    kinds: Sequence[int]


def marked(document: Annotated, tokenizer: Tokenizer) -> Marked:
    """Tokenize a document; what need not be masked is no kind."""
    tokens = tokenize(document.text, tokenizer)
    starts = [span.start for span in tokens.spans]
    ends = [span.end for span in tokens.spans]
    kinds = [0] * len(tokens.ids)
    for gold in document.gold:
        if gold.identifier != "NO_MASK":
            kind = KINDS.index(gold.type)
            first = bisect_left(ends, gold.span.start + 1)
            for place in range(first, bisect_left(starts, gold.span.end)):
                kinds[place] = kind
    return Marked(tokens.ids, kinds)


def windows(documents: Sequence[Marked], rng: random.Random) -> list[Marked]:
    """Cut documents into windows, elsewhere in every epoch; the longest come first."""
    cut = [
        Marked(one.ids[start:end], one.kinds[start:end])
        for one in documents
        for start, end in _edges(len(one.ids), rng)
    ]
    # Those of a length go together, so that little is padding.
    return sorted(cut, key=lambda one: len(one.ids) + rng.random() * 40, reverse=True)


def _edges(length: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    first = rng.randrange(WINDOW) if length > WINDOW else 0
    edges = [0, *range(first or WINDOW, length, WINDOW), length]
    return pairwise(edges)


def logits_of(
    network: TaggerNetwork, tokenizer: Tokenizer, rows: Sequence[Marked]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits and kinds of all tokens; what is none of a window is ignored."""
    first, last = map(tokenizer.token_to_id, ("[CLS]", "[SEP]"))
    states = network.read([[first, *row.ids, last] for row in rows])
    kinds = [kind for row in rows for kind in (IGNORED, *row.kinds, IGNORED)]
    return network.head(states), torch.tensor(kinds)


def train(options: argparse.Namespace) -> None:
    """Train and save."""
    torch.manual_seed(0)  # all runs start from the same weights, to be averaged
    tokenizer = load_tokenizer()
    network = TaggerNetwork(load_minilm())
    _with_dropout(network)
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    tuning = [
        marked(document, tokenizer)
        for number, document in enumerate(read_annotated(DATA / CASES))
        if number % 3 != 2
    ]
    steps = options.epochs * (len(windows(tuning, rng)) // BATCH + 1)
    optimizer = torch.optim.AdamW(
        [p for _, p in network.trained()], lr=options.rate, weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.rate, total_steps=steps + options.epochs, pct_start=0.1,
        anneal_strategy="linear",
    )  # fmt: skip
    started = time.perf_counter()
    for epoch in range(options.epochs):
        network.train()
        cut = windows(tuning, rng)
        batches = [cut[at : at + BATCH] for at in range(0, len(cut), BATCH)]
        losses = [
            _step(network, tokenizer, batch, optimizer, schedule)
            for batch in rng.sample(batches, len(batches))
        ]
        took = time.perf_counter() - started
        print(f"epoch {epoch + 1}, {took:.0f} s", sum(losses) / len(losses), flush=True)
    save_file(
        {n: p.detach().half().contiguous() for n, p in network.trained()}, options.out
    )


def _with_dropout(network: TaggerNetwork) -> None:
    for part in network.upper.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = DROPOUT


def _step(
    network: TaggerNetwork,
    tokenizer: Tokenizer,
    batch: Sequence[Marked],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> float:
    logits, kinds = logits_of(network, tokenizer, batch)
    loss = cross_entropy(logits, kinds, ignore_index=IGNORED)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for _, p in network.trained()], 1.0)
    optimizer.step()
    schedule.step()
    return loss.item()


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train(options)


if __name__ == "__main__":
    main()
