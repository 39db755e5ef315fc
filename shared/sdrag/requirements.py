"""
What a policy needs of models and of the extra `local`: refused or loaded at the start.

A model that a policy asks for and nobody passed is an error when an engine is made; at
the first question it would be silence. Without the extra `local` there are no packaged
embeddings and no trained networks. The host's `embeddings=` replace the former.
Constraints are checked apart: `sdrag.disclosure.setup`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import replied, run
from sdrag.embeddings import embed_texts, installed
from sdrag.errors import MissingExtraError, UsageError
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.injection import InjectionSection
from sdrag.options import JudgeName, Judges
from sdrag.policy import GUARDS, LinkageSection, Policy, check_not_empty
from sdrag.vocabulary import Constraint, Passage

__all__ = ["check_local_highlighter", "check_requirements", "embeds", "warm_up"]

_TEXT = "The witness left at noon. The door was open."
_CONSTRAINT = Constraint("warm-up", "Conceal how the door was opened")
_COMPARED = ("retrieve", "disclose", "view", "bind")
"""The stages at which constraints are compared with passages."""
_RELEASING = ("retrieve", "disclose", "view")
"""The stages at which passages leave."""
_SHOWING = ("retrieve", "disclose")
"""The stages at which an end user is shown passages."""


def embeds(embeddings: object) -> bool:
    """Say whether texts can be embedded: by the host's model, or the packaged one."""
    return embeddings is not None or installed()


def check_requirements(
    policy: Policy,
    stage: str,
    guarded: Collection[str],
    judges: Judges,
    *,
    has_model: bool,
    has_embeddings: bool,
    has_state: bool,
) -> None:
    """
    Refuse a policy that could not be enforced.

    `guarded`: the stages of the guards that run in it.

    Raises:
        PolicyError: Passages leave, and the policy is empty.
        UsageError: A model or the state is missing.
        MissingExtraError: The extra `local` is not installed, and something needs it.
    """
    if stage in _RELEASING:
        check_not_empty(policy)
    for guard in GUARDS:
        section = guard.settings(policy)
        if section is not None and guard.judge and guard.stage in guarded:
            _check_judge(section.asks, guard.judge, judges, has_model=has_model)
    summarizes = stage == "highlight" and has_model and policy.highlight.grounded
    judging = policy.grounding or GroundingSection()
    if summarizes:
        _check_judge(judging.method, "entailment", judges, has_model=has_model)
    if policy.session is not None and stage in _SHOWING and not has_state:
        raise UsageError(
            "The policy limits what a session is shown, and no state was passed.",
            hint='Pass `state="sdrag.sqlite"`, or a URL that all processes open.',
        )
    if installed():
        return
    features = [*_need_networks(policy, stage, guarded)]
    if summarizes and judging.method == "local":
        features.append("A check of summaries (`highlight.grounded: false` omits it)")
    if not has_embeddings:
        features += _need_embeddings(policy, stage, guarded)
    for feature in features:
        raise MissingExtraError(feature, "local")


def _check_judge(
    method: str, name: JudgeName, judges: Judges, *, has_model: bool
) -> None:
    """Check the model of a method: the judge of pairs, the language model, or none."""
    missing = ""
    if method == "nli" and name not in judges:
        missing = f'judges={{"{name}": ...}}'
    if method == "llm" and not has_model:
        missing = "llm=..."
    if missing:
        raise UsageError(
            f"The policy asks for a model that judges {name}, and there is none.",
            hint=f"Pass `{missing}`, or change the method in the policy.",
        )


def check_local_highlighter() -> None:
    """
    Refuse the local highlighter without what it runs on.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    if not installed():
        raise MissingExtraError("The highlighter `local`", "local")


def _need_networks(
    policy: Policy, stage: str, guarded: Collection[str]
) -> Iterator[str]:
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


def _need_embeddings(
    policy: Policy, stage: str, guarded: Collection[str]
) -> Iterator[str]:
    """Yield what embeds texts, and works with the host's embeddings too."""
    relevance = policy.relevance
    if stage in _COMPARED and policy.disclosure.limited:
        yield "`disclosure.top_k` without `embeddings=`"
    if relevance and "retrieval" in guarded and relevance.measures:
        yield f"`relevance.scores: {relevance.scores}` without `embeddings=`"
    if stage == "highlight" and policy.highlight.min_similarity is not False:
        yield "`highlight.min_similarity`"
    if stage == "summarize":
        yield "A summary of what belongs together, without `embeddings=`,"
    if stage == "mask" and _by_meaning(policy.linkage):
        yield "`linkage.resolution.meaning` without `embeddings=`"


def _by_meaning(section: LinkageSection) -> bool:
    resolution = section.resolution
    return not (resolution.meaning is False and resolution.terms is False)


def warm_up() -> None:
    """
    Load MiniLM, the scorer and the tagger, which all wrappers of the process share.

    An application calls it where it starts, so that its first question does not wait.
    It takes seconds; call it on a thread to start at once.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        SdragError: A network cannot be loaded.
    """
    if not installed():
        raise MissingExtraError("`warm_up`", "local")
    embed_texts([_TEXT])
    locator = LocalLocator(TaggerDetector())
    passages = [Passage("warm-up", _TEXT, document_id="warm-up")]
    for outcome in run(locator.locate(passages, [_CONSTRAINT]), PortRunner(Ports())):
        replied(outcome)
