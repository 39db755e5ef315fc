"""
Measure Highlight & Summarize: without a hosted model, and with one if given.

    python benchmarks/highlight.py speed
    python benchmarks/highlight.py paper --data ../shared/data/xquad/xquad.en.json
    python benchmarks/highlight.py hijack --data FILE --attacks FILE
    python benchmarks/highlight.py judged --data FILE --engine PROVIDER:MODEL

`speed` compares verification with rapidfuzz alone. `paper` sets the tables of the paper
that need no judge beside the paper's own (`highlight_paper.py`). `hijack` is the
simulated tool call of section 5.2, with a model that obeys whatever it reads, or with
the one of `--engine`. `judged` answers with a model through LangChain, plainly and by
each highlighter, and lets the same model judge: battles with Elo and win rate, the
three ratings, guessed questions, and the simulated tool call.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

from highlight_paper import paper
from rapidfuzz import fuzz

from benchmarks.highlight_experiments.elo import ratings
from benchmarks.highlight_experiments.hijack import (
    TABLE_1,
    Model,
    Obedient,
    ordering,
    tool_call_rates,
)
from benchmarks.highlight_experiments.judges import (
    battles,
    correctness,
    quality,
    relevance,
)
from sdrag.engine.calls import Port
from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.prompts import Message, Prompt, constant
from sdrag.engine.steps import complete, replied, run
from sdrag.evaluation.control_bits import read_attacks
from sdrag.evaluation.highlight import (
    GoldQuestion,
    k_precision,
    read_squad,
    recall,
)
from sdrag.highlight import verify_highlights
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import Answer, Settings
from sdrag.highlight.exchange import Asked as Question
from sdrag.highlight.highlighters import HIGHLIGHTERS
from sdrag.vocabulary import Passage


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description="Measure Highlight & Summarize.")
    parser.add_argument(
        "what",
        nargs="?",
        default="speed",
        choices=["speed", "paper", "hijack", "judged"],
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--attacks", type=Path, help="For `hijack` and `judged`.")
    parser.add_argument("--engine", help="PROVIDER:MODEL of LangChain.")
    parser.add_argument("--limit", type=int, help="The most questions.")
    options = parser.parse_args()
    run_it: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": speed,
        "paper": lambda: paper(read_squad(options.data)[: options.limit]),
        "hijack": lambda: hijack(options),
        "judged": lambda: judged(options),
    }
    print(json.dumps(run_it[options.what](), indent=1))


def speed(rounds: int = 5) -> dict[str, Any]:
    """20 extracts on 20 passages of 10,000 characters, against rapidfuzz alone."""
    draw = random.Random(0)
    words = [
        "".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9)))
        for _ in range(4_000)
    ]
    texts = [made(draw, words) for _ in range(20)]
    passages = [Passage(f"p{number}", text) for number, text in enumerate(texts)]
    extracts = [extract(draw, texts, words, number) for number in range(20)]
    ours = timed(lambda: verify_highlights(extracts, passages), rounds)
    plain = timed(
        lambda: [
            fuzz.partial_ratio_alignment(one, text)
            for one in extracts
            for text in texts
        ],
        rounds,
    )
    cut_off = timed(
        lambda: [
            fuzz.partial_ratio_alignment(one, text, score_cutoff=95)
            for one in extracts
            for text in texts
        ],
        rounds,
    )
    found = verify_highlights(extracts, passages)
    return {
        "verify_seconds": ours,
        "rapidfuzz_seconds": plain,
        "rapidfuzz_with_cutoff_seconds": cut_off,
        "ratio": ours / plain,
        "ratio_with_cutoff": ours / cut_off,
        "found": len(found),
        "refused": Counter(one.reason for one in found.refusals),
    }


def made(draw: random.Random, words: list[str]) -> str:
    """Make a passage of 10,000 characters."""
    text = ""
    while len(text) < 10_000:
        text += " ".join(draw.choices(words, k=draw.randint(8, 20))).capitalize() + ". "
    return text[:10_000]


def extract(
    draw: random.Random, texts: list[str], words: list[str], number: int
) -> str:
    """Cut an extract: half exact, a quarter set differently, a quarter absent."""
    if number % 4 == 3:
        return " ".join(draw.choices(words, k=25))
    parts = texts[number].split(" ")
    start = draw.randrange(len(parts) - 40)
    exact = " ".join(parts[start : start + 25])
    if number % 2 == 0:
        return exact
    return exact.replace(". ", ".\n").replace(" ", "  ")


def timed(work: Callable[[], object], rounds: int) -> float:
    """Give the median time."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


