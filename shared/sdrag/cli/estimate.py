"""
What binding would cost: `sdrag bind --dry-run`.

What is said goes for a policy whose constraints are all asked about every document. How
many words the local engine will mark is known only once it has read everything, so a
sample is read, and the rest of the corpus is taken to be like it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from sdrag.disclosure import locate
from sdrag.disclosure.model.extract import extraction_prompt
from sdrag.disclosure.texts import with_documents
from sdrag.effects.batches import batched
from sdrag.effects.prompts import constant
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Failure, run
from sdrag.effects.tokens import CHARACTERS_PER_TOKEN, estimated
from sdrag.pipeline import Engine
from sdrag.policy import Policy
from sdrag.wrapper_setup import local_embeddings

if TYPE_CHECKING:
    from sdrag.cli.chunks import Chunks
    from sdrag.vocabulary import Passage

__all__ = ["NOTES", "estimate"]

NOTES = """\
calls: of the first round, with every constraint asked about every document.
confirmations: of the second round, from none to so many; how many words the local
engine marks for it is known of a sample only.
tokens_in, tokens_out: of both rounds, at four characters a token.
seconds: of the local engine, without those of the model.
Calls that fail and replies that cannot be read are asked again; that is not in it."""

_SAMPLE = 20_000
"""So many characters are located to see how fast it goes, and what is found."""
_AT_ONCE = 1000
_SEAM = 2
"""Characters between two chunks in a block."""
_OF_MODEL = ("calls", "confirmations", "tokens_in", "tokens_out")
_MARKED_AT_ONCE = 20
"""So many marked forms are asked about in one prompt of the second round."""
_SENTENCE = 30
"""Tokens of a sentence that shows where a marked form is."""
_ANSWER = 15
"""Tokens of one answer, or of one question, without what it quotes."""


@dataclass(slots=True)
class _Document:
    """How many blocks its chunks fill, and how full the last one is."""

    characters: int = 0
    blocks: int = 0
    last: int = 0

    def add(self, size: int, limit: int) -> None:
        self.characters += size
        if self.blocks and self.last + _SEAM + size <= limit:
            self.last += _SEAM + size
            return
        self.blocks += max(1, math.ceil(size / limit))
        self.last = size % limit or min(size, limit)


@dataclass(frozen=True, slots=True)
class _Sample:
    """
    What came of the sample, for each character of it.

    Args:
        seconds: Of the local engine.
        marked: Stretches that were found.
        forms: The different ones of a document among them.
        quoted: Characters in those that were found.
    """

    seconds: float
    marked: float = 0.0
    forms: float = 0.0
    quoted: float = 0.0


def estimate(policy: Policy, chunks: Chunks, *, has_model: bool) -> dict[str, float]:
    """
    Estimate what binding would take; the model is asked nothing.

    Args:
        policy: What would be bound.
        chunks: To what.
        has_model: Whether a model would be asked too.

    Returns:
        Chunks; calls, confirmations and tokens of the model, as `NOTES` says; and
        seconds of the local engine.
    """
    limit = policy.disclosure.token_budget * CHARACTERS_PER_TOKEN
    chosen: list[Passage] = []
    documents: dict[str, _Document] = {}
    count = sampled = 0
    for passage in _passages(policy, chunks):
        count += 1
        size = len(passage.text)
        name = passage.document_id or passage.id
        documents.setdefault(name, _Document()).add(size, limit)
        if sampled < _SAMPLE:
            chosen.append(passage)
            sampled += size
    sample = _sample(policy, chosen, max(sampled, 1), has_model=has_model)
    total = sum(one.characters for one in documents.values())
    asked = dict.fromkeys(_OF_MODEL, 0)
    if has_model:
        asked = _asked(policy, list(documents.values()), sample)
    return {"chunks": count, **asked, "seconds": round(sample.seconds * total, 1)}


def _passages(policy: Policy, chunks: Chunks) -> Iterator[Passage]:
    for some in batched(chunks.passages(), _AT_ONCE):
        yield from with_documents(some, policy.disclosure.document_keys)


def _asked(
    policy: Policy, documents: list[_Document], sample: _Sample
) -> dict[str, int]:
    """Add up both rounds; what the local engine marks, the model is taken to quote."""
    rules, section = policy.rules, policy.disclosure
    size = section.batch_size
    batches = [rules[start : start + size] for start in range(0, len(rules), size)]
    blocks = sum(one.blocks for one in documents)
    total = sum(one.characters for one in documents)
    marked = sample if section.with_model == "confirm" else _Sample(0.0)
    forms = [math.ceil(one.characters * marked.forms) for one in documents]
    confirmations = sum(math.ceil(many / _MARKED_AT_ONCE) for many in forms)
    instructions = [
        estimated(
            message.content.text
            for message in extraction_prompt(constant(""), batch, b"").messages
        )
        for batch in batches
    ]
    first = blocks * sum(instructions) + len(batches) * total // CHARACTERS_PER_TOKEN
    shown = _SENTENCE * total * marked.marked + _ANSWER * sum(forms)
    second = confirmations * max(instructions, default=0) + math.ceil(shown)
    quoted = total * sample.quoted / CHARACTERS_PER_TOKEN
    return {
        "calls": blocks * len(batches),
        "confirmations": confirmations,
        "tokens_in": first + second,
        "tokens_out": _ANSWER * (blocks * len(rules) + sum(forms)) + math.ceil(quoted),
    }


def _sample(
    policy: Policy, chosen: list[Passage], size: int, *, has_model: bool
) -> _Sample:
    engine = Engine.build(policy, releasing=False)
    runner = PortRunner(Ports(embed=local_embeddings()))
    run(locate(chosen[:1], engine.disclosure), runner)  # what loads, loads now
    started = perf_counter()
    run(locate(chosen, engine.disclosure), runner)
    seconds = (perf_counter() - started) / size
    if not has_model:
        return _Sample(seconds)
    locating = engine.disclosure.locator.locate(chosen, policy.rules)
    found = {
        (passage.document_id or passage.id, index, finding.span)
        for index, (passage, outcome) in enumerate(
            zip(chosen, run(locating, runner), strict=True)
        )
        if not isinstance(outcome, Failure)
        for finding in outcome.value
    }
    forms = {
        (document, span.of(chosen[index].text).casefold())
        for document, index, span in found
    }
    quoted = sum(len(span) for _, _, span in found)
    return _Sample(seconds, len(found) / size, len(forms) / size, quoted / size)
