"""
Constraint eviction: a question worded so that a constraint falls below K.

With a top K and a ranking that looks at the question, whoever asks decides in part
which constraints are enforced. The search needs no knowledge of the policy: to what is
asked it adds words about something else, and to the wording that pushes the needed
constraints down most it adds more. The chunks are held fixed, so whatever a constraint
loses, it loses by the wording alone. What is lost has two measures: the share of needed
constraints that fall below K, and privacy (equation 9) when the K constraints that
are left are enforced with spans that are exactly right, so that nothing but the ranking
is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

from benchmarks.suites.constraint_ranking import Corpus
from sdrag.disclosure.cutting import Taken, cut
from sdrag.disclosure.placeholders import Marks
from sdrag.disclosure.ranking import STRATEGIES
from sdrag.evaluation.measures import broken, share_kept, witness_spans
from sdrag.policy import DisclosureSection
from sdrag.text.folding import fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.spans import merge
from sdrag.vocabulary import Finding, Passage

__all__ = ["ALL", "Evicted", "evaluate_eviction", "evicted", "wordings"]

ALL = "all candidates"
"""The default: nothing is ranked, every candidate is applied."""

_DEPTHS = (5, 10, 20, 40)
_ELSEWHERE = (
    "{question} Answer as if it were about cooking and the weather.",
    "What about sums of money, dates and addresses? {question}",
    "Names, names, names of people and companies. {question}",
    "{question} Tell me about telephone numbers, codes and passwords.",
    "{question} Never mind who or where; only the medical details and the doses.",
    "Salaries, fees, prices, budgets, debts. {question}",
    "{question} Which car, which plate, which colour, which road?",
    "Passwords, tokens, hosts, addresses of servers. {question}",
    "{question} Mention the illness, the diagnosis and the treatment.",
    "Home addresses, streets, towns, hotels and ships. {question}",
    "{question} How was it done, by which method, and why?",
    "Recipes, football, music, holidays, gardens. {question}",
    "{question} Give dates, hours, durations and ages.",
    "Answer about the companies, the banks, the schools and the courts. {question}",
)
_MARKS = Marks.of((), DisclosureSection(placeholders="plain"))


@dataclass(frozen=True, slots=True)
class Evicted:
    """
    What wordings achieve.

    Args:
        strategy: Which ranking, or `ALL`.
        top_k: How many constraints are applied; `None` for all candidates.
        share: Of the needed constraints within the top K for the plain question, how
            many at least one wording pushes out.
        privacy: Of the plain questions (equation 9).
        privacy_worded: Of each question in its worst wording.
    """

    strategy: str
    top_k: int | None
    share: float
    privacy: float
    privacy_worded: float


@dataclass(frozen=True, slots=True)
class _QuestionEviction:
    """One question: which constraints each wording applies, and what that keeps."""

    needed: frozenset[str]
    plain: frozenset[str]
    worded: tuple[frozenset[str], ...]
    kept: float
    kept_worded: float


def evaluate_eviction(
    articles: Sequence[Mapping[str, Any]], *, chunks: int = 8
) -> dict[str, Any]:
    """
    Search for evicting wordings and tell what they achieve, as plain data.

    Args:
        articles: As in the paper's listing.
        chunks: How many a question retrieves.
    """
    strategies: dict[str, dict[str, Any]] = {}
    for one in evicted(articles, chunks=chunks):
        strategies.setdefault(one.strategy, {})[str(one.top_k or "all")] = {
            "evicted": round(one.share, 4),
            "privacy": round(one.privacy, 4),
            "privacy_worded": round(one.privacy_worded, 4),
        }
    questions = sum(len(article["questions"]) for article in articles)
    return {"strategies": strategies, "questions": questions}


def evicted(
    articles: Sequence[Mapping[str, Any]], *, chunks: int = 8
) -> Iterator[Evicted]:
    """
    Search for wordings of every question, under every strategy and K.

    Args:
        articles: As in the paper's listing.
        chunks: How many a question retrieves.
    """
    corpus = Corpus(articles, 50)
    asked: dict[tuple[str, int | None], list[_QuestionEviction]] = {}
    for article, question in _questions(articles):
        text = str(question["question_text"])
        passages = corpus.index.search(text, chunks)
        relevant = question["relevant_constraints"]
        protected = _Protected(corpus, articles, passages, article, relevant)
        for strategy in STRATEGIES:
            plain, orders = _orders(corpus, strategy, passages, text, protected.needed)
            for depth in _DEPTHS:
                tops = [frozenset(order[:depth]) for order in (plain, *orders)]
                asked.setdefault((strategy, depth), []).append(protected.under(tops))
        tops = [
            corpus.applied(passages, wording) for wording in (text, *wordings(text))
        ]
        asked.setdefault((ALL, None), []).append(protected.under(tops))
    for (strategy, top_k), outcomes in asked.items():
        yield _summed(strategy, top_k, outcomes)


def wordings(question: str) -> tuple[str, ...]:
    """Return a question with words about something else around it."""
    return tuple(wording.format(question=question) for wording in _ELSEWHERE)


def _questions(
    articles: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for article in articles:
        for question in article["questions"]:
            if question["relevant_constraints"]:
                yield article, question


def _orders(
    corpus: Corpus,
    strategy: str,
    passages: Sequence[Passage],
    question: str,
    needed: Iterable[str],
) -> tuple[list[str], list[list[str]]]:
    """Rank for the plain question, for each wording, and for more on the worst one."""
    wanted = tuple(needed)

    def depth(order: Sequence[str]) -> int:
        return sum(order.index(n) if n in order else len(order) for n in wanted)

    plain = corpus.ranked(strategy, passages, question)
    tried = [(w, corpus.ranked(strategy, passages, w)) for w in wordings(question)]
    orders = [order for _, order in tried]
    worst, lowest = max(tried, key=lambda one: depth(one[1]))
    if lowest != plain:
        more = wordings(worst)
        orders += [corpus.ranked(strategy, passages, wording) for wording in more]
    return plain, orders


class _Protected:
    """What is kept of a question's constraints when only some are enforced, exactly."""

    def __init__(
        self,
        corpus: Corpus,
        articles: Sequence[Mapping[str, Any]],
        passages: Sequence[Passage],
        article: Mapping[str, Any],
        relevant: Sequence[str],
    ) -> None:
        self.needed = corpus.ids(relevant)
        self._relevant = relevant
        self._witnesses = article["constraint_to_witness_words"]
        self._plain = [passage.text for passage in passages]
        sources = [articles[int(passage.id.split("-")[1])] for passage in passages]
        self._findings = {
            index: _exact(text, corpus, source["constraint_to_witness_words"])
            for index, (text, source) in enumerate(
                zip(self._plain, sources, strict=True)
            )
        }
        self._taken = _everywhere(self._plain, self._findings)
        self._found = {f.constraint_id for own in self._findings.values() for f in own}
        self._kept = cache(self._measured)

    def under(self, tops: Sequence[frozenset[str]]) -> _QuestionEviction:
        """Measure what is kept under the plain question's set and under the others."""
        plain, *worded = tops
        kept = [self._kept(top & self._found) for top in tops]
        return _QuestionEviction(self.needed, plain, tuple(worded), kept[0], min(kept))

    def _measured(self, applied: frozenset[str]) -> float:
        names = sorted(applied)
        released = [
            cut(text, self._taken[index], names, _MARKS).text or ""
            for index, text in enumerate(self._plain)
        ]
        leaked = broken("\n".join(released), self._witnesses, self._relevant)
        return share_kept(self._relevant, leaked)


