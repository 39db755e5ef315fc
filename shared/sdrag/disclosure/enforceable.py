"""
Whether a policy can be enforced by what there is, and why not.

No constraint is accepted and then not enforced. Without a model, a constraint may be
more than the local engine understands: of another language, an allow-list, gibberish.
So may one that must be understood, where the trained networks are not installed, and
one of which all recognisers are off that would find it. Then the wrapper is refused
when it is built, unless the policy says that whatever such a constraint holds for is
withheld. A blanket constraint ("nothing may be disclosed") withholds every passage it
holds for in any case.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdrag.detectors import tagger, types_of
from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.constraint_parser import PATTERN, ParsedConstraint, parse
from sdrag.disclosure.local.scorer import is_available
from sdrag.disclosure.vagueness import advise, why_not_enforced
from sdrag.embeddings import installed
from sdrag.errors import ConstraintNotUnderstoodError
from sdrag.policy import Policy

_INSTALL = 'Run: pip install "sdrag[local]".'


def why_not(parsed: ParsedConstraint, policy: Policy, detector: object = None) -> str:
    """
    Say why a constraint cannot be enforced without a model; nothing where it can.

    A reason quotes nothing of it, and says what would be understood in its place. What
    is asked for by form or by name needs neither a model nor the extra `local`.

    `detector`: the application's, which may find what the local one is not to.
    """
    if parsed.status == "needs_model":
        return f"{parsed.reason} {advise(parsed)}"
    if reason := why_not_found(parsed, policy, detector):
        return reason
    if installed():
        return why_not_enforced(parsed)
    if _needs_scorer(parsed):
        reason = "It must be understood, and the scorer is not installed."
    elif parsed.identifying:
        reason = "What identifies people needs the tagger."
    else:
        return ""
    return f"{reason} {_INSTALL} {advise(parsed)}"


def why_not_found(
    parsed: ParsedConstraint, policy: Policy, detector: object = None
) -> str:
    """
    Say which recognisers are off without which nothing finds what a constraint hides.

    It is refused and not only warned of: its author would read it in the policy, and
    nothing would be hidden. What is left of several types is enough, for that is what
    a switch is for; `sdrag check` names those that find less.
    """
    off = policy.disclosure.recognisers_off
    patterns = PATTERN in parsed.types
    understood = parsed.meaning or parsed.identifying or parsed.names or patterns
    if not off or understood or parsed.statement or parsed.cues or not parsed.types:
        return ""
    if parsed.types & (LocalDetector(off=off).finds | types_of(detector)):
        return ""
    names = ", ".join(find_less(parsed, policy))
    return f"Nothing finds what it hides, for `disclosure.recognisers_off` has {names}."


def find_less(parsed: ParsedConstraint, policy: Policy) -> list[str]:
    """Return the recognisers that are off and would find what a constraint hides."""
    off = policy.disclosure.recognisers_off
    if not off:
        return []
    # It compiles the patterns of the rules.
    from sdrag.detectors.local.recognisers import recognisers_of  # noqa: PLC0415

    return recognisers_of(parsed.types | parsed.everywhere, off)


def not_understood(policy: Policy, detector: object = None) -> dict[str, str]:
    """Return the constraints that need a model, by id, and why they do."""
    asked = map(parse, policy.rules)
    reasons = {p.constraint.id: why_not(p, policy, detector) for p in asked}
    return {name: reason for name, reason in reasons.items() if reason}


def check_understood(
    policy: Policy, *, has_model: bool, detector: object = None
) -> None:
    """
    Refuse a policy of which something could not be enforced.

    `detector`: the application's.

    What rests on the model alone, for the trained networks are not installed, is warned
    of once, on the logger `sdrag`.

    Raises:
        ConstraintNotUnderstoodError: A constraint needs a model, there is none, and
            the policy does not say that its passages are withheld.
    """
    if has_model:
        for parsed in map(parse, policy.rules):
            if _needs_scorer(parsed):
                is_available("scorer")  # warns where it is not
            if parsed.identifying:
                tagger.available()
    elif policy.when_not_understood != "withhold" and (
        reasons := not_understood(policy, detector)
    ):
        raise ConstraintNotUnderstoodError(reasons)


def _needs_scorer(parsed: ParsedConstraint) -> bool:
    return parsed.kind in {"meaning", "statement"}


def find_blanket_rules(
    policy: Policy, detector: object, *, has_model: bool
) -> Mapping[str, str]:
    """
    Return the ids of constraints that withhold every passage, and the code why.

    `detector`: the application's, which may find what the local one is not to.
    """
    blanket: dict[str, str] = {}
    for parsed in map(parse, policy.rules):
        if parsed.kind == "everything":
            blanket[parsed.constraint.id] = "everything"
        elif not has_model and why_not(parsed, policy, detector):
            blanket[parsed.constraint.id] = "not-understood"
    return blanket
