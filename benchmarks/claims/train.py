"""
Train what judges whether evidence supports a claim: supported, contradicted, not told.

    python benchmarks/claims/train.py --out entailment.safetensors --minutes 12

`claims.jsonl` holds sources, and for each fact of a source claims that say it in other
words and claims that say another thing in its place; `contrasts.txt` words that stand
for each other, and words that exclude them. Every claim is also evidence for the
others, so most stand under each label: what is said alone does not give the label away.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import (
    GELU,
    Dropout,
    LayerNorm,
    Linear,
    Module,
    ModuleList,
    Parameter,
    Sequential,
)
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from sdrag.embeddings import embed_tokens
from sdrag.guardrails.statements.entailment import Pieces, pieces_of
from sdrag.text.sentences import sentences

FOLDER = Path(__file__).parent
SUPPORTED, CONTRADICTED, UNTOLD = 0, 1, 2
WIDTH, HEADS = 160, 5
LOW = -1e4
HELD_OUT = frozenset(
    {"airline", "clinic", "courier", "gardening", "it operations", "law firm"}
    | {"library", "manuals", "telecom", "vineyard"}
)
"""Trades that are not trained on, beside those of `validation.jsonl`."""

Labelled = tuple[str, int]


class Group(NamedTuple):
    """Evidence, and claims with their labels."""

    evidence: tuple[str, ...]
    claims: list[Labelled]


class Source(NamedTuple):
    """A text, and what is claimed of each of its facts."""

    trade: str
    text: str
    facts: list[dict[str, Any]]
    untold: list[str]


def read_sources(name: str) -> list[Source]:
    """Read a file of sources."""
    lines = FOLDER.joinpath(name).read_text("utf-8").splitlines()
    return [Source(*json.loads(line).values()) for line in lines]


@cache
def contrasts() -> dict[str, tuple[list[str], list[str]]]:
    """Return the synonyms of words, and the words that exclude them."""
    rows = FOLDER.joinpath("contrasts.txt").read_text("utf-8").splitlines()
    read = [tuple(part.split(",") for part in row.split("|")) for row in rows]
    return {word: row for row in reversed(read) for word in row[0]}  # type: ignore[misc]


@cache
def known_words() -> re.Pattern[str]:
    """Return a pattern of the words that have contrasts."""
    words = sorted(map(re.escape, contrasts()), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


def swap(text: str, word: str, other: str) -> str:
    """Put a word in another's place."""
    return re.sub(rf"\b{re.escape(word)}\b", other, text)


def stop(text: str, rng: random.Random | None = None) -> str:
    """End a claim with a full stop; at times without, while training."""
    ends = text[-1].isalnum() and (rng is None or rng.random() < 0.6)
    return f"{text}." if ends else text


