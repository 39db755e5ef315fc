"""
What a wholly compromised highlighter gets into the summarizer, and how much it chooses.

Each attack string is returned as an extract, whole and line by line. Then the attacker
who has read the corpus tries: mosaics of the passages' own words, extracts cut in
mid-word, and near-copies in which an order replaces a few characters, so few that the
copy still scores 95 and more. Nothing but the passages' own slices may come out; the
oracle that says so is written apart from the verifier.

Cuts that turn their source around are counted too (`TurnedCut`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.control_theorem import bits_of_control, bits_of_prompt
from benchmarks.suites.json_files import DATA, read_json
from sdrag.errors import UsageError
from sdrag.highlight import CutAt, Verification, verify_highlights
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Passage

__all__ = [
    "accepted_cuts",
    "evaluate_control",
    "load_cuts",
    "read_attacks",
    "read_corpus",
]

_MOST_ADAPTIVE = 200
"""How many passages the adaptive attacks are tried on."""

Attack = Callable[[Passage, Sequence[str], random.Random], list[str]]


def evaluate_control(
    attacks: Sequence[str],
    corpus: Sequence[Passage],
    rules: HighlightSection,
    *,
    tokens: int = 1_000,
    vocabulary: int = 100_000,
) -> dict[str, Any]:
    """
    Attack verification and count what is left to choose.

    Args:
        attacks: Strings that an attacker wants the summarizer to read; may be none.
        corpus: Every passage that can be retrieved.
        rules: The policy's section.
        tokens: The length of the plain prompt to compare with,
        vocabulary: ... and its number of different tokens.
    """
    texts = [passage.text for passage in corpus]
    let_in = [_verify(_parts(attack), corpus, rules) for attack in attacks]
    return {
        "tried": len(attacks),
        "accepted": sum(bool(outcomes) for outcomes in let_in),
        "foreign": sum(_foreign(outcomes, corpus) for outcomes in let_in),
        "adaptive": _adaptive(attacks, corpus, rules),
        "bits": bits_of_control(
            texts, rules.least_words, rules.max_highlights, cut_at=rules.cut_at
        ),
        "bits_plain": bits_of_prompt(tokens, vocabulary),
        "bits_by_cut": {
            "words": bits_of_control(
                texts, rules.min_words, rules.max_highlights, cut_at="words"
            ),
            "sentences": bits_of_control(
                texts, rules.min_sentence_words, rules.max_highlights
            ),
        },
        "turned_cuts": {
            cut_at: accepted_cuts(cut_at) for cut_at in ("words", "sentences")
        },
        "min_words": rules.min_words,
        "min_sentence_words": rules.min_sentence_words,
        "max_highlights": rules.max_highlights,
        "tokens": tokens,
        "vocabulary": vocabulary,
        "passages": len(corpus),
    }


def read_attacks(path: Path) -> list[str]:
    """
    Read attack strings: a JSON list, or an object of lists.

    Raises:
        UsageError: The file is neither.
    """
    value = read_json(path)
    lists = value.values() if isinstance(value, Mapping) else [value]
    outcomes = [text for texts in lists if isinstance(texts, list) for text in texts]
    if not outcomes or not all(isinstance(text, str) for text in outcomes):
        raise UsageError(f"{path.name} holds no list of strings.")
    return outcomes


def read_corpus(path: Path) -> list[Passage]:
    """
    Read passages from a file or a folder.

    Args:
        path: A JSON list of strings or of objects with `text`, JSONL of such objects,
            a SQuAD-style file, or a folder of text files.

    Raises:
        UsageError: It is none of these.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.txt"))
        return [Passage(file.name, file.read_text(encoding="utf-8")) for file in files]
    value = read_json(path)
    try:
        if isinstance(value, Mapping):
            articles = value["data"]
            paragraphs = [p for article in articles for p in article["paragraphs"]]
            value = [paragraph["context"] for paragraph in paragraphs]
        texts = [row["text"] if isinstance(row, Mapping) else row for row in value]
    except (KeyError, TypeError):
        texts = []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{path.name} holds no passages.")
    return [Passage(f"passage-{number}", text) for number, text in enumerate(texts)]


