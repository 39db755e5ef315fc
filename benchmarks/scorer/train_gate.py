"""
Train the gate: does a sentence hold what a constraint withholds, and in which words?

It learns from the texts in `passages/`, each with constraints of its own, and from
those in `documents/` and `policies/`, where it is known of every constraint what falls
under it, and so what does not. Sentences that the scorer takes for a constraint's and
that are not are shown most often. One text in ten is kept aside, the trades of
`policies/` whole, and so are the constraints that are `held_out`.

    python -m benchmarks.scorer.train_gate --out gate.safetensors --minutes 90

Every ten minutes it measures the running mean of the weights and keeps the best. What
is needed to go on is in the file of that name with `.state` added.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from transformers import AutoTokenizer

from benchmarks.networks.layers import load_minilm, model_folder
from benchmarks.networks.scorer import GateNetwork
from benchmarks.scorer.labelled import (
    FOLDER,
    is_aside,
    marks_in,
    parts_of,
    read_constraints,
    read_documents,
    read_policies,
)
from benchmarks.scorer.texts import Secret, Text, read_texts
from sdrag.disclosure.local import scorer

SCORER = Path(__file__).parents[1] / "networks" / "trained" / "scorer.safetensors"
TOKENS = 1600
"""In a batch."""
MOST_TOKENS = 96
EVERY = 10
"""Minutes from one measurement to the next."""
MEAN_OF = 0.998
"""How much of the running mean of the weights stays in a step."""
FOREIGN = 0.3
"""What a sentence weighs for a constraint on another text: it could fall under it."""
NEGATIVES, HARD = 2, 0.6
"""Sentences that a constraint leaves, for each; the share that the scorer takes."""


@dataclass(frozen=True)
class Pair:
    """A sentence and a constraint; `marks` are what falls under it."""

    sentence: str
    constraint: str
    marks: tuple[tuple[int, int], ...]
    weight: float = 1.0


@cache
def suspected(text: Text) -> dict[Secret, list[int]]:
    """Return the sentences for each secret, the likeliest for the scorer first."""
    spans = [text.body[start:end] for start, end in parts_of(text)]
    scores = scorer.score(spans, [secret.wordings[0] for secret in text.secrets])
    return {
        secret: sorted(
            range(len(spans)), key=lambda i: -max(scores[i].chances[row], default=0)
        )
        for row, secret in enumerate(text.secrets)
    }


def worded(wordings: Sequence[str], rng: random.Random) -> str:
    """Choose a wording, at times without its full stop or its capital."""
    wording = rng.choice(wordings)
    if rng.random() < 0.2:
        wording = wording[0].lower() + wording[1:]
    return wording.rstrip(".") if rng.random() < 0.3 else wording


def pairs_of(
    text: Text,
    asked: Sequence[tuple[Secret, str]],
    strangers: Sequence[str],
    rng: random.Random,
) -> Iterator[Pair]:
    """Yield what falls under constraints in a text, and more of what does not."""
    spans = parts_of(text, rng)
    for secret, constraint in asked:
        marked = [marks_in(secret, *span) for span in spans]
        for span, marks in zip(spans, marked, strict=True):
            if marks:
                yield Pair(text.body[slice(*span)], constraint, marks)
        absent = [i for i in suspected(text)[secret] if not marked[i]]
        for _ in range(min(NEGATIVES + sum(map(bool, marked)), len(absent))):
            few = max(3, len(absent) // 4) if rng.random() < HARD else len(absent)
            span = spans[absent.pop(rng.randrange(min(few, len(absent))))]
            yield Pair(text.body[slice(*span)], constraint, ())
    for constraint in strangers:
        yield Pair(text.body[slice(*rng.choice(spans))], constraint, (), FOREIGN)


def all_pairs(text: Text, strangers: Sequence[Secret] = ()) -> Iterator[Pair]:
    """Yield every sentence with every constraint."""
    for start, end in parts_of(text):
        for secret in (*text.secrets, *strangers):
            marks = marks_in(secret, start, end) if secret in text.secrets else ()
            yield Pair(text.body[start:end], secret.wordings[0], marks)


class Reader:
    """The network, and the tokenizer that makes batches for it."""

    def __init__(self) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(model_folder())
        self.network = GateNetwork(load_minilm())
        torch.nn.init.ones_(self.network.surest.weight)
        torch.nn.init.zeros_(self.network.surest.bias)
        torch.nn.init.zeros_(self.network.sentence[-1].weight)
        torch.nn.init.zeros_(self.network.sentence[-1].bias)
        weights = {name: value.float() for name, value in load_file(SCORER).items()}
        self.network.load_state_dict(weights, strict=False)
        self.begun = weights.keys()

    def coded(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Tokenize texts, padded to the longest."""
        return self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=MOST_TOKENS,
            return_tensors="pt", return_offsets_mapping=True,
        )  # fmt: skip

    def __call__(self, pairs: Sequence[Pair]) -> tuple[torch.Tensor, ...]:
        """Return logits and labels of sentences and of tokens, and what are words."""
        rows = {
            text: row
            for row, text in enumerate(dict.fromkeys(p.constraint for p in pairs))
        }
        asked, read = self.coded(list(rows)), self.coded([p.sentence for p in pairs])
        begin = self.network.begin
        mask = asked["attention_mask"].bool()
        known = self.network.view(begin(asked["input_ids"], mask), mask)
        mask = read["attention_mask"].bool()
        chosen = known.of(torch.tensor([rows[p.constraint] for p in pairs]))
        sentence, word = self.network(begin(read["input_ids"], mask), mask, chosen)
        offsets = read["offset_mapping"]
        labels = torch.zeros_like(word)
        for row, pair in enumerate(pairs):
            for start, end in pair.marks:
                labels[row] += (offsets[row, :, 0] < end) & (start < offsets[row, :, 1])
        words = offsets[:, :, 1] > offsets[:, :, 0]
        present = torch.tensor([float(bool(p.marks)) for p in pairs])
        return sentence, word, present, labels.clamp(max=1) * words, words


