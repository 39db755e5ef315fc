"""An answer of seven claims over eight passages, to be checked."""

from __future__ import annotations

from datetime import UTC, datetime

from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.guardrails.answer import Draft, guard
from sdrag.policy import Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

__all__ = ["check", "sentences_of_all"]

PLACES = ("Arden", "Brook", "Corby", "Dale", "Elm", "Ford", "Glen", "Holt")
TEXT = (
    "The harbour of {0} was built in 18{1}1 by the town council. Boats of up to {1}0"
    " feet may stay a week. The fee is {1}5 pounds, due on arrival, and half of it is"
    " returned to members of the club. In winter the outer pier of {0} is closed, and"
    " the ferry leaves from the market."
)
CLAIM = "The harbour of {0} was built in 18{1}1, and its fee is {1}5 pounds on arrival."
PASSAGES = tuple(
    Passage(place, TEXT.format(place, at)) for at, place in enumerate(PLACES, start=1)
)
ANSWER = " ".join(CLAIM.format(place, at) for at, place in enumerate(PLACES[:7], 1))
POLICY = Policy.read({"grounding": {}, "contradictions": {}})
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def check() -> None:
    """Check the answer once."""
    draft = Draft("", ANSWER, PASSAGES)
    run(guard(draft, POLICY, now=NOW), PortRunner(Ports()))


def sentences_of_all() -> list[str]:
    """Return the sentences of the answer and of the passages."""
    return [
        span.of(text)
        for text in (ANSWER, *(passage.text for passage in PASSAGES))
        for span in sentences(text)
    ]
