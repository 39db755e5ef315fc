"""
A runner that answers from functions, and the small fakes that go with it.

Logic is tested over `Scripted` with no model, no network and no event loop. `canary`
makes strings that no text holds by accident. `verbatim` is the worst generator there
is: it answers with all it was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, ClassVar

from benchmarks.suites.scripted.asked import (
    Rephrasing,
    is_control,
    planted,
    read_prompt,
)
from sdrag.effects.calls import Port
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Effect, Outcome, Reply, Search, Steps
from sdrag.engine import Engine
from sdrag.vocabulary import Constraint, Finding, Passage, Span

_RULE = re.compile(r"^\[([\w.:-]+)\] (.*)$", re.MULTILINE)


def answer_control(prompt: str, reply: str) -> str:
    """Add the verdict on the control of a prompt of extraction to readable JSON."""
    asked = prompt[max(prompt.rfind("Constraints:\n"), 0) :]
    controls = [name for name, rule in _RULE.findall(asked) if is_control(rule)]
    if len(controls) != 1 or '{"verdicts": [' not in reply:
        return reply
    verdict = json.dumps({"constraint": controls[0], "spans": planted(asked)})
    rest = reply.split('{"verdicts": [', 1)
    comma = "" if rest[1].startswith("]") else ", "
    return f'{rest[0]}{{"verdicts": [{verdict}{comma}{rest[1]}'


def extract(prompt: Prompt, *words: str) -> str:
    """Quote, for each constraint that a prompt asks about, those of the words in it."""
    asked = read_prompt(prompt)
    assert not isinstance(asked, Rephrasing)
    spans = [word for word in words if word in asked.text]
    verdicts = [
        {"constraint": name, "spans": spans}
        for name, rule in asked.constraints.items()
        if not is_control(rule)
    ]
    return json.dumps({"verdicts": verdicts})


_QUESTION = re.compile(
    r'^\[(q\d+)\] "(.*)" in ([\d(), ]+), marked for: (.*)$', re.MULTILINE
)


def questions(prompt: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Return what a prompt asks to confirm: question, words, sentences, constraints."""
    body = prompt.rpartition("between two lines")[2]
    sentences = dict(re.findall(r"^\((\d+)\) (.*)$", body, re.MULTILINE))
    return [
        (q, words, [sentences[n] for n in re.findall(r"\d+", where)], ids.split(", "))
        for q, words, where, ids in _QUESTION.findall(body)
    ]


def answers(prompt: str, free: Callable[..., list[str]]) -> str:
    """Answer each question by what need not go, given its place, words and ids."""
    listed = [
        {"question": q, "no": free(place, words, ids)}
        for place, (q, words, _, ids) in enumerate(questions(prompt))
    ]
    return json.dumps({"answers": listed})


def canary(name: str) -> str:
    """Return a word of letters that is in no text by accident."""
    digest = blake2b(name.encode(), digest_size=8).hexdigest()
    return "Canary" + digest.translate(str.maketrans("0123456789", "ghijklmnop"))


def verbatim(context: str) -> str:
    """
    Answer with everything that was given.

    The worst a hijacked model can do. What it cannot leak, no injection can.
    """
    return context


@dataclass(frozen=True)
class PatternLocator:
    """Stands in for the local engine: finds a pattern, or its first group."""

    pattern: str
    reason: str = "local"
    meaning: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        return f"{self.pattern} {self.reason}"

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        yield from ()
        return [
            Reply(
                tuple(
                    Finding(Span(*match.span(match.lastindex or 0)), c.id, self.reason)
                    for c in constraints
                    for match in re.finditer(self.pattern, passage.text)
                )
            )
            for passage in passages
        ]

    def detector_for(self, _asked: object) -> PatternLocator:
        return self

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[()]]]]:
        yield from ()
        return [Reply(()) for _ in texts]


def locate_by(engine: Engine, pattern: str, reason: str = "local") -> Engine:
    """Put a pattern in place of an engine's own rules."""
    locator: Any = PatternLocator(pattern, reason)
    vars(engine)["disclosure"] = replace(engine.disclosure, locator=locator)
    return engine


def toy_vectors(texts: Sequence[str], dimensions: int = 64) -> list[list[float]]:
    """Embed texts as hashed bags of words: alike where their words are."""
    vectors = []
    for text in texts:
        vector = [0.0] * dimensions
        for word in text.lower().split():
            digest = blake2b(word.strip(".,;:!?").encode(), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % dimensions] += 1.0
        vectors.append(vector if any(vector) else [1.0] * dimensions)
    return vectors


@dataclass(frozen=True)
class Unaided:
    """A model for which nobody answers the control of a prompt."""

    reply: Callable[[Prompt], str]

    def __call__(self, prompt: Prompt) -> str:
        """Reply as the model does."""
        return self.reply(prompt)


@dataclass(slots=True)
class Scripted:
    """
    A runner that answers from functions and remembers what it was asked.

    Args:
        complete: A prompt to a reply; may raise. The control of a prompt is answered
            for it, unless it is `Unaided`.
        search: A query to passages.
        embed: Texts to vectors.
    """

    complete: Callable[[Prompt], str] | None = None
    search: Callable[[str], Sequence[Passage]] | None = None
    embed: Callable[[Sequence[str]], list[list[float]]] = toy_vectors
    effects: list[Effect] = field(default_factory=list)

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        self.effects.append(effect)
        return self._runner.perform(effect)

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        self.effects.append(effect)
        return await self._runner.aperform(effect)

    def _answer(self, prompt: Prompt) -> Any:
        """Answer a prompt, and its control."""
        assert self.complete is not None
        reply = self.complete(prompt)
        if isinstance(self.complete, Unaided) or not isinstance(reply, str):
            return reply
        return answer_control(prompt.messages[-1].content.text, reply)

    @property
    def _runner(self) -> PortRunner:
        embed, search = self.embed, self.search

        def search_for(effect: Search) -> Sequence[Passage]:
            return search(effect.items[0]) if search else ()

        return PortRunner(
            Ports(
                complete=Port(self._answer) if self.complete else None,
                embed=Port(lambda effect: embed(effect.items)),
                search=Port(search_for) if search else None,
            )
        )
