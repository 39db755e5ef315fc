"""
The retrieval oracle: does asking for a value tell whether the index holds it?

Vectors are made from text. Where that is the unredacted text, a question that names a
withheld value finds its chunk, and although the value is cut out of it, the score is
high and the same id comes first however the question is put. The asker is given a true
value and decoys of the same kind, which are withheld in other articles, and takes the
one with the higher score, or with the steadier first id, for true. The advantage is the
share of pairs guessed right, less the share guessed wrong: 0 is guessing, 1 is knowing.

Measured over an index of the chunks as they are, and over a redacted view of them; and
what the view costs, as completeness (equation 10) of what is released from each. A
wrapper hands ids and scores on as the index gives them, so the index is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks.suites.rcqa import policy_of
from sdrag.disclosure.audience_view import redacted_view
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.setup import Locator
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Outcome, Reply, Steps, run
from sdrag.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.evaluation.measures import completeness, witness_spans
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Confidential, Constraint, Finding, Passage
from sdrag.wrapper_setup import local_embeddings

__all__ = ["ENGINES", "Exact", "advantage", "evaluate_retrieval_oracle"]

ENGINES = ("local", "exact")
"""The local engine, and one that finds exactly the witness words."""

_TEMPLATES = ("{}", "Is {} mentioned anywhere?", "What is said about {}?")
_DECOYS = 4
_TOP_K = 10


@dataclass(frozen=True, slots=True, repr=False)
class Exact(Confidential):
    """
    A locator that finds the witness words of each constraint, and nothing else.

    Args:
        witnesses: By the constraint's text.
    """

    witnesses: Mapping[str, Sequence[str]]

    @property
    def identity(self) -> str:
        """Name it; its witnesses are those of one index."""
        return "exact"

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """Find the witness words."""
        yield from ()
        return [
            Reply(
                tuple(
                    Finding(span, rule.id)
                    for rule in constraints
                    for span in witness_spans(passage.text, self.witnesses[rule.text])
                )
            )
            for passage in passages
        ]


@dataclass(frozen=True, slots=True, repr=False)
class _Value(Confidential):
    """A withheld value, its article and its kind."""

    article: int
    text: str
    kind: str


def evaluate_retrieval_oracle(
    articles: Sequence[Mapping[str, Any]], *, engines: Sequence[str] = ENGINES
) -> dict[str, Any]:
    """
    Ask for true values and decoys, with unredacted vectors and with a view's.

    Args:
        articles: As in the paper's listing; each is an index of its own.
        engines: Of `ENGINES`; each makes its own view.

    Returns:
        For `unredacted` and for the view of each engine the advantage `by_scores` and
        `by_ids`, over all values and over the names of people alone, and for each
        engine the completeness with unredacted vectors and with the view's.
    """
    values = list(_values(articles))
    raw = [_raw(article, number) for number, article in enumerate(articles)]
    advantages = {"unredacted": _advantages(raw, articles, values)}
    costs = {}
    for engine in engines:
        built = [_engine(article, engine) for article in articles]
        views = [_view(index, own) for index, own in zip(raw, built, strict=True)]
        advantages[f"view_{engine}"] = _advantages(views, articles, values)
        costs[engine] = {
            "unredacted": _completeness(articles, raw, built),
            "view": _completeness(articles, views, built),
        }
    people = sum(value.kind == "people" for value in values)
    return {
        "advantage": advantages,
        "completeness": costs,
        "values": len(values),
        "people": people,
    }


def advantage(pairs: Sequence[tuple[float, float]]) -> float:
    """Return how much better than guessing the higher of each pair is the first."""
    if not pairs:
        return 0.0
    return round(fmean((true > decoy) - (true < decoy) for true, decoy in pairs), 4)


def _values(articles: Sequence[Mapping[str, Any]]) -> Iterator[_Value]:
    for number, article in enumerate(articles):
        for text, words in article["constraint_to_witness_words"].items():
            found = parse(Constraint("c", text))
            kind = "people" if found.people else ",".join(sorted(found.types))
            for word in dict.fromkeys(words):
                yield _Value(number, word, kind)


def _decoys(value: _Value, values: Sequence[_Value], text: str) -> list[str]:
    """Take values of the same kind from the articles that come next."""
    others = sorted(
        (one for one in values if one.kind == value.kind and one != value),
        key=lambda one: (one.article <= value.article, one.article),
    )
    fitting = dict.fromkeys(
        one.text for one in others if not witness_spans(text, [one.text])
    )
    return list(fitting)[:_DECOYS]


def _advantages(
    indexes: Sequence[SentenceIndex],
    articles: Sequence[Mapping[str, Any]],
    values: Sequence[_Value],
) -> dict[str, dict[str, float]]:
    scores: dict[str, list[tuple[float, float]]] = {"all": [], "people": []}
    ids: dict[str, list[tuple[float, float]]] = {"all": [], "people": []}
    for value in values:
        index, text = indexes[value.article], articles[value.article]["article_text"]
        true = _asked(index, value.text)
        for decoy in _decoys(value, values, str(text)):
            other = _asked(index, decoy)
            for name in ("all", "people") if value.kind == "people" else ("all",):
                scores[name].append((true[0], other[0]))
                ids[name].append((true[1], other[1]))
    return {
        name: {"by_scores": advantage(scores[name]), "by_ids": advantage(ids[name])}
        for name in scores
    }


def _asked(index: SentenceIndex, value: str) -> tuple[float, float]:
    """Return the best score, and how steadily the same chunk comes first."""
    firsts: list[Passage] = []
    for template in _TEMPLATES:
        firsts += index.search(template.format(value), 1)
    if not firsts:
        return 0.0, 0.0
    score = fmean(first.score or 0.0 for first in firsts)
    (_, times), *_ = Counter(first.id for first in firsts).most_common(1)
    return score, times / len(_TEMPLATES)


def _raw(article: Mapping[str, Any], number: int) -> SentenceIndex:
    return SentenceIndex(sentence_chunks(article, f"article-{number}"))


def _engine(article: Mapping[str, Any], engine: str) -> Engine:
    exact = Exact(article["constraint_to_witness_words"])
    locator: Locator | None = exact if engine == "exact" else None
    return Engine.build(policy_of([article], "redact"), locator=locator)


def _view(index: SentenceIndex, engine: Engine) -> SentenceIndex:
    steps = redacted_view(index.passages, None, engine.disclosure)
    return SentenceIndex(run(steps, _runner()).passages)


def _completeness(
    articles: Sequence[Mapping[str, Any]],
    indexes: Sequence[SentenceIndex],
    engines: Sequence[Engine],
) -> float:
    """Return the mean of equation 10 over what the verbatim generator is given."""
    pairs = []
    for article, index, engine in zip(articles, indexes, engines, strict=True):
        for question in article["questions"]:
            asked = str(question["question_text"])
            found = index.search(asked, _TOP_K)
            done = run(disclose(found, Request(asked), engine), _runner())
            released = "\n".join(passage.text for passage in done.passages)
            pairs.append((str(question["answer_text"]), released))
    return round(fmean(completeness(pairs)), 4)


def _runner() -> PortRunner:
    return PortRunner(Ports(embed=local_embeddings()))