def groups_of(
    source: Source, others: Sequence[Source], rng: random.Random
) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield a source, its claims and mixtures of them as evidence for its claims."""
    facts, untold = source.facts, [(claim, UNTOLD) for claim in source.untold]
    claims = [(c, SUPPORTED) for fact in facts for c in fact["right"]]
    claims += [(c, CONTRADICTED) for fact in facts for c in fact["wrong"]]
    foreign = rng.choice(others)
    far = [c for f in foreign.facts for c in f["right"] + f["wrong"]] + foreign.untold
    claims += untold + [(c, UNTOLD) for c in rng.sample(far, 2) if foreign != source]
    copied = rng.choice([span.of(source.text) for span in sentences(source.text)])
    yield source.text, [*claims, (copied, SUPPORTED)]
    for fact in facts:
        right, wrong = fact["right"], fact["wrong"]
        apart = [other for other in facts if other is not fact]
        rest = [(rng.choice(f[k]), UNTOLD) for f in apart for k in ("right", "wrong")]
        same = [(c, SUPPORTED) for c in right]
        against = [(c, CONTRADICTED) for c in wrong]
        yield rng.choice(right), same + against + rest + untold
        chosen = rng.choice(wrong)
        alike = wrong if fact.get("same") else [chosen]
        told = [(c, SUPPORTED) for c in alike]
        yield chosen, [*((c, CONTRADICTED) for c in right), *rest, *told]
        if apart:
            other = rng.choice(apart)
            both = [stop(chosen), stop(rng.choice(other["right"]))]
            told = [(c, SUPPORTED) for c in [chosen, *other["right"]]]
            against = [(c, CONTRADICTED) for c in right + other["wrong"]]
            yield " ".join(rng.sample(both, 2)), told + against
        yield from swapped(source, right, wrong, rng)


def swapped(
    source: Source, right: Sequence[str], wrong: Sequence[str], rng: random.Random
) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield groups in which a word is replaced by a synonym or by what excludes it."""
    inside = set(known_words().findall(source.text))
    for claim in right:
        if words := known_words().findall(claim):
            word = rng.choice(words)
            alike, apart = contrasts()[word]
            other = rng.choice(apart)
            made = [(swap(claim, word, rng.choice(alike)), SUPPORTED)]
            if other not in inside:
                made.append((swap(claim, word, other), CONTRADICTED))
            yield source.text, made
            if word in inside and other not in inside:
                text = swap(source.text, word, other)
                moved = (swap(claim, word, other), SUPPORTED)
                yield text, [(claim, CONTRADICTED), moved]
    claim = rng.choice([*right, *wrong])
    if words := known_words().findall(claim):
        word = rng.choice(words)
        alike, apart = contrasts()[word]
        turned = swap(claim, word, rng.choice(apart))
        same = (swap(claim, word, rng.choice(alike)), SUPPORTED)
        yield claim, [(turned, CONTRADICTED), same]
        yield turned, [(claim, CONTRADICTED)]


class Block(Module):
    """Pieces of a claim attend to each other and to the evidence."""

    def __init__(self) -> None:
        super().__init__()
        self.n1, self.n2, self.n3 = (LayerNorm(WIDTH) for _ in range(3))
        self.q, self.kv = Linear(WIDTH, WIDTH), Linear(WIDTH, 2 * WIDTH)
        self.o, self.co = Linear(WIDTH, WIDTH), Linear(WIDTH, WIDTH)
        self.cq, self.ckv = Linear(WIDTH, WIDTH), Linear(WIDTH, 2 * WIDTH)
        inner = Linear(WIDTH, 2 * WIDTH), GELU(), Linear(2 * WIDTH, WIDTH)
        self.ff, self.drop = Sequential(*inner), Dropout(0.1)

    def _attend(self, query: Tensor, both: Tensor, hidden: Tensor) -> Tensor:
        key, value = (_split(part) for part in both.chunk(2, -1))
        reach = _split(query) @ key.transpose(2, 3) / (WIDTH / HEADS) ** 0.5
        weights = (reach + hidden[:, None, None]).softmax(-1)
        return (weights @ value).transpose(1, 2).flatten(2)

    def forward(
        self, states: Tensor, hidden: Tensor, known: Tensor, far: Tensor, rows: Tensor
    ) -> Tensor:
        """Read claims, each by the evidence in its row."""
        own = self.n1(states)
        own = self._attend(self.q(own), self.kv(own), hidden)
        states = states + self.drop(self.o(own))
        asked = self.cq(self.n2(states))
        read = self._attend(asked, self.ckv(known)[rows], far)
        states = states + self.drop(self.co(read))
        return states + self.drop(self.ff(self.n3(states)))  # type: ignore[no-any-return]


def _split(states: Tensor) -> Tensor:
    return states.view(*states.shape[:-1], HEADS, -1).transpose(1, 2)