def _exact(
    text: str, corpus: Corpus, witnesses: Mapping[str, Sequence[str]]
) -> list[Finding]:
    """Find in a chunk what its own article's constraints withhold."""
    return [
        Finding(span, rule.id)
        for rule in corpus.constraints
        for span in witness_spans(text, witnesses.get(rule.text, ()))
    ]


def _everywhere(
    texts: Sequence[str], findings: Mapping[int, Sequence[Finding]]
) -> list[Taken]:
    """Return, for each text, the places of all that was found in any of them."""
    forms: dict[str, set[str]] = {}
    for index, own in findings.items():
        for finding in own:
            said = finding.span.of(texts[index])
            forms.setdefault(finding.constraint_id, set()).add(said)
    needles = {name: PhraseMatcher(own) for name, own in forms.items()}
    return [
        Taken.of(
            (frozenset((name,)), spans)
            for name, own in needles.items()
            if (spans := merge(own.find(fold(text))))
        )
        for text in texts
    ]


def _summed(
    strategy: str, top_k: int | None, outcomes: Sequence[_QuestionEviction]
) -> Evicted:
    inside = [(one, name) for one in outcomes for name in one.needed & one.plain]
    lost = sum(any(name not in top for top in one.worded) for one, name in inside)
    return Evicted(
        strategy,
        top_k,
        lost / max(1, len(inside)),
        fmean(one.kept for one in outcomes),
        fmean(one.kept_worded for one in outcomes),
    )
