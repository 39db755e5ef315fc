"""
What a highlighter is: a function from a question and its context to extracts.

A highlighter is not trusted. It may be a hijacked model, so nothing it returns is used
but as a proposal that verification takes or refuses, and two booleans about yes-no
questions (section 9: "since both of these fields are of boolean type, they are unlikely
to introduce any new security risk").

Its prompts hold the question. So the passages must hold nothing that a constraint
withholds, and their label says whether that is so: `sdrag.effects.prompts.admit`
refuses a prompt in which UNTRUSTED meets SENSITIVE, whoever wrote the highlighter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sdrag.effects.prompts import Label, Labelled
from sdrag.effects.steps import Steps
from sdrag.vocabulary import Confidential, Passage

__all__ = ["Context", "Highlighter", "Proposal"]


@dataclass(frozen=True, slots=True, repr=False)
class Context(Confidential):
    """
    The retrieved passages, in document order.

    Args:
        passages: Trusted by the host.
        labels: `Label.NONE` where the passages were redacted or no constraint applies
            to them; `Label.SENSITIVE` otherwise.
    """

    passages: tuple[Passage, ...]
    labels: Label

    def numbered(self) -> Labelled:
        """Give the passages as one labelled text, each under its number from 1."""
        blocks = (
            f"[{number}]\n{passage.text}"
            for number, passage in enumerate(self.passages, start=1)
        )
        return Labelled("\n\n".join(blocks), self.labels)


@dataclass(frozen=True, slots=True, repr=False)
class Proposal(Confidential):
    """
    What a highlighter returns.

    Args:
        extracts: What it says is in the passages, the likeliest first.
        is_yes_no: The question asks for yes or no.
        says_yes: The answer is yes; read only where `is_yes_no` holds.
    """

    extracts: tuple[str, ...]
    is_yes_no: bool = False
    says_yes: bool = False


class Highlighter(Protocol):
    """Anything that proposes extracts."""

    def __call__(self, question: Labelled, context: Context) -> Steps[Proposal]:
        """
        Propose what of the context answers the question; nothing means declining.

        Raises:
            SdragError: It could not; the pipeline declines.
        """
        ...
