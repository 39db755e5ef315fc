"""
Train the head that tells a constraint of something from one of nothing.

It reads the packaged MiniLM's state of each token of what a constraint is about,
without its order: a few attentions over the tokens and one hidden layer, three times,
for the mean of three varies less than one. They learn from `lookalikes.jsonl`,
`vague.toml`, `concrete.toml`, wordings of the scorer and of the suites, and both kinds
composed, so that "secrets in letters" stays vague and "key facts about boats" stays
concrete.

    python -m benchmarks.vagueness.train --out vagueness.safetensors

It prints what is refused and accepted wrongly where whole registers are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.numpy import save_file
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils.rnn import pad_sequence

from benchmarks.scorer.labelled import read_policies
from benchmarks.scorer.texts import read_texts
from benchmarks.suites.json_files import DATA, load_articles
from benchmarks.suites.wordings import read_wordings
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import limit_margin, read_subject
from sdrag.embeddings import DIMENSIONS, embed_tokens
from sdrag.vocabulary import Constraint

FOLDER = Path(__file__).parent
SCORER = FOLDER.parent / "scorer"
ASIDE = FOLDER.parent / "wordings" / "aside.jsonl"
MARKED = FOLDER.parent / "wordings" / "marked.txt"
PACKAGED = DATA / "wordings.jsonl"
PASSAGES, COMPOSED = 2500, 900
FOLDS = 6
ATTENTIONS, HIDDEN, HEADS, EPOCHS, BATCH, RATE = 4, 64, 3, 5, 64, 2e-3
WEIGHTS = {"lookalike": 5.0, "suite": 6.0, "scorer": 2.0, "concrete": 3.0}
LENGTH = 6.0
"""Of a token's vector while it is trained; the weights that ship take unit length."""
_MARK = re.compile(r"\{\w+\|([^}]*)\}")


class Row(NamedTuple):
    """A subject, whether it is vague, its register, and above what it is refused."""

    subject: str
    vague: bool
    register: str
    least: float = 0.0

    @property
    def weight(self) -> float:
        """How much it counts: what was written to be told apart, most."""
        kind = self.register.partition(":")[0]
        return WEIGHTS.get(kind, 3.0 if self.vague else 1.0)


def read_rows(rng: random.Random) -> list[Row]:
    """Read every constraint, and compose more of them."""
    texts = [
        (text, name == "vague", f"{name}:{register}")
        for name in ("vague", "concrete")
        for register, listed in _read(FOLDER / f"{name}.toml").items()
        if register != "parts"
        for text in listed
    ]
    texts += [
        (row["constraint"], row["vague"], f"lookalike:{row['register']}")
        for row in map(json.loads, (FOLDER / "lookalikes.jsonl").open(encoding="utf-8"))
    ]
    texts += [
        (text, False, f"scorer:{name}")
        for name, entry in _read(SCORER / "constraints.toml").items()
        for text in entry["wordings"]
    ]
    texts += [
        (wording["constraint"], False, f"suite:{wording['id']}")
        for path in (PACKAGED, ASIDE)
        for wording in read_wordings(path)
        if wording["expect"] == "enforce" and wording["group"] != "blanket"
    ]
    texts += [
        (text, False, f"trade:{documents[0].genre}")
        for documents in read_policies(SCORER / "policies")
        for secret in documents[0].secrets
        for text in secret.wordings
    ]
    texts += [
        (text, False, f"article:{article['title']}")
        for article in load_articles()
        for text in article["constraint_to_witness_words"]
    ]
    texts += [(text, False, f"marked:{n}") for n, text in enumerate(_read_marked())]
    texts += [(text, False, f"text:{n}") for n, text in enumerate(_sample(rng))]
    rows = []
    for text, vague, register in texts:
        parsed = parse(Constraint("-", text))
        least = limit_margin(parsed)
        rows.append(Row(read_subject(parsed), vague, register, least))
    return [*rows, *_compose([row for row in rows if not row.vague], rng)]


def _read(path: Path) -> dict[str, object]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _read_marked() -> list[str]:
    """Read constraints with marked parts, without the marks."""
    return _MARK.sub(r"\1", MARKED.read_text(encoding="utf-8")).splitlines()


def _sample(rng: random.Random) -> list[str]:
    secrets = (s for text in read_texts() for s in text.secrets)
    return rng.sample([w for s in secrets for w in s.wordings], PASSAGES)


