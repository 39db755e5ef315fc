"""
A model and a judge that count words in common: what fills the tables without a model.

The model answers with the sentence that shares most words with the question, and
declines where it shares none. The judge prefers the answer that shares more words with
the question. So every table can be filled, and the code that fills them be tested; what
is in them says nothing about language models.
"""

from __future__ import annotations

import json
import re

from benchmarks.suites.highlight import recall, tokens
from sdrag.effects.prompts import Prompt
from sdrag.text.sentences import sentences

__all__ = ["DECLINE", "scripted_judge", "scripted_model"]

DECLINE = "I cannot answer this."
_EVERYDAY = frozenset(
    tokens(
        "a an and are at be by did do does for from had has have how in is it its of on"
        " or that the this to was were what when where which who whom whose why will"
        " with"
    )
)
_HIGHLIGHT = re.compile(
    r"Passages:\s*(?P<context>.*)\n\nQuestion: (?P<question>.*?)(?:\n\nAnswer: .*)?",
    re.DOTALL,
)
_PLAIN = re.compile(
    r"(?P<context>.*)\n\nAnswer in one or two sentences[^:]*: (?P<question>.*)",
    re.DOTALL,
)
_MARK = re.compile(r"(?:^|\n\n)\[\d+\]\n")
_TWO = re.compile(
    r"Question: (.*)\n\nAnswer A: (.*)\n\nAnswer B: (.*)\n\nWhich", re.DOTALL
)
_ONE = re.compile(
    r".*(?:Question|Query): (.*?)\n(?:Passage|Reply): (.*)\nEnd", re.DOTALL
)
_REFERENCE = re.compile(r".*\nReference: (.*?)\nAnswer: (.*)\nEnd", re.DOTALL)


def scripted_model(prompt: Prompt) -> str:
    """Answer a prompt of a pipeline in the shape that it asks for."""
    asked = prompt.messages[-1].content.text
    if prompt.name == "highlight.summarize":
        pieces = json.loads(asked)
        guesses = [f"What of {piece.rstrip('.')}?" for piece in pieces]
        return json.dumps({"guessed_questions": guesses, "answer": " ".join(pieces)})
    found = (_HIGHLIGHT if prompt.name.startswith("highlight.") else _PLAIN).fullmatch(
        asked
    )
    if found is None:
        return DECLINE
    best = _nearest(_MARK.sub("\n\n", found["context"]), found["question"])
    return _shaped(prompt.name, best)


def scripted_judge(text: str) -> str:
    """Reply to a judge's prompt with a verdict."""
    if found := _TWO.match(text):
        question, *answers = found.groups()
        shared = [_shared(question, answer) for answer in answers]
        return f"VERDICT: {_winner(*shared)}"
    if found := _REFERENCE.match(text):
        return f"VERDICT: {recall(found[2], found[1]) >= 0.5}"
    found = _ONE.match(text)
    if found is None:
        return "I cannot say."
    least, top = (0, 3) if "Passage:" in text else (1, 10)
    share = min(1.0, _shared(*found.groups()) / 3)
    return f"VERDICT: {max(least, round(share * top))}"


def _nearest(context: str, question: str) -> str:
    said = [span.of(context) for span in sentences(context)]
    best = max(said, key=lambda text: _shared(question, text), default="")
    return best if _shared(question, best) else ""


def _shaped(name: str, best: str) -> str:
    words = best.split(" ")
    ends = {"passage": 1, "start": " ".join(words[:5]), "end": " ".join(words[-5:])}
    extracts = [best] if best else []
    shapes = {
        "highlight.baseline": f"- {best}" if best else "Nothing.",
        "highlight.span": json.dumps({"spans": [ends] if best else []}),
        "highlight.structured": json.dumps({"answer": "", "text_extracts": extracts}),
        "highlight.two_steps": json.dumps({"text_extracts": extracts}),
    }
    return shapes.get(name, best or DECLINE)


def _winner(first: int, second: int) -> str:
    if first == second:
        return "TIE" if first else "NEITHER"
    return "A" if first > second else "B"


def _shared(question: str, text: str) -> int:
    return len((set(tokens(question)) - _EVERYDAY) & set(tokens(text)))
