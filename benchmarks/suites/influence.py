"""
What hidden words decide of what comes back, by default and with `influence: none`.

Each article is indexed twice: as it is, and with every witness word that is hidden
replaced by another of its kind. The same questions are asked of both, those of the
article and some that name a witness. Where ids, order, scores or texts differ, an asker
can tell the two corpora apart by words that are shown in neither.

The asker of the table has five names, one of which a constraint hides, and so many
questions: each names one of them, and the name with the highest scores is the guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from sdrag.disclosure.disclose import redact_for_audience
from sdrag.effects.runner import Port
from sdrag.engine import HostSearch
from sdrag.evaluation.articles import Article
from sdrag.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.evaluation.measures import witness_spans
from sdrag.pipeline import Engine, Request, bind, disclose, retrieve
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

__all__ = ["MODES", "measure_influence"]

MODES = ("ranking", "none")
_ASKED = (5, 20, 100)
_NAMED = re.compile(r"[A-Z][^\W\d_]{2,}")
_OTHERS = (
    "Pemberton", "Kowalczyk", "Lindgren", "Okonkwo", "Marchetti", "Vandenberg",
    "Ashworth", "Delacroix", "Fitzgerald", "Nakamura", "Whitlock", "Brannigan",
)  # fmt: skip
_VERBS = (
    "do", "say", "know", "sign", "want", "write", "see", "find", "ask", "pay", "lose",
    "take", "hide", "report", "promise", "refuse", "answer", "steal", "give", "keep",
)  # fmt: skip


class _Host:
    """An article behind the wrapper's pipeline, in one of the modes."""

    def __init__(self, article: Article, mode: str, state: Path) -> None:
        rules = [{"text": text, "always": True} for text in article.witnesses]
        settings = {"constraints": rules, "disclosure": {"influence": mode}}
        policy = Policy.read(settings)
        self._engine = Engine(policy, state=state)
        chunks = sentence_chunks(article.text, article.name, article.metadata)
        if mode == "none":
            steps = redact_for_audience(chunks, None, self._engine.disclosure)
            chunks = self._engine.run(steps)[0].passages
        else:
            self._engine.run(bind(chunks, self._engine))
        self._index = SentenceIndex(chunks)

    def hidden(self, article: Article) -> list[str]:
        """Return the witness words of which none leaves, whatever is asked."""
        steps = disclose(self._index.passages, Request(""), self._engine)
        shown = " ".join(each.text for each in self._engine.run(steps)[0].passages)
        return [
            word for word in _witnesses(article) if not witness_spans(shown, [word])
        ]

    def search(self, question: str, limit: int) -> tuple[Passage, ...]:
        """Return what the index finds, and no wrapper reads."""
        return self._index.search(question, limit)

    def ask(self, question: str, limit: int) -> list[tuple[str, str, float]]:
        """Return ids, texts and scores of what is released for a question."""
        search: HostSearch = Port(lambda e: self.search(e.items[0], limit))
        steps = retrieve(Request(question), self._engine)
        passages = self._engine.run(steps, search=search)[0].passages
        return [(each.id, each.text, each.score or 0.0) for each in passages]


def measure_influence(articles: Sequence[Article], top_k: int) -> dict[str, Any]:
    """
    Ask of each article, and of its twin with other secrets.

    Args:
        articles: With the words that each constraint hides.
        top_k: Chunks retrieved.

    Returns:
        By mode: of how many `questions` the release `differs` between twins; the shares
        of names `guessed` right with 5, 20 and 100 questions, of which chance has 0.2;
        the median `seconds` of a question with a name that the corpus `held`, with one
        that it did not, and of the `bare` index.
    """
    measured = {}
    for mode in MODES:
        with TemporaryDirectory() as folder:
            measured[mode] = _measure(articles, mode, top_k, Path(folder))
    return measured


def _two_states(folder: Path, name: str) -> tuple[Path, Path]:
    """Return states under one key, so that ids are the same, and nothing else is."""
    first, second = folder / name / "a", folder / name / "b"
    first.mkdir(parents=True)
    open_state(first / "state")
    copytree(first, second)
    return first / "state", second / "state"


def _measure(
    articles: Sequence[Article], mode: str, top_k: int, folder: Path
) -> dict[str, Any]:
    draw, asked, differ = Random(1), 0, 0
    right: dict[int, list[bool]] = defaultdict(list)
    seconds: dict[str, list[float]] = {"held": [], "other": [], "bare": []}
    for article in articles:
        state, other = _two_states(folder, article.name)
        host = _Host(article, mode, state)
        twin = _Host(_swapped(article, host.hidden(article), draw), mode, other)
        names = [word for word in _witnesses(article) if _NAMED.fullmatch(word)]
        questions = [question.text for question in article.questions]
        questions += [f"What did {name} do?" for name in names]
        for question in questions:
            asked += 1
            differ += host.ask(question, top_k) != twin.ask(question, top_k)
        for name in names:
            candidates = [name, *draw.sample(_OTHERS, 4)]
            for count in _ASKED:
                guess = _guess(host, candidates, count // len(candidates), draw)
                right[count].append(guess == name)
            for kind, ask, candidate in (
                ("held", host.ask, name),
                ("other", host.ask, candidates[1]),
                ("bare", host.search, candidates[2]),
            ):
                begun = perf_counter()
                ask(f"Where was {candidate}, and since when?", top_k)
                seconds[kind].append(perf_counter() - begun)
    return {
        "questions": asked,
        "differs": round(differ / asked, 4),
        "names": len(seconds["held"]),
        "guessed": {n: round(sum(hits) / len(hits), 4) for n, hits in right.items()},
        "seconds": {kind: round(median(times), 4) for kind, times in seconds.items()},
    }


def _guess(host: _Host, names: Sequence[str], each: int, draw: Random) -> str:
    """Return the name whose questions score highest; any of those that are equal."""
    scores = {
        name: sum(
            score
            for verb in _VERBS[:each]
            for _, _, score in host.ask(f"What did {name} {verb}?", 1)
        )
        for name in names
    }
    best = max(scores.values())
    return draw.choice([name for name in names if scores[name] == best])


def _witnesses(article: Article) -> Iterator[str]:
    yield from dict.fromkeys(w for words in article.witnesses.values() for w in words)


def _swapped(article: Article, hidden: Iterable[str], draw: Random) -> Article:
    """Replace names and figures among the hidden words by others of their kind."""
    others: dict[str, str] = {}
    for word in hidden:
        if _NAMED.fullmatch(word):
            others[word] = draw.choice(_OTHERS)
        elif any(map(str.isdigit, word)):
            others[word] = re.sub(r"\d", partial(_other_digit, draw), word)
    if not others:
        return article
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(w)}(?!\w)" for w in others))
    text = pattern.sub(lambda match: others[match.group()], article.text)
    witnesses: Mapping[str, tuple[str, ...]] = {
        constraint: tuple(others.get(word, word) for word in words)
        for constraint, words in article.witnesses.items()
    }
    return replace(article, text=text, witnesses=witnesses)


def _other_digit(draw: Random, match: re.Match[str]) -> str:
    """Draw a digit that is no larger, so that a time stays one."""
    digit = int(match.group())
    return str(draw.randint(min(1, digit), digit))
