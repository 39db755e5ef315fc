"""
How well a highlighter finds the gold passage, and whether it knows when to decline.

The gold passage is `long_answer` where the file gives one, else the sentences that hold
the answer. Every question is asked three times. Of its own paragraph it gives
K-precision, recall and hit rate (the answer is in what was highlighted); declining it
counts as nothing found. Of a paragraph of another article, which cannot answer it, it
gives precision, recall and F1 of declining; of another paragraph of the same article
the harder figure. The pairing is drawn with a fixed seed.

"Recall: proportion of tokens in the reference answer [that] are present in the model's
response. K-Precision: proportion of tokens in the model's response that are present in
the gold passage" (Highlight & Summarize, Table 2, after Adlakha et al.). Tokens are
lower-case words; a response without any has precision 0.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.classification import f1
from benchmarks.suites.json_files import read_json
from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import EffectRunner, run
from sdrag.highlight.answering import plan
from sdrag.highlight.exchange import Inquiry, Settings
from sdrag.highlight.highlighters import highlighter_named
from sdrag.policy import Policy
from sdrag.studio.cli.common import llm_of
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage, Span

_TOKEN = re.compile(r"\w+")


def highlight(
    data: Path,
    engine: str = "local",
    highlighter: str = "",
    cut_at: str = "sentences",
    min_words: int = 5,
    min_sentence_words: int = 3,
) -> dict[str, Any]:
    """
    Measure highlights of a SQuAD-style file against the gold passage, and declining.

    The engine is local, or langchain:PROVIDER:MODEL; the highlighter local, baseline,
    structured, two_steps or span.
    """
    model: Any = llm_of(engine, "--engine")
    name = highlighter or ("structured" if model else "local")
    section = {
        "cut_at": cut_at,
        "min_words": min_words,
        "min_sentence_words": min_sentence_words,
    }
    rules = Policy.read({"highlight": section})
    settings = Settings(highlighter_named(name), rules.highlight)
    runner = PortRunner(Ports(complete=model and Port(model.complete)))
    result = evaluate_highlighter(read_squad(data), settings, runner)
    return {"highlighter": name, "cut_at": cut_at, **result}


def k_precision(response: str, gold: str) -> float:
    """Give the share of the response's tokens that are in the gold passage."""
    given, known = _tokens(response), set(_tokens(gold))
    return sum(token in known for token in given) / len(given) if given else 0.0


def recall(response: str, reference: str) -> float:
    """Give the share of the reference's tokens that are in the response."""
    wanted, given = _tokens(reference), set(_tokens(response))
    return sum(token in given for token in wanted) / len(wanted) if wanted else 0.0


def holds(response: str, answer: str) -> bool:
    """Say whether an answer is in a response, up to case and whitespace."""
    return " ".join(answer.lower().split()) in " ".join(response.lower().split())


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """
    A question and where it is looked for.

    Args:
        question: The question.
        context: Its own paragraph.
        answers: Every accepted answer; none where the paragraph holds none.
        gold: The gold passage, part of `context`; empty without an answer.
        other: A paragraph of another article, if there is one.
        hard: Another paragraph of the same article, if there is one.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    gold: str
    other: str | None = None
    hard: str | None = None


def read_squad(path: Path) -> list[GoldQuestion]:
    """Read a SQuAD-style file; each question with paragraphs that do not answer it."""
    articles = [
        [(paragraph["context"], paragraph["qas"]) for paragraph in of["paragraphs"]]
        for of in read_json(path)["data"]
    ]
    return list(_paired(articles, random.Random(0)))


def _paired(
    articles: Sequence[Sequence[tuple[str, Sequence[Mapping[str, Any]]]]],
    rng: random.Random,
) -> Iterator[GoldQuestion]:
    for index, article in enumerate(articles):
        elsewhere = [
            context
            for other_index, other in enumerate(articles)
            if other_index != index
            for context, _ in other
        ]
        for number, (context, qas) in enumerate(article):
            others = [text for at, (text, _) in enumerate(article) if at != number]
            for qa in qas:
                yield GoldQuestion(
                    qa["question"],
                    context,
                    tuple(answer["text"] for answer in qa.get("answers", ())),
                    _gold(context, qa),
                    rng.choice(elsewhere) if elsewhere else None,
                    rng.choice(others) if others else None,
                )


def _gold(context: str, qa: Mapping[str, Any]) -> str:
    if qa.get("long_answer"):
        return str(qa["long_answer"])
    if not qa.get("answers"):
        return ""
    answer = qa["answers"][0]
    start = int(answer["answer_start"])
    span = Span(start, start + len(answer["text"]))
    holding = [sentence for sentence in sentences(context) if sentence.overlaps(span)]
    return context[holding[0].start : holding[-1].end] if holding else answer["text"]


def evaluate_highlighter(
    data: Sequence[GoldQuestion], settings: Settings, runner: EffectRunner
) -> dict[str, Any]:
    """Ask every question of its paragraph and of the two others; give the figures."""

    def highlighted(question: str, context: str) -> str:
        asked = Inquiry(question, (Passage("paragraph", context),))
        planned = run(plan(asked, settings), runner)
        return " ".join(highlight.text for highlight in planned.highlights)

    own = [(each, highlighted(each.question, each.context)) for each in data]
    answerable = [pair for pair in own if pair[0].answers]

    def declining(paragraphs: Iterable[tuple[str, str | None]]) -> Any:
        """Precision, recall and F1; a positive is a question to decline."""
        wrong = [not text for _, text in answerable]
        right = [not text for each, text in own if not each.answers]
        right += [not highlighted(*pair) for pair in paragraphs if pair[1] is not None]  # type: ignore[arg-type]
        if not right:
            return None
        hits, false = sum(right), sum(wrong)
        precision = hits / (hits + false) if hits + false else 0.0
        share = hits / len(right)
        return {"precision": precision, "recall": share, "f1": f1(precision, share)}

    return {
        "questions": len(data),
        "k_precision": _mean(k_precision(text, each.gold) for each, text in answerable),
        "recall": _mean(recall(text, each.gold) for each, text in answerable),
        "hit_rate": _mean(
            any(holds(text, answer) for answer in each.answers)
            for each, text in answerable
        ),
        "declined": declining((each.question, each.other) for each in data),
        "declined_hard": declining((each.question, each.hard) for each in data),
    }


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
