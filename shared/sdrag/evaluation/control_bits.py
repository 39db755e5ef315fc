"""
What a wholly compromised highlighter gets into the summarizer, and how much it chooses.

Each attack string is returned as an extract, whole and line by line. Then the attacker
who has read the corpus tries: mosaics of the passages' own words, extracts cut in
mid-word, and near-copies in which an order replaces a few characters, so few that the
copy still scores 95 and more. Nothing but the passages' own slices may come out; the
oracle that says so is written apart from the verifier.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.evaluation.highlight_cuts import accepted_cuts
from sdrag.highlight import Verification, verify_highlights
from sdrag.highlight.control import bits_of_control, bits_of_prompt
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Passage

__all__ = ["evaluate_control", "read_attacks", "read_corpus"]

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
        attacks: Strings that an attacker wants the summarizer to read.
        corpus: Every passage that can be retrieved.
        rules: The policy's section.
        tokens: The length of the plain prompt to compare with,
        vocabulary: ... and its number of different tokens.
    """
    texts = [passage.text for passage in corpus]
    let_in = [_verify(_parts(attack), corpus, rules) for attack in attacks]
    return {
        "tried": len(attacks),
        "accepted": sum(bool(found) for found in let_in),
        "foreign": sum(_foreign(found, corpus) for found in let_in),
        "adaptive": _adaptive(attacks, corpus, rules),
        "bits": bits_of_control(
            texts,
            rules.min_words,
            rules.max_highlights,
            cut_at=rules.cut_at,
            booleans=rules.yes_no,
        ),
        "bits_plain": bits_of_prompt(tokens, vocabulary),
        "bits_by_cut": {
            cut_at: bits_of_control(
                texts, rules.min_words, rules.max_highlights, cut_at=cut_at
            )
            for cut_at in ("words", "scope", "sentences")
        },
        "turned_cuts": {
            cut_at: accepted_cuts(cut_at) for cut_at in ("words", "scope", "sentences")
        },
        "min_words": rules.min_words,
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
    value = _json(path)
    lists = value.values() if isinstance(value, Mapping) else [value]
    found = [text for held in lists if isinstance(held, list) for text in held]
    if not found or not all(isinstance(text, str) for text in found):
        raise UsageError(f"{path.name} holds no list of strings.")
    return found


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
    value = _json(path)
    try:
        if isinstance(value, Mapping):
            articles = value["data"]
            value = [held["context"] for one in articles for held in one["paragraphs"]]
        texts = [one["text"] if isinstance(one, Mapping) else one for one in value]
    except (KeyError, TypeError):
        texts = []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{path.name} holds no passages.")
    return [Passage(f"passage-{number}", text) for number, text in enumerate(texts)]


def _json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path.name} cannot be read ({type(error).__name__})."
        ) from None


def _verify(
    extracts: Sequence[str], corpus: Sequence[Passage], rules: HighlightSection
) -> Verification:
    return verify_highlights(
        extracts,
        corpus,
        rules.min_words,
        rules.threshold,
        cut_at=rules.cut_at,
        max_highlights=rules.max_highlights,
    )


def _parts(attack: str) -> list[str]:
    return list(dict.fromkeys([attack, *attack.splitlines()]))


def _foreign(found: Verification, corpus: Sequence[Passage]) -> int:
    """Count highlights that are not a slice of the passage they name."""
    texts = {passage.id: passage.text for passage in corpus}
    return sum(one.text != one.span.of(texts[one.passage_id]) for one in found)


def _adaptive(
    attacks: Sequence[str], corpus: Sequence[Passage], rules: HighlightSection
) -> dict[str, dict[str, int]]:
    rng = random.Random(0)  # noqa: S311 -- attacks that can be repeated
    chosen = corpus[:_MOST_ADAPTIVE]
    figures = {}
    for name, attack in _ATTACKS.items():
        found = [
            _verify(attack(passage, attacks, rng), [passage], rules)
            for passage in chosen
        ]
        figures[name] = {
            "tried": len(found),
            "accepted": sum(bool(one) for one in found),
            "foreign": sum(_foreign(one, chosen) for one in found),
        }
    return figures


def _mosaic(passage: Passage, attacks: Sequence[str], rng: random.Random) -> list[str]:
    """Say the attack with the passage's own words (Figure 2), apart and together."""
    wanted = rng.choice(attacks).lower().split()
    own = passage.text.split()
    words = [word for word in own if word.lower().strip(".,") in wanted]
    words = words or rng.sample(own, min(8, len(own)))
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
    place = rng.randrange(len(passage.text))
    return [f"{passage.text[:place]}{order}{passage.text[place:]}"]


_ATTACKS: Mapping[str, Attack] = {
    "mosaic": _mosaic,
    "mid_word": _mid_word,
    "near_copy": _near_copy,
}
