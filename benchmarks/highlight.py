"""
Measure Highlight & Summarize: without a hosted model, and with one if given.

    python benchmarks/highlight.py speed
    python benchmarks/highlight.py paper --data ../shared/data/xquad/xquad.en.json
    python benchmarks/highlight.py hijack --data FILE --attacks FILE
    python benchmarks/highlight.py judged --data FILE [--engine PROVIDER:MODEL]

`speed` compares verification with rapidfuzz alone. `paper` sets the tables of the paper
that need no judge next to the paper's own (`highlight_paper.py`). `hijack` is the
simulated tool call of section 5.2, with a model that obeys whatever it reads, or with
the one of `--engine`. `judged` answers with a model through LangChain, plainly and by
each highlighter, and lets the same model judge: Tables 3, 5, 7 and 9, Figures 4, 5, 7
and 9, and with attacks Table 1. Without `--engine` scripted models fill the same tables
by counting words in common, which says nothing about language models.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rapidfuzz import fuzz

from benchmarks.highlight_experiments.hijack import (
    TABLE_1,
    Model,
    Obedient,
    ordering,
    tool_call_rates,
)
from benchmarks.highlight_experiments.scripted import (
    DECLINE,
    scripted_judge,
    scripted_model,
)
from benchmarks.highlight_experiments.tables import Answered, judged_tables
from benchmarks.highlight_paper import paper
from benchmarks.suites.control_bits import read_attacks
from benchmarks.suites.highlight import GoldQuestion, read_squad
from benchmarks.suites.highlight_data import read_questions
from sdrag.effects.prompts import Message, Prompt, constant
from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import complete, replied, run
from sdrag.highlight import verify_highlights
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import Answer, Settings
from sdrag.highlight.exchange import Asked as Question
from sdrag.highlight.highlighters import HIGHLIGHTERS
from sdrag.testing import Scripted
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
    parser.add_argument("--corpus", type=Path, help="For rag-mini-bioasq.")
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
    model, ask = scripted_model, scripted_judge
    if options.engine:
        model = asking(hosted(options.engine))

        def ask(text: str) -> str:
            return model(Prompt("judge", (Message("user", constant(text)),)))

    data = read_questions(options.data, options.corpus)[: options.limit]
    result = judged_tables(answer_all(data, model), ask)
    if options.attacks:
        result["table_1"] = hijack(options)
    return {"engine": options.engine or "scripted", "questions": len(data), **result}


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


def answer_all(data: Sequence[GoldQuestion], model: Model) -> list[Answered]:
    """Answer every question with every pipeline, in two paragraphs."""
    return [
        Answered(
            one,
            answered(one.question, one.context, model),
            answered(one.question, one.other, model) if one.other else {},
        )
        for one in data
    ]


def answered(question: str, context: str, model: Model) -> dict[str, Answer]:
    """Answer a question with every pipeline that asks a model, and plainly."""
    runner = Scripted(complete=model)
    asked = Question(question, (Passage("p", context),))
    found = {"vanilla": plainly(model, question, context)}
    for name, highlighter in HIGHLIGHTERS.items():
        settings = Settings(highlighter, has_model=True)
        found[name] = run(answer(asked, settings), runner)
    return found


def plainly(model: Model, question: str, context: str) -> Answer:
    """Answer as the vanilla pipeline does."""
    text = (
        f"{context}\n\nAnswer in one or two sentences, or say {DECLINE!r}: {question}"
    )
    said = model(Prompt("plain", (Message("user", constant(text)),))).strip()
    return Answer(said, declined=not said or said.startswith(DECLINE))


if __name__ == "__main__":
    main()
