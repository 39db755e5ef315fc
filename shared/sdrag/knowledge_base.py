"""What contradicts itself in a knowledge base, found before any question."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions.corpus import (
    CorpusContradictions,
    find_contradictions,
)
from sdrag.guardrails.staleness import drop_stale
from sdrag.policy import Policy, PolicySource
from sdrag.vocabulary import Passage


def scan_contradictions(
    passages: Iterable[Passage], policy: PolicySource | None = None
) -> CorpusContradictions:
    """
    Find the passages of a corpus that contradict each other, sentence by sentence.

    The local rules judge, whatever `method` says. Time grows with the corpus, not with
    its square: sentences are compared that share rare words, three words at least.

    Args:
        passages: The corpus. Those of one passage are not compared.
        policy: Its `contradictions` section says which passage is preferred. What its
            `staleness` section drops is left out.

    Raises:
        PolicyError: The policy cannot be read.
    """
    read = Policy.read(policy if policy is not None else {})
    given = tuple(passages)
    if read.staleness is not None:
        given = drop_stale(given, read.staleness, now=datetime.now(UTC)).passages
    return find_contradictions(given, read.contradictions or ContradictionsSection())