class Judge(Module):
    """The network; `sdrag.guardrails.statements.entailment` runs it in NumPy."""

    def __init__(self) -> None:
        super().__init__()
        self.pp, self.inp = Linear(384, WIDTH), Linear(384 * 3 + 2, WIDTH)
        self.pn = LayerNorm(WIDTH)
        self.tau = Parameter(torch.tensor(10.0))
        self.same = Parameter(torch.tensor(2.0))
        self.blocks = ModuleList([Block(), Block()])
        self.tok = Linear(WIDTH, 3)
        first = Linear(2 * WIDTH + 3, 128)
        self.head = Sequential(first, GELU(), Dropout(0.2), Linear(128, 3))
        self.drop = Dropout(0.12)

    def forward(self, evidence: Sequence[Pieces], claims: Sequence[Pieces]) -> Tensor:
        """Return logits of claims; `evidence` holds each one's."""
        unique = {id(pieces): pieces for pieces in evidence}
        order = {key: row for row, key in enumerate(unique)}
        rows = torch.tensor([order[id(pieces)] for pieces in evidence])
        known, there = _pad([*unique.values()])
        read, real = _pad(claims)
        same = torch.zeros(len(claims), read.shape[1], known.shape[1])
        for row, (of, claim) in enumerate(zip(evidence, claims, strict=True)):
            equal = np.array(claim.texts)[:, None] == np.array(of.texts)
            same[row, : equal.shape[0], : equal.shape[1]] = torch.from_numpy(equal)
        far = (~there)[rows] * LOW
        close = read @ known[rows].transpose(1, 2) + far[:, None]
        weights = (close * self.tau + same * self.same).softmax(-1)
        aligned = weights @ known[rows]
        nearest = torch.stack([close.max(-1).values, same.max(-1).values], -1)
        parts = [read * 8, (read - aligned) * 8, read * aligned * 60, nearest]
        states = self.inp(self.drop(torch.cat(parts, -1)))
        context, hidden = self.pn(self.pp(known * 8)), (~real) * LOW
        for block in self.blocks:
            states = block(states, hidden, context, far, rows)
        kept, low = real.float()[..., None], hidden[..., None]
        mean = (states * kept).sum(1) / kept.sum(1)
        most = (states + low).max(1).values
        pieces = (self.tok(states) + low).max(1).values
        return self.head(torch.cat([mean, most, pieces], 1))  # type: ignore[no-any-return]


def _pad(texts: Sequence[Pieces]) -> tuple[Tensor, Tensor]:
    rows = [torch.from_numpy(pieces.rows).float() for pieces in texts]
    lengths = torch.tensor([len(row) for row in rows])
    padded = pad_sequence(rows, batch_first=True)
    return padded, torch.arange(padded.shape[1]) < lengths[:, None]


