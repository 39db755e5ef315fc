"""
Prompts that know what is in them, and the check that refuses unsafe ones.

The paper's prompt sanitization principle: "if the output of a prompt is directly
returned to an untrusted actor, then the prompt must not contain both: (i) unfiltered
data from a DB (which might be sensitive), and (ii) unfiltered user input (which might
be malicious)" (SD-RAG, section III-B). Here it is a type. Every text of a prompt is
`Labelled`. Joining texts joins their labels, and a reply inherits the labels of its
prompt. Only `verified` takes a label away; text that was redacted is new text and is
labelled by what it holds.

`admit` checks two rules before any model is called:

1. UNTRUSTED never meets SENSITIVE. The paper allows it where the reply is not released;
   this rule is stricter, because such a reply may be released later.
2. A prompt marked `blind` holds no UNTRUSTED text. The summarizer of Highlight &
   Summarize (section 4) answers the end user and must not have read the question.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Flag
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Literal

from sdrag.errors import PromptSanitizationError
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    from pydantic import BaseModel

Role = Literal["system", "user", "assistant"]


class Label(Flag):
    """What is in a text."""

    NONE = 0
    UNTRUSTED = 1
    """The end user's words, or anything derived from them."""
    SENSITIVE = 2
    """Text for which a constraint that applies has not been enforced."""


@dataclass(frozen=True, slots=True, repr=False)
class Labelled(Confidential):
    """A text and what is in it."""

    text: str
    labels: Label

    def __repr__(self) -> str:
        return f"Labelled({len(self.text)} characters, {self.labels})"


def constant(text: str) -> Labelled:
    """Label a text that is part of the program or of the policy."""
    return Labelled(text, Label.NONE)


def untrusted(text: str) -> Labelled:
    """Label the end user's words."""
    return Labelled(text, Label.UNTRUSTED)


def sensitive(text: str) -> Labelled:
    """Label text from the store."""
    return Labelled(text, Label.SENSITIVE)


def verified(source: Labelled, text: str) -> Labelled:
    """Label quotations verified against their passages: nobody steered their words."""
    return Labelled(text, source.labels & ~Label.UNTRUSTED)


def joined(parts: Iterable[Labelled]) -> Labelled:
    """Join texts and their labels."""
    listed = list(parts)
    return Labelled("\n\n".join(part.text for part in listed), _labels(listed))


def fill(template: str, **values: Labelled) -> Labelled:
    """
    Put labelled texts into a template of the program's own.

    A value is inserted once and never read as a template itself, so braces in a
    passage mean nothing.
    """
    filled = template.format_map({key: value.text for key, value in values.items()})
    return Labelled(filled, _labels(values.values()))


def _labels(parts: Iterable[Labelled]) -> Label:
    return reduce(or_, (part.labels for part in parts), Label.NONE)


_LEAST_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Role
    content: Labelled


@dataclass(frozen=True, slots=True)
class Prompt:
    """
    What a model is asked.

    Args:
        name: Which prompt of the package this is, for audits and tests.
        messages: The turns, in order.
        reply_format: The shape of the reply, used by models that can be held to one;
            the words of the prompt ask for the same shape as JSON.
        blind: The prompt must not hold the end user's words (rule 2).
        max_tokens: The most tokens of a reply, of which the whole is needed. Without
            it, a reply has more than any needs, and counts as far as it goes.
    """

    name: str
    messages: tuple[Message, ...]
    reply_format: type[BaseModel] | None = None
    blind: bool = False
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        """Keep the turns as a tuple, so that what was admitted is what is sent."""
        object.__setattr__(self, "messages", tuple(self.messages))

    def limited(self) -> Prompt:
        """Return it with a limit of tokens, so that no reply is endless."""
        if self.max_tokens is not None:
            return self
        characters = sum(map(len, self.texts))
        return replace(self, max_tokens=_LEAST_LIMIT + characters // 2)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its turns."""
        return tuple(message.content.text for message in self.messages)

    @property
    def labels(self) -> Label:
        """All that is in it."""
        return _labels(message.content for message in self.messages)


def admit(prompt: Prompt) -> Prompt:
    """
    Return a prompt that keeps the two rules.

    Raises:
        PromptSanitizationError: It breaks one; nothing was sent.
    """
    labels = prompt.labels
    if Label.UNTRUSTED in labels and Label.SENSITIVE in labels:
        raise PromptSanitizationError(
            f"Prompt {prompt.name!r} holds the end user's words and unredacted text.",
            hint="Redact the text first, or leave the question out.",
        )
    if prompt.blind and Label.UNTRUSTED in labels:
        raise PromptSanitizationError(
            f"Prompt {prompt.name!r} must not hold the end user's words.",
            hint="Give it verified highlights only.",
        )
    return prompt