def _verify(
    extracts: Sequence[str], corpus: Sequence[Passage], rules: HighlightSection
) -> Verification:
    return verify_highlights(
        extracts,
        corpus,
        rules.least_words,
        rules.threshold,
        cut_at=rules.cut_at,
        max_highlights=rules.max_highlights,
    )


def _parts(attack: str) -> list[str]:
    return list(dict.fromkeys([attack, *attack.splitlines()]))


def _foreign(outcomes: Verification, corpus: Sequence[Passage]) -> int:
    """Count highlights that are not a slice of the passage they name."""
    texts = {passage.id: passage.text for passage in corpus}
    return sum(cut.text != cut.span.of(texts[cut.passage_id]) for cut in outcomes)


def _adaptive(
    attacks: Sequence[str], corpus: Sequence[Passage], rules: HighlightSection
) -> dict[str, dict[str, int]]:
    if not attacks:
        return {}
    rng = random.Random(0)
    chosen = corpus[:_MOST_ADAPTIVE]
    figures = {}
    for name, attack in _ATTACKS.items():
        outcomes = [
            _verify(attack(passage, attacks, rng), [passage], rules)
            for passage in chosen
        ]
        figures[name] = {
            "tried": len(outcomes),
            "accepted": sum(bool(cuts) for cuts in outcomes),
            "foreign": sum(_foreign(cuts, chosen) for cuts in outcomes),
        }
    return figures


def _mosaic(passage: Passage, attacks: Sequence[str], rng: random.Random) -> list[str]:
    """Say the attack with the passage's own words (Figure 2), apart and together."""
    wanted = rng.choice(attacks).lower().split()
    known = passage.text.split()
    words = [word for word in known if word.lower().strip(".,") in wanted]
    words = words or rng.sample(known, min(8, len(known)))
    return [*words, " ".join(words)]


def _mid_word(
    passage: Passage, attacks: Sequence[str], rng: random.Random
) -> list[str]:
    """Cut a few words out of the passage, one character late and one early."""
    del attacks
    words = passage.text.split(" ")
    start = rng.randrange(max(1, len(words) - 8))
    return [" ".join(words[start : start + 7])[2:-2]]


def _near_copy(
    passage: Passage, attacks: Sequence[str], rng: random.Random
) -> list[str]:
    """Put an order into a copy of the passage, as long as a score of 95 allows."""
    order = rng.choice(attacks)[: max(1, len(passage.text) // 21)]
    start = rng.randrange(len(passage.text))
    return [f"{passage.text[:start]}{order}{passage.text[start:]}"]


_ATTACKS: Mapping[str, Attack] = {
    "mosaic": _mosaic,
    "mid_word": _mid_word,
    "near_copy": _near_copy,
}


@dataclass(frozen=True, slots=True)
class TurnedCut:
    """
    A cut that turns its source around.

    Args:
        kind: What does it: negation, condition, attribution, exception, quotation.
        text: The passage.
        cut: The part that says something else than the whole.
        turn: The words that have to come along.
    """

    kind: str
    text: str
    cut: str
    turn: str


def load_cuts() -> list[TurnedCut]:
    """Read the set that ships with the package."""
    source = DATA / "highlight_cuts.json"
    return [TurnedCut(*case) for case in json.loads(source.read_text(encoding="utf-8"))]


def accepts(case: TurnedCut, cut_at: CutAt) -> bool:
    """Say whether a mode lets the cut through without what governs it."""
    passage = Passage("case", case.text)
    return any(
        case.turn not in highlight.text
        for highlight in verify_highlights([case.cut], [passage], cut_at=cut_at)
    )


def accepted_cuts(cut_at: CutAt) -> dict[str, Any]:
    """Count the accepted cuts of the set, in all and by kind."""
    by_kind: dict[str, list[bool]] = {}
    for case in load_cuts():
        by_kind.setdefault(case.kind, []).append(accepts(case, cut_at))
    return {
        "accepted": sum(sum(outcomes) for outcomes in by_kind.values()),
        "of": sum(len(outcomes) for outcomes in by_kind.values()),
        "by_kind": {kind: sum(outcomes) for kind, outcomes in by_kind.items()},
    }
