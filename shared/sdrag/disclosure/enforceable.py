"""
Whether a policy can be enforced by what there is, and why not.

No constraint is accepted and then not enforced. Without a model, a constraint may be
more than the local engine understands: of another language, an allow-list, gibberish.
So may one that must be understood, where the trained networks are not installed, and
one of which all recognisers are off that would find it. Then the wrapper is refused
when it is built, unless the policy says that whatever such a constraint holds for is
withheld. A blanket constraint ("nothing may be disclosed") withholds every passage it
holds for in any case.

One that must be understood has to tell of something. "Hide critical information" tells
of nothing that could be compared with a text: a head over the packaged MiniLM learned
from many constraints which are of that kind (benchmarks/vagueness/). What it refuses is
accepted once one of its examples is opened by its words and the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from sdrag.detectors import tagger, types_of
from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.constraint_parser import PATTERN, ParsedConstraint, parse
from sdrag.disclosure.constraint_parser.names import is_proven, is_quoted
from sdrag.disclosure.constraint_parser.wording import blank_audience, subject_of
from sdrag.disclosure.local.by_example import judge_left_out
from sdrag.disclosure.local.by_meaning import THRESHOLDS
from sdrag.disclosure.local.scorer import is_available
from sdrag.embeddings import embed_texts, embed_tokens, installed, read_packaged
from sdrag.errors import ConstraintNotUnderstoodError
from sdrag.policy import Policy
from sdrag.vocabulary import SCORE_DIGITS

_VAGUE, _VAGUE_IF_NAMED = -0.1, 2.4
"""Margins from which on a constraint is vague, and one that names types or somebody."""
_WEIGHTS = files("sdrag.disclosure.local").joinpath("vagueness.safetensors")
_BLANKET = re.compile(
    r"(?i)\b(?:nothing|everything|anything|no|not|all|any|whole|entire\w*|never|none"
    r"|texts?|documents?|records?|files?)\b"
)
_OFFERS = files("sdrag.disclosure.local").joinpath("offers.txt")
_OFFERED = 3
_TRIED = 6
"""Examples of a vague constraint on which it is tried."""
_OR_SHOW = (
    "Or show what is meant: add `examples`, sentences of your own documents with what"
    " of them `hides`."
)
_NEAR = 0.35
"""From this cosine on a sentence is near another in meaning."""
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


def read_subject(parsed: ParsedConstraint) -> str:
    """Return what a constraint is about: neither its order nor for whom it is."""
    rest = " ".join(blank_audience(parsed.subject).split()).strip(" ,.")
    return subject_of(rest) if rest else parsed.subject


def why_not_enforced(parsed: ParsedConstraint) -> str:
    """Say why a constraint would hide nothing for certain; nothing if it would."""
    least = limit_margin(parsed)
    if least == math.inf or _measure_margin(read_subject(parsed)) < least:
        return ""
    say = advise(parsed)
    rule = parsed.constraint
    chances = judge_left_out(replace(rule, examples=rule.examples[:_TRIED]))
    if not chances:
        return f"It does not say what to hide. {say} {_OR_SHOW}"
    if max(chances) >= THRESHOLDS["balanced"].sentence:
        return ""
    return (
        "It does not say what to hide, and opens none of its examples."
        f" {say} Or show more `examples`, all of one kind."
    )


def _is_due(parsed: ParsedConstraint) -> bool:
    """Say whether a constraint could be vague: types, statements and names are not."""
    if not installed() or parsed.statement:
        return False
    text = parsed.constraint.text
    if parsed.kind == "named":
        return not any(is_quoted(name, text) for name in parsed.names)
    if parsed.kind == "everything":
        return not _BLANKET.search(text)
    return parsed.kind == "meaning"


def limit_margin(parsed: ParsedConstraint) -> float:
    """Return the margin from which on it is refused; infinite where it is not tried."""
    if not _is_due(parsed):
        return math.inf
    text = parsed.constraint.text
    named = parsed.worded or any(is_proven(name, text) for name in parsed.names)
    return _VAGUE_IF_NAMED if named else _VAGUE


@lru_cache(maxsize=4096)
def _measure_margin(subject: str) -> float:
    """Return how vague a subject is; below 0, it says what to hide."""
    head = _load()
    ((states, _),) = embed_tokens([subject])
    weights = np.exp(states @ head["attention.weight"].swapaxes(1, 2))
    weights /= weights.sum(axis=1, keepdims=True)
    read = (weights.swapaxes(1, 2) @ states).reshape(len(weights), -1, 1)
    hidden = (head["hidden.weight"] @ read).squeeze(axis=2) + head["hidden.bias"]
    margins = (head["margin.weight"] @ np.maximum(hidden, 0)[..., None]).ravel()
    margin = float(np.mean(margins + head["margin.bias"].ravel()))
    return round(margin, SCORE_DIGITS)  # the same on every processor


@lru_cache(maxsize=1)
def _load() -> Mapping[str, Any]:
    from safetensors.numpy import load  # noqa: PLC0415 -- with the extra only

    head = load(read_packaged(_WEIGHTS))
    return {name: row.astype(np.float32) for name, row in head.items()}


def advise(parsed: ParsedConstraint) -> str:
    """Say what could be said in place of a constraint that is refused."""
    return (
        f"Say what to hide, as in {' or '.join(f'“{text}”' for text in offer(parsed))}."
    )


def offer(parsed: ParsedConstraint) -> list[str]:
    """
    Return sentences that would be understood, the nearest in meaning first.

    Where none is near they are the first of the bank, which ask for what has a form.
    """
    texts = near = read_offers()
    if installed():
        subject = np.asarray(embed_texts([read_subject(parsed)])[0])
        scores = (_embed_offers() @ subject).round(SCORE_DIGITS)
        ranked = np.argsort(-scores, kind="stable")
        near = [texts[place] for place in ranked if scores[place] >= _NEAR]
    return [*dict.fromkeys([*near, *texts])][:_OFFERED]


@lru_cache(maxsize=1)
def read_offers() -> list[str]:
    """Return the bank of sentences; the first ask for what has a form."""
    return _OFFERS.read_text("utf-8").splitlines()


@lru_cache(maxsize=1)
def _embed_offers() -> Any:
    return np.asarray(embed_texts(read_offers()))
