"""
How the prompts of this folder are laid out: an order, examples, and the task.

What a task shows of a document is between two lines of a fence. It can't forge them:
they are derived from it with a key that it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

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


class Turn(NamedTuple):
    """A task, and the reply that it should get: of ours, or of the policy's author."""

    constraints: str
    text: Labelled
    reply: Labelled

    @classmethod
    def ours(cls, constraints: str, text: str, reply: str) -> Self:
        """Return a turn that is part of the program."""
        return cls(constraints, constant(text), constant(reply))


def lay_out(
    system: str,
    turns: Sequence[Turn],
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
        turns: They show how to answer.
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
    for turn in turns:
        task = lay_out_task(turn.constraints, turn.text)
        messages += task, Message("assistant", turn.reply)
    return (*messages, lay_out_task(constraints, text, wrong))
