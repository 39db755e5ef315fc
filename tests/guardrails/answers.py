"""What the tests of answers share: two passages, and a guarded answer."""

from __future__ import annotations

from datetime import UTC, datetime

from sdrag.guardrails.answer import guard
from sdrag.guardrails.answer_work import Draft
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HARBOUR = Passage("harbour", "The harbour was built in 1871 by the town of Lorne.")
FERRY = Passage("ferry", "The ferry leaves at nine. Tickets cost 4 pounds.")
PASSAGES = (HARBOUR, FERRY)
ENTAILED = "The harbour was built in 1871."


def guarded(ask, answer, policy, passages=PASSAGES, **handlers):
    draft = Draft("When was it built?", answer, tuple(passages))
    return ask(guard(draft, Policy.read(policy), now=NOW), **handlers)
