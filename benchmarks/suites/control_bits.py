"""
What a wholly compromised highlighter gets into the summarizer, and how much it chooses.

Each attack string is returned as an extract, whole and line by line: nothing but the
passages' own slices may come out. What is left to choose is counted in bits, and so are
the cuts that turn their source around and are let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.suites.control_theorem import bits_of_control, bits_of_prompt
from benchmarks.suites.json_files import DATA, read_json
from sdrag.errors import UsageError
from sdrag.highlight import CutAt, verify_highlights
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

_TOKENS, _VOCABULARY = 1_000, 100_000
"""Of the plain prompt to compare with."""


def control(
    corpus: Path,
    data: Path | None = None,
    min_words: int = 5,
    min_sentence_words: int = 3,
    cut_at: str = "sentences",
) -> dict[str, Any]:
    """
    Attack verification, and bound what is left to choose.

    The corpus is SQuAD-style, or rows with `text`; the attacks are a list of strings,
    or an object of lists.
    """
    section = {
        "min_words": min_words,
        "min_sentence_words": min_sentence_words,
        "cut_at": cut_at,
    }
    rules = Policy.read({"highlight": section}).highlight
    texts = _read_texts(corpus)
    passages = [Passage(f"passage-{number}", text) for number, text in enumerate(texts)]
    by_id = {passage.id: passage.text for passage in passages}
    attacks = _read_attacks(data) if data else []
    let_in = [
        verify_highlights(
            list(dict.fromkeys([attack, *attack.splitlines()])),
            passages,
            rules.least_words,
            rules.threshold,
            cut_at=rules.cut_at,
            max_highlights=rules.max_highlights,
        )
        for attack in attacks
    ]
    least: dict[CutAt, int] = {"words": min_words, "sentences": min_sentence_words}
    return {
        "tried": len(attacks),
        "accepted": sum(bool(outcomes) for outcomes in let_in),
        "foreign": sum(
            cut.text != cut.span.of(by_id[cut.passage_id])
            for outcomes in let_in
            for cut in outcomes
        ),
        "bits_plain": bits_of_prompt(_TOKENS, _VOCABULARY),
        "bits_by_cut": {
            cut: bits_of_control(texts, words, rules.max_highlights, cut_at=cut)
            for cut, words in least.items()
        },
        "turned_cuts": {cut: accepted_cuts(cut) for cut in least},
        "passages": len(passages),
    }


def _read_attacks(path: Path) -> list[str]:
    value = read_json(path)
    lists = value.values() if isinstance(value, Mapping) else [value]
    return [text for texts in lists for text in texts]


def _read_texts(path: Path) -> list[str]:
    value = read_json(path)
    try:
        if isinstance(value, Mapping):
            paragraphs = [p for of in value["data"] for p in of["paragraphs"]]
            return [paragraph["context"] for paragraph in paragraphs]
        return [row["text"] for row in value]
    except (KeyError, TypeError):
        raise UsageError(f"{path.name} holds no passages.") from None


class TurnedCut(NamedTuple):
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
    return [TurnedCut(*case) for case in read_json(DATA / "highlight_cuts.json")]


def accepted_cuts(cut_at: CutAt) -> dict[str, int]:
    """Count the cuts of the set that come through without what governs them."""
    cuts = load_cuts()
    accepted = [
        any(
            case.turn not in highlight.text
            for highlight in verify_highlights(
                [case.cut], [Passage("case", case.text)], cut_at=cut_at
            )
        )
        for case in cuts
    ]
    return {"accepted": sum(accepted), "of": len(cuts)}
