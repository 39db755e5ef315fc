"""
The experiments' own model calls: answering, and listing facts.

These prompts are the subject of the experiment, not part of the product: the answering
prompt with constraints in it is the monolithic baseline of the paper (section IV-C1),
which reads the question together with unredacted text. It is measured to show why that
fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdrag.cli.common import chat_model

__all__ = ["answer_with", "facts_with", "generator_of", "judge_of"]

_ANSWER = """\
Answer the question from the context, in one to three sentences.
{rules}
Context:
{context}

Question: {question}
Answer:"""

_RULES = "Keep to every one of these constraints in your answer:\n{constraints}\n"

_FACTS = """\
List the facts that this text states, one short sentence a line, without bullets.

{text}"""


def answer_with(
    ask: Callable[[str], str],
    question: str,
    context: str,
    constraints: Sequence[str],
) -> str:
    """
    Answer as a host application would: question, context and constraints in one prompt.

    It is the paper's baseline. No prompt of the package may hold both, so it is text.
    """
    listed = "\n".join(f"- {text}" for text in constraints)
    rules = _RULES.format(constraints=listed) if constraints else ""
    return ask(_ANSWER.format(rules=rules, context=context, question=question))


def facts_with(ask: Callable[[str], str], text: str) -> list[str]:
    """List the facts of a text with a model, apart from the generator."""
    if not text.strip():
        return []
    lines = ask(_FACTS.format(text=text)).splitlines()
    return [line.strip(" -*\t") for line in lines if line.strip(" -*\t")]


def generator_of(name: str) -> dict[str, Any]:
    """Return the settings of the generator; none for `verbatim`, the default."""
    if name == "verbatim":
        return {}
    model = chat_model(name)

    def ask(text: str) -> str:
        return str(model.invoke(text).text)

    def generate(question: str, context: str, constraints: Sequence[str]) -> str:
        return answer_with(ask, question, context, constraints)

    return {"generator": generate}


def judge_of(name: str | None) -> dict[str, Any]:
    """Return the settings of the judge; none for sentences as facts."""
    if name is None:
        return {}
    model = chat_model(name)
    return {"facts": lambda text: facts_with(lambda t: str(model.invoke(t).text), text)}
