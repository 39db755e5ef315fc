"""
Whether a model is worth asking: the same articles, released with it and without it.

Every sentence of an article is released once, for nobody and no question, with the
guards off. What is measured is the product, not the model: where the model fails, the
local engine decides, and the figures are its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from sdrag.effects.limits import Limits
from sdrag.effects.progress import Progress
from sdrag.framework import Model
from sdrag.options import Options
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.privacy.audit import count_failures
from sdrag.studio.evaluation.articles import Article
from sdrag.studio.evaluation.index import sentence_chunks
from sdrag.studio.evaluation.measures import lost_words, witness_spans

_QUESTION = 10
"""So many chunks are retrieved for a question."""
_CLOSE = 0.02
"""Shares that are not further apart are the same."""


@dataclass(slots=True)
class _Side:
    """What is released by one engine."""

    engine: Engine
    secrets: Counter[str] = field(default_factory=Counter)
    hidden: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    words: int = 0
    failures: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def release(self, article: Article) -> int:
        """Release an article, count, and return how many chunks it has."""
        chunks = sentence_chunks(article.text, article.name, article.metadata)
        started = perf_counter()
        released, event = self.engine.run(disclose(chunks, Request(""), self.engine))
        self.seconds += perf_counter() - started
        text = "\n".join(passage.text for passage in released.passages)
        for name, words in article.witnesses.items():
            self.secrets[name] += len(words)
            self.hidden[name] += sum(not witness_spans(text, [w]) for w in words)
        secrets = [word for words in article.witnesses.values() for word in words]
        lost, words_in_all = lost_words(article.text, text, secrets)
        self.lost, self.words = self.lost + lost, self.words + words_in_all
        reasons = (decision.reason for decision in event.decisions)
        self.failures += sum(count_failures([], reasons).values())
        self.causes.update(count_failures([event]))
        self.calls += event.model_calls
        self.tokens += event.tokens_out
        return len(chunks)

    @property
    def withheld(self) -> float:
        """The share of harmless words that were withheld."""
        return round(self.lost / self.words, 4) if self.words else 0.0


def check_model(
    policy: Policy,
    articles: Sequence[Article],
    llm: Model,
    *,
    seconds: float = 300.0,
    progress: Progress = lambda _done, _all: None,
) -> dict[str, Any]:
    """
    Release articles with a model and without, and say what the model is of use for.

    `seconds`: how long a call may take; no article is begun after them.

    Returns:
        `articles`, `chunks` and `seconds`; `usable_replies`, the share of chunks for
        which the model gave every verdict; `model_failures`, as the audit names them;
        `calls_a_question`, of ten chunks; `seconds_a_call`; `tokens_a_second`;
        `hidden`, how many `secrets` of a constraint the `local` engine hides, and how
        many are hidden with the `model`;
        `harmless_withheld`, from 0 to 1, of both; and `verdict`, in sentences.

    Raises:
        PolicyError: The policy refuses a constraint without a model.
    """
    bare = policy.without_limits().model_copy(update=dict.fromkeys(policy.guards))
    patient = Options(limits=Limits(seconds=max(seconds, 1.0), concurrency=1))
    local, model = _Side(Engine(bare)), _Side(Engine(bare, llm=llm, options=patient))
    chunks = done = 0
    for done, article in enumerate(articles, start=1):
        local.release(article)
        chunks += model.release(article)
        progress(done, len(articles))
        if model.seconds > seconds:
            break
    hidden = {
        name: {
            "secrets": count,
            "local": local.hidden[name],
            "model": model.hidden[name],
        }
        for name, count in model.secrets.items()
    }
    usable = round(1 - model.failures / chunks, 4) if chunks else 0.0
    waited = round(model.seconds / max(model.calls, 1), 1)
    sentences = [*_judge(usable, hidden, model.withheld - local.withheld)]
    sentences += _advise(model.engine, waited)
    return {
        "articles": done,
        "chunks": chunks,
        "seconds": round(model.seconds, 1),
        "usable_replies": usable,
        "model_failures": dict(model.causes),
        "calls_a_question": round(model.calls / max(chunks, 1) * _QUESTION, 1),
        "seconds_a_call": waited,
        "tokens_a_second": round(model.tokens / max(model.seconds, 1e-9), 1),
        "hidden": hidden,
        "harmless_withheld": {"local": local.withheld, "model": model.withheld},
        "verdict": " ".join(sentences),
    }


def _advise(engine: Engine, waited: float) -> Iterator[str]:
    """Say in sentences which settings the model needs."""
    section = engine.policy.disclosure
    if engine.disclosure.left_out:
        yield "It was left out: try it with `disclosure.small_model: true`."
    if waited > (limit := section.timeout_seconds):
        need = f"raise `disclosure.timeout_seconds` ({limit:g})"
        yield f"A call takes {waited:g} s: {need}."


def _judge(
    usable: float, hidden: Mapping[str, Mapping[str, int]], more: float
) -> Iterator[str]:
    """Say in sentences what to leave to the local engine, and what to ask the model."""
    gains = {name: row["model"] - row["local"] for name, row in hidden.items()}
    better = [name for name, gain in gains.items() if gain > 0]
    worse = [name for name, gain in gains.items() if gain < 0]
    if usable < 1:
        yield f"The model gave no usable verdict for {1 - usable:.0%} of the chunks."
    if worse:
        yield f"Leave to the local engine: {'; '.join(worse)}."
    if better:
        yield f"Use the model for: {'; '.join(better)}."
    if more > _CLOSE:
        yield f"It withholds {more:.0%} more of the harmless words."
    if more < -_CLOSE:
        yield f"It withholds {-more:.0%} less of the harmless words."
    useful = (better or more < -_CLOSE) and not worse and more <= _CLOSE
    if useful:
        yield "It is of use for this policy."
    elif not better:
        yield "Leave this policy to the local engine."
