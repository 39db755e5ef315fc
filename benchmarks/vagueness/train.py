"""
Train the head that tells a constraint of something from one of nothing.

It reads the packaged MiniLM's vector of what a constraint is about, without its order:
a support vector machine over those of `vague.toml` and of `concrete.toml`, of wordings
of the scorer and of the suites, and of both kinds composed, so that "secrets in
letters" stays vague and "key facts about boats" stays concrete.

    python -m benchmarks.vagueness.train --out vagueness.safetensors

It prints what is refused and accepted wrongly where whole registers are left out.
"""

from __future__ import annotations

import argparse
import random
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import save_file
from sentence_transformers import SentenceTransformer
from sklearn.svm import SVC

from benchmarks.networks.layers import model_folder
from benchmarks.scorer.labelled import read_policies
from benchmarks.scorer.texts import read_texts
from benchmarks.suites.json_files import DATA, load_articles
from benchmarks.suites.wordings import read_wordings
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import GAMMA, limit_margin, read_subject
from sdrag.vocabulary import Constraint

FOLDER = Path(__file__).parent
SCORER = FOLDER.parent / "scorer"
ASIDE = FOLDER.parent / "wordings" / "aside.jsonl"
MARKED = FOLDER.parent / "wordings" / "marked.txt"
PACKAGED = DATA / "wordings.jsonl"
PASSAGES, COMPOSED = 2500, 900
FOLDS = 6
_MARK = re.compile(r"\{\w+\|([^}]*)\}")


class Row(NamedTuple):
    """A subject, whether it is vague, its register, and above what it is refused."""

    subject: str
    vague: bool
    register: str
    least: float = 0.0


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


def fit(vectors: np.ndarray, vague: np.ndarray) -> SVC:
    """Fit the machine."""
    weights = {True: 2, False: 1}
    return SVC(C=5, gamma=GAMMA, class_weight=weights).fit(vectors, vague)


def main() -> None:
    """Measure with registers left out, train on all, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    rng = random.Random(7)
    rows = read_rows(rng)
    minilm = SentenceTransformer(str(model_folder()), device="cpu")
    subjects = [row.subject for row in rows]
    vectors = minilm.encode(subjects, batch_size=64, normalize_embeddings=True)
    vague = np.array([row.vague for row in rows])
    registers = sorted({row.register for row in rows})
    rng.shuffle(registers)
    folds = {register: n % FOLDS for n, register in enumerate(registers)}
    fold = np.array([folds[row.register] for row in rows])
    margins = np.zeros(len(rows))
    for left in range(FOLDS):
        aside = fold == left
        machine = fit(vectors[~aside], vague[~aside])
        margins[aside] = machine.decision_function(vectors[aside])
    written = np.array([not row.register.startswith("composed:") for row in rows])
    refused = margins >= np.array([row.least for row in rows])
    print(f"concrete and refused: {np.mean(refused[~vague]):.4f}")
    print(f"vague and accepted: {np.mean(~refused[vague & written]):.3f}")
    machine = fit(vectors, vague)
    save_file(
        {
            "vectors": machine.support_vectors_.astype(np.float16),
            "weights": machine.dual_coef_[0].astype(np.float32),
            "bias": machine.intercept_.astype(np.float32),
        },
        out,
    )
    print(f"{len(rows)} constraints, {len(machine.support_vectors_)} vectors")


if __name__ == "__main__":
    main()
