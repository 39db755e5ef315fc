"""Reasons: every code that a decision can carry is explained, in one table."""

from __future__ import annotations

from typing import get_args

from sdrag import errors
from sdrag.errors import SdragError
from sdrag.guardrails import answer_work, monitoring
from sdrag.guardrails.injection import patterns
from sdrag.highlight.verification import RefusalReason
from sdrag.privacy.reasons import GROUPS, REASONS, explain


def test_every_code_that_is_made_of_something_is_explained() -> None:
    """Of the rules of a package, or of the name of an error."""
    faults = get_args(answer_work.Fault)
    failures = [
        f"failed-{name.removesuffix('Error').lower()}"
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, SdragError)
    ]
    codes = {
        *get_args(RefusalReason),
        *faults,
        *(f"{fault}-unchecked" for fault in faults),
        *patterns.list_patterns(ciphered=True),
        *(
            f"{kind}:{origin}"
            for kind in get_args(monitoring.Kind)
            for origin in ("passage", "unknown")
        ),
        *failures,
    }

    assert codes - REASONS.keys() == set()


def test_a_code_says_where_an_instruction_was_hidden() -> None:
    """It is explained as the instruction is; nothing is made up for other words."""
    assert explain("metadata:base64:override-other") == REASONS["override-other"]
    assert explain("links:passage") == REASONS["links:passage"]
    assert explain("weather") is None


def test_a_code_has_one_meaning() -> None:
    """It stands in one group, and says what happened and what to do."""
    assert sum(map(len, GROUPS.values())) == len(REASONS)
    assert all(reason.happened and reason.mend for reason in REASONS.values())