class Reader:
    """Embeds each text once."""

    def __init__(self) -> None:
        self.read: dict[str, Pieces] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Embed what is new."""
        new = sorted({text for text in texts if text not in self.read})
        for text, embedded in zip(new, embed_tokens(new), strict=True):
            self.read[text] = pieces_of(text, *embedded)

    def join(self, texts: tuple[str, ...]) -> Pieces:
        """Return the pieces of texts that are read one by one."""
        return Pieces.join([self.read[text] for text in texts])


def batches(groups: Sequence[Group], rng: random.Random) -> list[list[Group]]:
    """Cut groups into batches of some sixty claims, with evidence of one length."""
    made: list[list[Group]] = [[]]
    for group in sorted(groups, key=lambda g: sum(map(len, g[0])) + 30 * rng.random()):
        if made[-1] and sum(len(g.claims) for g in made[-1]) + len(group.claims) > 64:
            made.append([])
        made[-1].append(group)
    return rng.sample(made, len(made))


def measure(judge: Judge, reader: Reader, sources: Sequence[Source]) -> dict[str, Any]:
    """Return how right and wrong claims are told apart, with and without evidence."""
    rows = [
        (source.text, stop(claim), label)
        for source in sources
        for label, key in ((SUPPORTED, "right"), (CONTRADICTED, "wrong"))
        for fact in source.facts
        for claim in fact[key]
    ]
    rows += [(s.text, stop(claim), UNTOLD) for s in sources for claim in s.untold]
    reader.add([text for row in rows for text in row[:2]] + ["."])
    labels = np.array([label for *_, label in rows])
    judge.eval()
    figures: dict[str, Any] = {}
    for name in ("", "blank "):
        known = [reader.read["." if name else text] for text, *_ in rows]
        with torch.inference_mode():
            logits = judge(known, [reader.read[claim] for _, claim, _ in rows])
        chances = logits.softmax(-1).numpy()
        right, wrong = (chances[labels == label, 0] for label in (0, 1))
        figures[f"{name}area"] = (right[:, None] > wrong).mean()
        if not name:
            figures["accuracy"] = (chances.argmax(1) == labels).mean()
            least = np.quantile(wrong, 0.9)
            figures |= {"right_at_10": (right > least).mean(), "chance_at_10": least}
            opposed = chances[labels == 1, 1][:, None] > chances[labels != 1, 1]
            figures["contradicted_area"] = opposed.mean()
    judge.train()
    return {name: round(float(value), 4) for name, value in figures.items()}


def train(options: argparse.Namespace) -> None:
    """Train until time is up."""
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    judge, reader = Judge(), Reader()
    if options.start:
        judge.load_state_dict(load_file(options.start))
    every = read_sources("claims.jsonl")
    sets = {
        "held-out trades": [s for s in every if s.trade in HELD_OUT],
        "validation": read_sources("validation.jsonl"),
    }
    sources = [source for source in every if source.trade not in HELD_OUT]
    by_trade = {s.trade: [o for o in sources if o.trade == s.trade] for s in sources}
    pool = [
        Group((stop(text),), [(stop(claim, rng), label) for claim, label in claims])
        for _ in range(options.rounds)
        for source in sources
        for text, claims in groups_of(source, by_trade[source.trade], rng)
    ]
    apart = [span.of(s.text) for s in sources for span in sentences(s.text)]
    reader.add([*apart, *(t for g in pool for t in (*g[0], *(c for c, _ in g[1])))])
    optimizer = torch.optim.AdamW(judge.parameters(), options.rate, weight_decay=0.02)
    started, steps, loss = time.monotonic(), 0, 0.0
    while (done := (time.monotonic() - started) / 60 / options.minutes) < 1:
        groups = []
        for (text,), claims in pool:
            parts = [text]
            for _ in range(rng.choice((1, 2, 3)) if rng.random() < 0.35 else 0):
                parts.insert(rng.randrange(len(parts) + 1), rng.choice(apart))
            groups.append(Group(tuple(parts), claims))
        for batch in batches(groups, rng):
            done = (time.monotonic() - started) / 60 / options.minutes
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = (
                    options.rate * min(1, (steps + 1) / 100) * (1 - 0.97 * done)
                )
            known = [reader.join(group.evidence) for group in batch]
            rows = [at for at, group in enumerate(batch) for _ in group.claims]
            told = [reader.read[claim] for group in batch for claim, _ in group.claims]
            labels = torch.tensor([label for group in batch for _, label in group[1]])
            lost = cross_entropy(
                judge([known[row] for row in rows], told), labels, label_smoothing=0.05
            )
            optimizer.zero_grad()
            lost.backward()
            torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
            optimizer.step()
            steps += 1
            loss += (lost.item() - loss) / min(steps, 100)
    print(f"{steps} steps, loss {loss:.3f}")
    for name, of in sets.items():
        print(name, measure(judge, reader, of))
    weights = {name: row.half() for name, row in judge.state_dict().items()}
    save_file(weights, options.out)


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--rate", type=float, default=1.2e-3)
    parser.add_argument("--rounds", type=int, default=2, help="of choosing groups")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    train(options)


if __name__ == "__main__":
    main()
