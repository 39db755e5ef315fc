"""
Differential leakage: what a chunk gives away when it is redacted more than once.

Whoever asks several questions puts the answers side by side: what all of them show of a
chunk is the intersection, what any of them shows the union, and the words of the union
that one answer withheld are given away, together with the fact that they were worth
withholding. The same questions are replayed on a corpus that was located when it was
bound, and on one that was never bound: there each chunk is located when it is met, and
what is learned of a name later is withheld from then on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.suites.rcqa import policy_of
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.evaluation.measures import broken
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.vocabulary import Confidential
from sdrag.wrapper_setup import local_embeddings

__all__ = ["REGIMES", "Seen", "evaluate_differential", "probes"]

REGIMES = ("located", "unbound")
_COUNTS = (1, 2, 4, 8, 16, 32)
_WORD = re.compile(r"\w+")
_WRAPPED = ("{} Tell me more.", "What is known about this: {}")

Words = Counter[str]


@dataclass(slots=True, repr=False)
class Seen(Confidential):
    """
    One chunk, as several answers showed it.

    Args:
        text: As it is in the index.
        released: What each answer showed of it.
    """

    text: str
    released: list[str] = field(default_factory=list)

    def given_away(self) -> Words:
        """Return the words that one answer withheld and another showed."""
        return self._union() - self._intersection()

    def withheld(self) -> Words:
        """Return the words that some answer withheld."""
        return _words(self.text) - self._intersection()

    def regained(self) -> Words:
        """Return the words that were withheld at first and shown later."""
        back: Words = Counter()
        least = held = _words(self.text)
        for number, released in enumerate(self.released):
            shown = _words(released) & held
            if number:
                back |= shown - least
            least = least & shown  # not in place: it begins as what the chunk holds
        return back

    def _union(self) -> Words:
        united: Words = Counter()
        for released in self.released:
            united |= _words(released)
        return united & _words(self.text)

    def _intersection(self) -> Words:
        common = _words(self.text)
        for released in self.released:
            common &= _words(released)
        return common


def evaluate_differential(
    articles: Sequence[Mapping[str, Any]],
    *,
    top_k: int = 4,
    regimes: Sequence[str] = REGIMES,
) -> dict[str, Any]:
    """
    Replay question sets and subtract the answers.

    Args:
        articles: As in the paper's listing; each is an index of its own.
        top_k: How many chunks a question retrieves; few make neighbours differ.
        regimes: Of `REGIMES`.

    Returns:
        For each regime and number of questions: `given_away`, the share of the words
        withheld at least once that another answer shows; `regained`, the share that
        was withheld first and shown later; `constraints`, the share of the articles'
        constraints of which a witness word is given away; `over_redacted`, the share of
        the chunks' other words that no answer shows.
    """
    indexes = [
        SentenceIndex(sentence_chunks(article, f"article-{number}"))
        for number, article in enumerate(articles)
    ]
    figures: dict[str, dict[str, Any]] = {}
    for regime in regimes:
        tallies = {count: _WordCounts() for count in _COUNTS}
        for article, index in zip(articles, indexes, strict=True):
            for count, chunks in _replayed(article, index, regime, top_k):
                tallies[count].add(article, chunks)
        figures[regime] = {str(n): tally.shares() for n, tally in tallies.items()}
    return {"regimes": figures, "articles": len(articles), "top_k": top_k}


def probes(article: Mapping[str, Any]) -> list[str]:
    """
    Return what an asker who knows the subject may ask, in a fixed order.

    The article's own questions, its constraints turned into questions, the sentences
    of its golden answers, and these in other words.
    """
    asked = [str(one["question_text"]) for one in article["questions"]]
    topics = [f"Tell me: {text}" for text in article["constraint_to_witness_words"]]
    golden = [str(one["answer_text"]) for one in article["questions"]]
    plain = [*asked, *topics, *golden]
    return [*plain, *(wrap.format(text) for wrap in _WRAPPED for text in plain)]


def _replayed(
    article: Mapping[str, Any], index: SentenceIndex, regime: str, top_k: int
) -> Iterator[tuple[int, Mapping[str, Seen]]]:
    """Ask one question after another; yield what was seen at each count."""
    policy = policy_of([article], "redact")
    engine = Engine.build(policy)
    runner = PortRunner(Ports(embed=local_embeddings()))
    if regime == "located":
        run(bind(index.passages, engine), runner)
    seen: dict[str, Seen] = {}
    for number, question in enumerate(probes(article)[: _COUNTS[-1]], start=1):
        found = index.search(question, top_k)
        done = run(disclose(found, Request(question), engine), runner)
        shown = {passage.id: passage.text for passage in done.passages}
        for passage in found:
            own = seen.setdefault(passage.id, Seen(passage.text))
            own.released.append(shown.get(passage.id, ""))
        if number in _COUNTS:
            yield number, seen


@dataclass(slots=True)
class _WordCounts:
    """Counts over all articles after some number of questions."""

    withheld: int = 0
    given_away: int = 0
    regained: int = 0
    constraints: int = 0
    inferred: int = 0
    innocent: int = 0
    lost: int = 0

    def add(self, article: Mapping[str, Any], chunks: Mapping[str, Seen]) -> None:
        witnesses = article["constraint_to_witness_words"]
        secret = {
            w.lower() for own in witnesses.values() for o in own for w in _bits(o)
        }
        for chunk in chunks.values():
            withheld, given = chunk.withheld(), chunk.given_away()
            self.withheld += withheld.total()
            self.given_away += given.total()
            self.regained += chunk.regained().total()
            lost = withheld - given
            self.innocent += _outside(_words(chunk.text), secret)
            self.lost += _outside(lost, secret)
        self.constraints += len(witnesses)
        self.inferred += len(_inferred(witnesses, chunks.values()))

    def shares(self) -> dict[str, float]:
        return {
            "given_away": _share(self.given_away, self.withheld),
            "regained": _share(self.regained, self.withheld),
            "constraints": _share(self.inferred, self.constraints),
            "over_redacted": _share(self.lost, self.innocent),
        }


def _inferred(
    witnesses: Mapping[str, Sequence[str]], chunks: Iterable[Seen]
) -> set[str]:
    """Return the constraints that one answer keeps of a chunk and another breaks."""
    inferred: set[str] = set()
    for chunk in chunks:
        held = broken(chunk.text, witnesses, witnesses)
        leaks = [broken(text, witnesses, held) for text in chunk.released]
        kept_once = {name for name in held if any(name not in leak for leak in leaks)}
        inferred |= {name for leak in leaks for name in leak if name in kept_once}
    return inferred


def _words(text: str) -> Words:
    return Counter(_bits(text.lower()))


def _bits(text: str) -> list[str]:
    return _WORD.findall(text)


def _outside(words: Words, secret: set[str]) -> int:
    return sum(count for word, count in words.items() if word not in secret)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