def _compose(concrete: list[Row], rng: random.Random) -> list[Row]:
    """Say vague words of nothing, and of something."""
    parts = _read(FOLDER / "vague.toml")["parts"]
    rows = []
    for number in range(COMPOSED):
        adjective, noun = rng.choice(parts["adjectives"]), rng.choice(parts["nouns"])
        form = rng.choice(parts["forms"])
        text = form.format(a=adjective, b=rng.choice(parts["adjectives"]), n=noun)
        rows.append(Row(text, vague=True, register=f"composed:{number % FOLDS}"))
        row = rng.choice(concrete)
        about = row.subject[:1].lower() + row.subject[1:]
        form = rng.choice(parts["about"])
        text = form.format(a=adjective, n=noun, c=about)
        rows.append(Row(text, vague=False, register=row.register))
    return rows


class Head(torch.nn.Module):
    """Attentions over the states of tokens, and a hidden layer."""

    def __init__(self) -> None:
        """Draw the weights."""
        super().__init__()
        self.attention = torch.nn.Linear(DIMENSIONS, ATTENTIONS, bias=False)
        self.hidden = torch.nn.Linear(DIMENSIONS * ATTENTIONS, HIDDEN)
        self.margin = torch.nn.Linear(HIDDEN, 1)
        self.drop = torch.nn.Dropout(0.3)

    def forward(self, states: list[torch.Tensor]) -> torch.Tensor:
        """Return the margin of each text; its states have shape (tokens, 384)."""
        padded = LENGTH * pad_sequence(states, batch_first=True)
        real = pad_sequence(
            [torch.ones(len(each), 1) for each in states], batch_first=True
        )
        scores = self.attention(padded).masked_fill(real == 0, -1e4)
        read = scores.softmax(dim=1).transpose(1, 2) @ padded
        hidden = self.hidden(self.drop(read.flatten(start_dim=1))).relu()
        return self.margin(self.drop(hidden)).squeeze(dim=-1)


def fit(states: list[torch.Tensor], rows: list[Row]) -> list[Head]:
    """Train heads; the margin of a text is the mean of theirs."""
    return [_fit(states, rows, seed) for seed in range(HEADS)]


def _fit(states: list[torch.Tensor], rows: list[Row], seed: int) -> Head:
    torch.manual_seed(seed)
    head = Head()
    vague = torch.tensor([float(row.vague) for row in rows])
    weights = torch.tensor([row.weight for row in rows])
    optimizer = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.02)
    steps = EPOCHS * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(rows)).split(BATCH):
            margins = head([states[n] for n in batch])
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(
                margins, vague[batch], weights[batch]
            ).backward()
            optimizer.step()
            schedule.step()
    return head.eval()


@torch.no_grad()
def measure(heads: list[Head], states: list[torch.Tensor]) -> np.ndarray:
    """Return margins: above 0 a text is rather vague."""
    starts = range(0, len(states), BATCH)
    batches = [states[at : at + BATCH] for at in starts]
    margins = [torch.cat([head(batch) for batch in batches]) for head in heads]
    return torch.stack(margins).mean(dim=0).numpy()


def cross_validate(states: list[torch.Tensor], rows: list[Row]) -> np.ndarray:
    """Return margins by heads that saw nothing of a row's register."""
    registers = sorted({row.register for row in rows})
    random.Random(7).shuffle(registers)
    folds = {register: n % FOLDS for n, register in enumerate(registers)}
    margins = np.zeros(len(rows))
    for left in range(FOLDS):
        aside = [n for n, row in enumerate(rows) if folds[row.register] == left]
        seen = [n for n, row in enumerate(rows) if folds[row.register] != left]
        heads = fit([states[n] for n in seen], [rows[n] for n in seen])
        margins[aside] = measure(heads, [states[n] for n in aside])
    return margins


def report(margins: np.ndarray, rows: list[Row]) -> None:
    """Print what is judged wrongly of what people wrote, and of look-alikes alone."""
    for name in ("", "lookalike:"):
        for vague in (False, True):
            judged = [
                margin >= row.least
                for margin, row in zip(margins, rows, strict=True)
                if row.vague == vague
                and row.register.startswith(name)
                and not row.register.startswith("composed:")
            ]
            wrong = np.mean(judged) if not vague else 1 - np.mean(judged)
            kind = "vague and accepted" if vague else "concrete and refused"
            print(f"{name or 'all':12}{kind:22}{wrong:.3f} of {len(judged):,}")


def save(heads: list[Head], out: Path) -> None:
    """Save the weights of all heads, stacked."""
    weights = {}
    for name in heads[0].state_dict():
        stacked = torch.stack([head.state_dict()[name] for head in heads])
        long = name in {"attention.weight", "hidden.weight"}
        weights[name] = (stacked * LENGTH if long else stacked).half().numpy()
    save_file(weights, out)


def main() -> None:
    """Measure with registers left out, train on all, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    rows = read_rows(random.Random(7))
    embedded = embed_tokens([row.subject for row in rows])
    states = [torch.from_numpy(states) for states, _ in embedded]
    report(cross_validate(states, rows), rows)
    save(fit(states, rows), out)


if __name__ == "__main__":
    main()
