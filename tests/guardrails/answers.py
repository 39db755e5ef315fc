"""What the tests of answers share: two passages, and a guarded answer."""

from __future__ import annotations

from datetime import UTC, datetime

from sdrag import Options
from sdrag.guardrails.answer_work import Draft
from sdrag.pipeline import Engine, check_answer
from sdrag.vocabulary import Passage

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HARBOUR = Passage("harbour", "The harbour was built in 1871 by the town of Lorne.")
FERRY = Passage("ferry", "The ferry leaves at nine. Tickets cost 4 pounds.")
PASSAGES = (HARBOUR, FERRY)
ENTAILED = "The harbour was built in 1871."


def unasked(*_):
    """The model and the judges of an engine whose effects a test answers itself."""
    raise AssertionError


def guarded(ask, answer, policy, passages=PASSAGES, **handlers):
    draft = Draft("When was it built?", answer, tuple(passages))
    judges = dict.fromkeys(("entailment", "contradiction"), unasked)
    engine = Engine(policy, unasked, options=Options(judges=judges), stage="answer")
    return ask(check_answer(draft, engine, None, now=NOW), **handlers)
