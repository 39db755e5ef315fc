"""Previewing documents on Ray: each worker explains some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from sdrag.distributed.plain import as_passages, plain_passages
from sdrag.distributed.session import RayOptions, ray_session
from sdrag.distributed.workers import Work, placed
from sdrag.explanation import Explainer, Explanation
from sdrag.explanation.stored import opened, stored
from sdrag.policy import Policy, PolicySource
from sdrag.vocabulary import Passage, Principal

__all__ = ["preview_corpus"]


def preview_corpus(
    batches: Sequence[Sequence[Passage]],
    policy: PolicySource,
    principal: Principal | None = None,
    *,
    options: RayOptions | None = None,
) -> Iterator[list[Explanation]]:
    """
    Yield what a policy does with each batch of chunks, in order.

    Args:
        batches: Chunks of whole documents; what is read together is explained
            together.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        principal: Who asks.
        options: How Ray is used.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        PolicyError: The policy cannot be read.
        HostError: Ray or a worker failed.
    """
    rules = Policy.read(policy)
    asker = None if principal is None else _plain(principal)
    used = options or RayOptions()
    words = {rule.id: rule.text for rule in rules.rules}
    with ray_session(used):
        parcels = map(plain_passages, batches)
        answers = placed(_explaining, (rules, asker), parcels, len(batches), used)
        for chunks, said in zip(batches, answers, strict=True):
            yield [
                opened(chunk, one, words)
                for chunk, one in zip(chunks, said, strict=True)
            ]


def _plain(principal: Principal) -> dict[str, Any]:
    """Return all that a principal holds; rules may look at any of it."""
    held = {one.name: getattr(principal, one.name) for one in fields(principal)}
    return {**held, "attributes": dict(principal.attributes)}


def _explaining(rules: Policy, asker: dict[str, Any] | None) -> Work:
    explainer = Explainer(rules)
    principal = None if asker is None else Principal(**asker)

    def explained(rows: Sequence[Any]) -> list[dict[str, Any]]:
        return [stored(one) for one in explainer.explain(as_passages(rows), principal)]

    return explained