def hosted(engine: str) -> Port[Prompt, Any]:
    """Ask a model of LangChain."""
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 -- hosted only

    from langchain_sdrag.effects import completing  # noqa: PLC0415 -- hosted only

    port = completing(init_chat_model(engine, temperature=0))
    if port is None:
        raise SystemExit("--engine names no model.")
    return Port(port.call)


def asking(port: Port[Prompt, Any]) -> Model:
    """Ask one prompt at a time."""
    runner = PortRunner(Ports(complete=port))

    def ask(prompt: Prompt) -> str:
        (outcome,) = run(complete([prompt]), runner)
        return replied(outcome).text

    return ask


def judged(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that needs a model: answers, judges, guesses, the tool call."""
    port = hosted(options.engine)
    model = asking(port)

    def ask(text: str) -> str:
        return model(Prompt("judge", (Message("user", constant(text)),)))

    data = [one for one in read_squad(options.data) if one.answers][: options.limit]
    found = answer_all(data, ask, PortRunner(Ports(complete=port)))
    result = rate_all(data, found, ask)
    if options.attacks:
        result["table_1"] = hijack(options)
    return result


def hijack(options: argparse.Namespace) -> dict[str, Any]:
    """Attack with the tool at hand (section 5.2), on the first paragraph."""
    attacks = [ordering(text) for text in read_attacks(options.attacks)]
    passage = Passage("p", read_squad(options.data)[0].context)
    model = asking(hosted(options.engine)) if options.engine else Obedient.of(passage)
    return {
        "attacks": len(attacks[: options.limit]),
        "here": tool_call_rates(model, attacks[: options.limit], [passage]),
        "paper": TABLE_1,
    }


def plainly(ask: Callable[[str], str], question: str, context: str) -> str:
    """Answer as the vanilla pipeline does."""
    return ask(f"{context}\n\nAnswer in one or two sentences: {question}")


def answer_all(
    data: list[GoldQuestion], ask: Callable[[str], str], runner: PortRunner
) -> list[dict[str, Answer]]:
    """Answer every question with every pipeline."""
    rows = []
    for one in data:
        asked = Question(one.question, (Passage("p", one.context),))
        row = {"vanilla": Answer(plainly(ask, one.question, one.context))}
        for name, highlighter in HIGHLIGHTERS.items():
            settings = Settings(highlighter, has_model=True)
            row[name] = run(answer(asked, settings), runner)
        rows.append(row)
    return rows


def rate_all(
    data: list[GoldQuestion], found: list[dict[str, Answer]], ask: Callable[[str], str]
) -> dict[str, Any]:
    """Let the judges rate the answers of every pipeline."""
    draw = random.Random(0)
    fought = [
        battle
        for one, row in zip(data, found, strict=True)
        for battle in battles(
            ask, one.question, {name: held.text for name, held in row.items()}, draw
        )
    ]
    return {
        "table_3": {name: vars_of(rating) for name, rating in ratings(fought).items()},
        "figure_5": {
            name: rated(name, data, found, ask) for name in ("vanilla", *HIGHLIGHTERS)
        },
    }


def rated(
    name: str,
    data: list[GoldQuestion],
    found: list[dict[str, Answer]],
    ask: Callable[[str], str],
) -> dict[str, Any]:
    """Give one pipeline's ratings, and how near its guesses came (Table 7)."""
    rows = [(one, row[name]) for one, row in zip(data, found, strict=True)]
    guesses = [
        max(
            (k_precision(guess, one.question) for guess in held.guessed_questions[:10]),
            default=0.0,
        )
        for one, held in rows
    ]
    return {
        "correct": known(
            correctness(ask, o.question, h.text, o.answers[0]) for o, h in rows
        ),
        "relevance": known(relevance(ask, o.question, h.text) for o, h in rows),
        "quality": known(quality(ask, o.question, h.text) for o, h in rows),
        "guess_k_precision": mean(guesses),
        "declined": mean(h.declined for _, h in rows),
        "k_precision": mean(k_precision(h.text, o.gold) for o, h in rows),
        "recall": mean(recall(h.text, o.answers[0]) for o, h in rows),
    }


def known(values: Any) -> float | None:
    """Give the mean of the judgments that could be read."""
    held = [float(value) for value in values if value is not None]
    return mean(held) if held else None


def vars_of(rating: Any) -> dict[str, float]:
    """Give a rating as plain data."""
    return {"elo": rating.elo, "win_rate": rating.win_rate, "games": rating.games}


if __name__ == "__main__":
    main()
