"""
What a prompt of redaction asks, read as a model reads it: from its last message alone.

The models know the words of the prompts and no more of the package. Messages before the
last are examples. The text stands between two lines of a mark that it cannot hold, so
nothing in it is taken for a constraint or a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdrag.effects.prompts import Prompt
from sdrag.errors import UsageError
from sdrag.vocabulary import Confidential

EXTRACT = "disclosure.extract"
CONFIRM = "disclosure.confirm"
REPHRASE = "disclosure.rephrase"

MARK = re.compile(r"==[0-9a-f]{16}==")
"""What stands around texts."""

_BETWEEN = re.compile(
    r"\n\n[A-Z][\w ]+, between two lines of (==[0-9a-f]{16}==):\n\1\n(.*)\n\1",
    re.DOTALL,
)
_HEAD = "Constraints:\n"
_NAMED = re.compile(r"^\[([\w.:-]{1,64})\] ", re.MULTILINE)
_PLANTED = re.compile(r"Somebody asked for (.+?) and (.+?)\.(?=\s|$)")
_LISTED = re.compile(r"^- ", re.MULTILINE)
_SENTENCE = re.compile(r"^\((\d+)\) (.*)$")
_QUESTION = re.compile(
    r'^\[(q\d+)\] "(.*)" in (\(\d+\)(?:, \(\d+\))*), marked for: (.*)$'
)


@dataclass(frozen=True, slots=True, repr=False)
class Extracting(Confidential):
    """What has to go: constraints by their ids, the text, and how it is answered."""

    constraints: Mapping[str, str]
    text: str
    flat: bool = False

    def write(self, spans: Mapping[str, Sequence[str]]) -> str:
        """Write a reply that says what has to go for each constraint."""
        verdicts = [{"constraint": name, "spans": each} for name, each in spans.items()]
        reply = {"spans": verdicts[0]["spans"]} if self.flat else {"verdicts": verdicts}
        return json.dumps(reply, ensure_ascii=False)


@dataclass(frozen=True, slots=True, repr=False)
class MarkedWords(Confidential):
    """
    What is asked about marked words.

    Args:
        id: Of the question.
        words: That were marked.
        sentences: Those in which they stand.
        constraints: The ids of those that they were marked for.
    """

    id: str
    words: str
    sentences: Sequence[str]
    constraints: Sequence[str]


@dataclass(frozen=True, slots=True, repr=False)
class Confirming(Confidential):
    """What need not go: constraints by their ids, questions, and all that is shown."""

    constraints: Mapping[str, str]
    questions: Sequence[MarkedWords]
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Rephrasing(Confidential):
    """What is said again: constraints, and the text."""

    constraints: Sequence[str]
    text: str


def shown(prompt: Prompt) -> str:
    """Return the text that a prompt shows; its last message where it has none."""
    asked = prompt.messages[-1].content.text
    match = _BETWEEN.search(asked)
    return asked if match is None else match[2]


def read_prompt(prompt: Prompt) -> Extracting | Confirming | Rephrasing:
    """
    Read what a prompt asks.

    Args:
        prompt: Of redaction.

    Raises:
        UsageError: It is another prompt.
    """
    asked = prompt.messages[-1].content.text
    match = _BETWEEN.search(asked)
    if match is None or not asked.startswith(_HEAD):
        raise UsageError(f"A scripted model cannot answer {prompt.name!r}.")
    rules, text = asked[len(_HEAD) : match.start()], match[2]
    if prompt.name == EXTRACT:
        flat = '"verdicts"' not in prompt.messages[0].content.text
        return Extracting(_named(rules), text, flat)
    if prompt.name == CONFIRM:
        return _confirming(_named(rules), text)
    if prompt.name == REPHRASE:
        return Rephrasing(_listed(rules), text)
    raise UsageError(f"A scripted model cannot answer {prompt.name!r}.")


def _named(rules: str) -> dict[str, str]:
    _, *parts = _NAMED.split(rules)
    return {
        name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _listed(rules: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in _LISTED.split(rules)[1:])


def _confirming(constraints: Mapping[str, str], text: str) -> Confirming:
    """Read sentences and questions, each of which fills a line of its own."""
    sentences: dict[str, str] = {}
    questions: list[MarkedWords] = []
    for line in text.split("\n"):
        if match := _SENTENCE.match(line):
            sentences[match[1]] = match[2]
        elif asked := _QUESTION.match(line):
            where = [sentences[number] for number in re.findall(r"\d+", asked[3])]
            names = tuple(asked[4].split(", "))
            questions.append(MarkedWords(asked[1], asked[2], where, names))
    return Confirming(constraints, questions, text)


_CONTROL = re.compile(r"Take out [\w\- ]+ of any kind")
_HARMLESS = re.compile(r"the (?:old|new|second|spare|blue|heavy) \w+")


def is_control(rule: str) -> bool:
    """Say whether a constraint is that of the control questions."""
    return _CONTROL.fullmatch(rule) is not None


def is_harmless(words: str) -> bool:
    """Say whether the words of a control question need not go."""
    return _HARMLESS.fullmatch(words) is not None


def planted(text: str) -> list[str]:
    """Return the words of the planted sentences of a text that have to go."""
    pairs = _PLANTED.findall(text)
    return [words for pair in pairs for words in pair if not is_harmless(words)]