def batches(
    pairs: Sequence[Pair], rng: random.Random | None = None
) -> list[list[Pair]]:
    """Cut pairs into batches of sentences of one length."""
    made: list[list[Pair]] = [[]]
    for pair in sorted(pairs, key=lambda p: len(p.sentence)):
        if (len(made[-1]) + 1) * (
            4 + min(MOST_TOKENS, len(pair.sentence) / 4)
        ) > TOKENS:
            made.append([])
        made[-1].append(pair)
    return rng.sample(made, len(made)) if rng else made


def measure(reader: Reader, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the share of absent sentences that open at recalls; precision of words."""
    chances, labels, words, marked = [], [], [], []
    with torch.inference_mode():
        for some in batches(pairs):
            sentence, word, present, told, real = reader(some)
            chances.append(sentence)
            labels.append(present)
            of_present = real & (present > 0)[:, None]
            words.append(word[of_present])
            marked.append(told[of_present])
    chance, label = torch.cat(chances), torch.cat(labels)
    absent, kept = chance[label == 0], chance[label > 0].sort().values
    least = {recall: kept[int((1 - recall) * len(kept))] for recall in (0.95, 0.9, 0.8)}
    ranked = torch.cat(marked)[torch.cat(words).argsort(descending=True)]
    precision = ranked.cumsum(0) / torch.arange(1, len(ranked) + 1)
    figures = {
        f"opened@{r}": float((absent >= at).float().mean()) for r, at in least.items()
    }
    figures |= {f"chance@{r}": float(at.sigmoid()) for r, at in least.items()}
    figures["words"] = float((precision * ranked).sum() / ranked.sum())
    return {name: round(value, 4) for name, value in figures.items()}


def validation(
    passages: Sequence[Text], documents: Path, policies: Sequence[Sequence[Text]]
) -> dict[str, list[Pair]]:
    """Return what is measured on: passages, trades, documents, held-out constraints."""
    aside = passages[4::200]
    strangers = [text.secrets[0] for text in aside[:4]]
    sets = {"passages": [p for t in aside for p in all_pairs(t, strangers)]}
    trades = [text for trade in policies for text in trade if is_aside(trade[0])]
    if trades:
        sets["trades"] = with_few_absent([p for t in trades for p in all_pairs(t)])
    for name, held_out in (("documents", False), ("held out", True)):
        texts = read_documents(documents, read_constraints(held_out=held_out))
        chosen = [p for t in texts if is_aside(t) for p in all_pairs(t)]
        if any(pair.marks for pair in chosen):
            sets[name] = with_few_absent(chosen)
    return sets


def with_few_absent(pairs: Sequence[Pair]) -> list[Pair]:
    """Return all that hold what is withheld, and some of the others."""
    absent = [pair for pair in pairs if not pair.marks]
    few = random.Random(1).sample(absent, min(len(absent), 2000))
    return [pair for pair in pairs if pair.marks] + few


def blocks(
    passages: Sequence[Text],
    documents: Sequence[Text],
    policies: Sequence[Sequence[Text]],
    options: argparse.Namespace,
    rng: random.Random,
) -> Iterator[list[Pair]]:
    """Yield the pairs of some texts, of few constraints, without end."""
    while True:
        drawn = rng.random()
        if policies and drawn < options.trades:
            texts = [text for trade in rng.sample(policies, 2) for text in trade]
            told = {
                s.wordings: worded(s.wordings, rng) for t in texts for s in t.secrets
            }
            asked = [[(s, told[s.wordings]) for s in t.secrets] for t in texts]
        elif documents and drawn < options.trades + options.share:
            texts = rng.sample(documents, 6)
            rows = range(len(texts[0].secrets))
            present = [row for row in rows if any(t.secrets[row].marks for t in texts)]
            absent = [row for row in rows if row not in present]
            chosen = rng.sample(present, min(14, len(present))) + rng.sample(absent, 6)
            told = [worded(texts[0].secrets[row].wordings, rng) for row in chosen]
            asked = [
                [
                    (text.secrets[row], words)
                    for row, words in zip(chosen, told, strict=True)
                ]
                for text in texts
            ]
        else:
            texts = rng.sample(passages, 6)
            asked = [[(s, worded(s.wordings, rng)) for s in t.secrets] for t in texts]
        pairs = []
        for text, own, other in zip(texts, asked, asked[1:] + asked[:1], strict=True):
            strangers = [words for _, words in other if other[0][1] != own[0][1]]
            pairs += pairs_of(text, own, strangers, rng)
        yield pairs


class Trainer:
    """What is trained, and its running mean."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.reader = Reader()
        self.network = self.reader.network
        self.trained = dict(self.network.trained())
        begun = [p for n, p in self.trained.items() if n in self.reader.begun]
        new = [p for n, p in self.trained.items() if n not in self.reader.begun]
        groups = [{"params": begun}, {"params": new}]
        self.optimizer = torch.optim.AdamW(groups, lr=options.rate, weight_decay=0.01)
        self.mean = {n: p.detach().clone() for n, p in self.trained.items()}
        self.started = time.monotonic()
        self.steps, self.best, self.loss = 0, float("inf"), 0.0
        if options.start and options.start.suffix == ".state":
            state = torch.load(options.start)
            self.network.load_state_dict(state["network"], strict=False)
            self.optimizer.load_state_dict(state["optimizer"])
            self.mean = state["mean"]
        elif options.start:
            weights = load_file(options.start)
            self.network.load_state_dict(
                {name: value.float() for name, value in weights.items()}, strict=False
            )
            self.mean = {n: p.detach().clone() for n, p in self.trained.items()}

    @property
    def done(self) -> float:
        """How much of the time is over."""
        return (time.monotonic() - self.started) / 60 / self.options.minutes

    def step(self, pairs: Sequence[Pair]) -> None:
        """Learn from a batch."""
        rate = self.options.rate * min(1.0, (self.steps + 1) / 200)
        rate *= max(0.0, 1.0 - self.done)
        # What the scorer does not have learns ten times as fast.
        for group, times in zip(self.optimizer.param_groups, (1, 10), strict=True):
            group["lr"] = rate * times
        sentence, word, present, labels, words = self.reader(pairs)
        weight = torch.tensor([pair.weight for pair in pairs])
        decided = cross_entropy(sentence, present, weight)
        weight = (weight * (0.2 + 0.8 * present))[:, None] * words
        told = cross_entropy(word, labels, weight, reduction="sum") / weight.sum()
        self.optimizer.zero_grad()
        (decided + told).backward()
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimizer.step()
        self.steps += 1
        kept = min(MEAN_OF, self.steps / (self.steps + 10))
        with torch.no_grad():
            for name, value in self.trained.items():
                self.mean[name].lerp_(value, 1 - kept)
        self.loss += (decided.item() + told.item() - self.loss) / min(self.steps, 100)

    def keep(self, sets: Mapping[str, Sequence[Pair]]) -> None:
        """Measure the running mean, and save it where it is the best so far."""
        last = {n: p.detach().clone() for n, p in self.trained.items()}
        state = {
            "network": last, "mean": self.mean, "optimizer": self.optimizer.state_dict()
        }  # fmt: skip
        torch.save(state, f"{self.options.out}.state")
        self.network.load_state_dict(self.mean, strict=False)
        figures = {name: measure(self.reader, pairs) for name, pairs in sets.items()}
        self.network.load_state_dict(last, strict=False)
        print(f"{self.done:.0%}, step {self.steps}, loss {self.loss:.4f}", flush=True)
        print(*(f"{name}: {of}" for name, of in figures.items()), sep="\n", flush=True)
        wanted = sum(of["opened@0.95"] for name, of in figures.items())
        if wanted < self.best:
            self.best = wanted
            weights = {n: v.half().contiguous() for n, v in self.mean.items()}
            save_file(weights, self.options.out)


def train(options: argparse.Namespace) -> None:
    """Train until time is up."""
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    texts = read_texts()
    passages = [text for number, text in enumerate(texts) if number % 10 != 4]
    known = read_documents(options.documents, read_constraints(held_out=False))
    documents = [text for text in known if not is_aside(text)]
    policies = read_policies(options.policies)
    sets = validation(texts, options.documents, policies)
    policies = [trade for trade in policies if not is_aside(trade[0])]
    trainer = Trainer(options)
    measured = 0.0
    for pairs in blocks(passages, documents, policies, options, rng):
        for some in batches(pairs, rng):
            trainer.step(some)
        if trainer.done >= min(1.0, measured + EVERY / options.minutes):
            trainer.keep(sets)
            measured = trainer.done
        if trainer.done >= 1.0:
            return


def average(paths: Sequence[Path], out: Path) -> None:
    """Save the mean of the weights of several times of one training."""
    read = [load_file(path) for path in paths]
    means = {n: sum(of[n].float() for of in read) / len(read) for n in read[0]}
    save_file({name: mean.half().contiguous() for name, mean in means.items()}, out)


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="`.state` or weights")
    parser.add_argument("--documents", type=Path, default=FOLDER / "documents")
    parser.add_argument("--policies", type=Path, default=FOLDER / "policies")
    parser.add_argument("--share", type=float, default=0.5, help="of documents")
    parser.add_argument("--trades", type=float, default=0.0, help="share of policies")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--average", type=Path, nargs="+", help="instead of training")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.average:
        average(options.average, options.out)
    else:
        train(options)


if __name__ == "__main__":
    main()
