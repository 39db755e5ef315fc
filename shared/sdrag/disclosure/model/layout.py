"""
How the prompts of this folder are laid out: an order, examples, and the task.

What a task shows of a document is between two lines of a fence. It can't forge them:
they are derived from it with a key that it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from sdrag.effects.prompts import Labelled, Message, constant, fill

_TASK = """\
Constraints:
{constraints}

<noun>, between two lines of {fence}:
{fence}
{text}
{fence}{again}"""

_AGAIN = """

You were asked this before, and your reply could not be used: {wrong}. \
Answer again, with the JSON only."""


class Example(NamedTuple):
    """A task of ours, and the reply that it should get."""

    constraints: str
    text: str
    reply: str


def lay_out(
    system: str,
    examples: Sequence[Example],
    constraints: str,
    text: Labelled,
    key: bytes,
    *,
    noun: str = "Text",
    wrong: str = "",
) -> tuple[Message, ...]:
    """
    Lay out a prompt.

    Args:
        system: The order.
        examples: Turns that show how to answer.
        constraints: Listed, a line each.
        text: What is between the lines of the fence.
        key: Makes the fence unforgeable.
        noun: What the text is.
        wrong: What was wrong with the last reply, where it is asked again.
    """
    template = _TASK.replace("<noun>", noun)

    def lay_out_task(constraints: str, text: Labelled, wrong: str = "") -> Message:
        data = text.text.encode("utf-8", "surrogatepass")
        digest = blake2b(data, key=key, digest_size=8).hexdigest()
        parts = {
            "constraints": constant(constraints),
            "text": text,
            "fence": constant(f"=={digest}=="),
            "again": constant(_AGAIN.format(wrong=wrong) if wrong else ""),
        }
        return Message("user", fill(template, **parts))

    messages = [Message("system", constant(system))]
    for example in examples:
        task = lay_out_task(example.constraints, constant(example.text))
        messages += task, Message("assistant", constant(example.reply))
    return (*messages, lay_out_task(constraints, text, wrong))
