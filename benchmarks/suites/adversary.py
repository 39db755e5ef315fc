"""
An adversary with many questions: what it can name, and what honest users still get.

The adversary asks, reads what is released, and asks again by the rarest words it has
read. A hidden fact is named once its witness word was released. A linked pair is named
if the resolver of CLAM links its documents by what was released of them. And of five
names, one of which is hidden, it guesses the one whose questions score highest (section
VI of SD-RAG names this hole; the many questions are the thesis's adversary).

Each article is its own index; the clusters are one. The twin of an article has other
hidden words of the same kinds: where the same question is answered in another way, the
two can be told apart by words that are shown in neither.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.suites.json_files import DATA
from benchmarks.suites.linkage_clusters import Cluster, read_clusters
from sdrag.disclosure.redacted_index import redact_for_audience
from sdrag.effects.calls import Port
from sdrag.engine import HostSearch
from sdrag.linkage import assess
from sdrag.pipeline import Engine, Request, bind, disclose, retrieve
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.studio.evaluation.articles import Article, read_articles
from sdrag.studio.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.studio.evaluation.measures import completeness, witness_spans
from sdrag.studio.evaluation.tuning import link_scores
from sdrag.vocabulary import Passage

MODES: Mapping[str, Mapping[str, Any] | None] = {
    "plain": None,
    "wrapped": {},
    "influence: none": {"disclosure": {"influence": "none"}},
    "session": {"session": {}},
}
"""What the policy has besides its constraints; plain is the index alone."""
COUNTS = (1, 5, 20, 100)
_OPENING = "What happened, who took part, and when?"
_PEOPLE = ("Remove the names of people", "Remove dates", "Remove phone numbers")
_WORD = re.compile(r"[^\W\d_]{5,}")
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
    """An index behind the pipeline, in one of the modes."""

    def __init__(
        self, chunks: Sequence[Passage], rules: Iterable[str], mode: str, state: Path
    ) -> None:
        settings, self._engine = MODES[mode], None
        if settings is not None:
            constraints = [{"text": text, "always": True} for text in rules]
            policy = Policy.read(
                {"constraints": constraints, "metadata": {"allow": ["doc"]}, **settings}
            )
            self._engine = Engine(policy, state=state)
            if policy.disclosure.influence == "none":
                steps = redact_for_audience(chunks, None, self._engine.disclosure)
                chunks = self._engine.run(steps)[0].passages
            else:
                self._engine.run(bind(chunks, self._engine))
        self._index = SentenceIndex(chunks)

    def ask(self, question: str, limit: int, session: str) -> list[Passage]:
        """Return what is released for a question."""
        if self._engine is None:
            return [*self._index.search(question, limit)]
        search: HostSearch = Port(lambda e: self._index.search(e.items[0], limit))
        steps = retrieve(_request(question, session), self._engine)
        return [*self._engine.run(steps, search=search)[0].passages]

    def released(self) -> str:
        """Return all that a policy lets out, whatever is asked."""
        if self._engine is None:
            return ""
        steps = disclose(self._index.passages, _request("", "all"), self._engine)
        return " ".join(each.text for each in self._engine.run(steps)[0].passages)


def _request(question: str, session: str) -> Request:
    return Request(question, session_id=session)


def adversary(
    data: Path = DATA / "articles", first: int | None = None, top_k: int = 5
) -> dict[str, Any]:
    """
    Ask 1, 5, 20 and 100 questions: what can be named, and what honest users get.

    By mode and number of questions, the shares of hidden `facts`, linked `pairs` and
    `names` that are named (chance has 0.2 of the names); by mode the `completeness` of
    honest questions and the share of questions whose answer `differs` for the twin.
    """
    articles, clusters = read_articles(data)[:first], read_clusters()
    measured = {}
    for mode in MODES:
        with TemporaryDirectory() as folder:
            measured[mode] = {
                **_measure_articles(articles, mode, top_k, Path(folder)),
                "pairs": _measure_clusters(clusters, mode, top_k, Path(folder)),
            }
    return measured


def _measure_articles(
    articles: Sequence[Article], mode: str, top_k: int, folder: Path
) -> dict[str, Any]:
    draw = Random(1)
    facts: dict[int, list[bool]] = defaultdict(list)
    names: dict[int, list[bool]] = defaultdict(list)
    differs: list[bool] = []
    complete: list[float] = []
    for article in articles:
        state, other = _two_states(folder, article.name)
        host = _Host(_chunks(article), article.witnesses, mode, state)
        for count, read in _interrogate(host, top_k):
            text = " ".join(each.text for each in read)
            facts[count] += [
                bool(witness_spans(text, [word])) for word in _witnesses(article)
            ]
        complete += completeness(
            [
                (question.answer, " ".join(p.text for p in passages))
                for question in article.questions
                for passages in [host.ask(question.text, top_k, "honest")]
            ]
        )
        hidden = _hidden(article, host.released())
        twin = _swapped(article, hidden, draw)
        image = _Host(_chunks(twin), twin.witnesses, mode, other)
        shown = [word for word in hidden if _NAMED.fullmatch(word)]
        questions = [question.text for question in article.questions]
        for question in [*questions, *(f"What did {name} do?" for name in shown)]:
            sides = (side.ask(question, top_k, question) for side in (host, image))
            first, second = ([(p.id, p.text, p.score) for p in side] for side in sides)
            differs.append(first != second)
        for name in shown[:1]:
            candidates = [name, *draw.sample(_OTHERS, 4)]
            for count in COUNTS:
                each = count // len(candidates)
                names[count].append(_guess(host, candidates, each, draw) == name)
    return {
        "facts": _shares(facts),
        "names": _shares(names),
        "completeness": round(fmean(complete), 4),
        "differs": round(fmean(differs), 4) if differs else 0.0,
    }


def _measure_clusters(
    clusters: Sequence[Cluster], mode: str, top_k: int, folder: Path
) -> dict[int, float]:
    """Link the documents by what was released of them; return the recall of pairs."""
    chunks = [
        chunk
        for cluster in clusters
        for document in cluster.documents
        for chunk in sentence_chunks(document.text, document.id, {"doc": document.id})
    ]
    host = _Host(chunks, _PEOPLE, mode, folder / "clusters")
    entities = {k: v for c in clusters for k, v in c.entities.items()}
    gold = [pair for cluster in clusters for pair in cluster.linked_pairs]
    recall = {}
    for count, read in _interrogate(host, top_k):
        texts: dict[str, str] = defaultdict(str)
        for passage in read:
            texts[str(passage.metadata.get("doc"))] += f"{passage.text} "
        documents = [Passage(name, text) for name, text in texts.items()]
        shown = {
            name: [each for each in entities.get(name, ()) if each[0] in text]
            for name, text in texts.items()
        }
        links = assess(documents, shown).links
        pairs = {frozenset((link.first, link.second)) for link in links}
        recall[count] = round(link_scores(pairs, gold)[1], 4)
    return recall


def _interrogate(host: _Host, top_k: int) -> Iterator[tuple[int, list[Passage]]]:
    """Ask by what was read; yield what was read after so many questions."""
    read: dict[str, Passage] = {}
    asked, question = set[str](), _OPENING
    for number in range(1, max(COUNTS) + 1):
        for passage in host.ask(question, top_k, "adversary"):
            read[passage.text] = passage
        if number in COUNTS:
            yield number, [*read.values()]
        words = Counter(w for text in read for w in dict.fromkeys(_WORD.findall(text)))
        fresh = [word for word in words if word not in asked]
        word = min(fresh, key=words.__getitem__, default=_OPENING)
        asked.add(word)
        question = f"Who or what is {word}, and when?"


def _guess(host: _Host, names: Sequence[str], each: int, draw: Random) -> str:
    """Return the name whose questions score highest; any of those that are equal."""
    scores = {
        name: sum(
            passage.score or 0.0
            for verb in _VERBS[:each]
            for passage in host.ask(f"What did {name} {verb}?", 1, "guess")
        )
        for name in names
    }
    best = max(scores.values())
    return draw.choice([name for name in names if scores[name] == best])


def _two_states(folder: Path, name: str) -> tuple[Path, Path]:
    """Return states under one key, so that ids are the same, and nothing else is."""
    first, second = folder / name / "a", folder / name / "b"
    first.mkdir(parents=True)
    open_state(first / "state")
    copytree(first, second)
    return first / "state", second / "state"


def _chunks(article: Article) -> tuple[Passage, ...]:
    return sentence_chunks(article.text, article.name, article.metadata)


def _witnesses(article: Article) -> Iterator[str]:
    yield from dict.fromkeys(w for words in article.witnesses.values() for w in words)


def _hidden(article: Article, released: str) -> list[str]:
    return [w for w in _witnesses(article) if not witness_spans(released, [w])]


def _shares(hits: Mapping[int, Sequence[bool]]) -> dict[int, float]:
    return {count: round(fmean(values), 4) for count, values in hits.items()}


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
