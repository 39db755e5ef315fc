"""
What a wrapper needs of the extra `local`: refused when it is built, not later.

Without the extra there are no packaged embeddings and no trained networks. The host's
`embeddings=` replace the former. Constraints are checked apart, with what else a policy
says that nobody understands: `sdrag.disclosure.setup`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sdrag.embeddings import installed
from sdrag.errors import MissingExtraError
from sdrag.policy import GroundingSection, InjectionSection, LinkageSection, Policy

__all__ = ["check_local_extra", "check_local_highlighter", "embeds"]

_COMPARED = ("retrieve", "disclose", "view", "bind")
"""The stages at which constraints are compared with passages."""


def embeds(embeddings: object) -> bool:
    """Say whether texts can be embedded: by the host's model, or the packaged one."""
    return embeddings is not None or installed()


def check_local_extra(
    policy: Policy, stage: str, guarded: Collection[str], *, has_embeddings: bool
) -> None:
    """
    Refuse a wrapper that could not do its work without the extra `local`.

    Args:
        policy: The policy in force.
        stage: What the wrapper does.
        guarded: The stages of the guards that run in it.
        has_embeddings: Whether texts can be embedded.

    Raises:
        MissingExtraError: The extra is not installed, and something needs it.
    """
    if installed():
        return
    features = [*_of_networks(policy, stage, guarded)]
    if not has_embeddings:
        features += _of_embeddings(policy, stage, guarded)
    for feature in features:
        raise MissingExtraError(feature, "local")


def check_local_highlighter() -> None:
    """
    Refuse the local highlighter without what it runs on.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    if not installed():
        raise MissingExtraError("The highlighter `local`", "local")


def _of_networks(policy: Policy, stage: str, guarded: Collection[str]) -> Iterator[str]:
    """Yield what runs on the packaged networks, whatever the host's embeddings are."""
    scanned = policy.injection if "retrieval" in guarded else None
    if stage == "scan":
        scanned = policy.injection or InjectionSection()
    if scanned and scanned.local_classifier:
        yield "`injection.local_classifier: true`"
    judging = policy.grounding or GroundingSection()
    if "answer" not in guarded or judging.method != "local":
        return
    if policy.grounding:
        yield "`grounding.method: local`"
    if policy.citations and "accuracy" in policy.citations.require:
        yield "`citations.require: [accuracy]` with `grounding.method: local`"


def _of_embeddings(
    policy: Policy, stage: str, guarded: Collection[str]
) -> Iterator[str]:
    """Yield what embeds texts, and works with the host's embeddings too."""
    relevance = policy.relevance
    if stage in _COMPARED and policy.disclosure.limited:
        yield "`disclosure.top_k` without `embeddings=`"
    if relevance and "retrieval" in guarded and relevance.measures:
        yield f"`relevance.scores: {relevance.scores}` without `embeddings=`"
    if stage == "summarize":
        yield "A summary of what belongs together, without `embeddings=`,"
    if stage == "highlight" and policy.highlight.on_divergence != "answer":
        yield "`highlight.on_divergence` without `embeddings=`"
    if stage == "mask" and _by_meaning(policy.linkage):
        yield "`linkage.resolution.meaning` without `embeddings=`"


def _by_meaning(section: LinkageSection) -> bool:
    resolution = section.resolution
    return not (resolution.meaning is False and resolution.terms is False)
