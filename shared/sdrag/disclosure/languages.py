"""
Texts in languages that the rules can't read.

The local engine reads English. Without a model, a text in another language is doubted
for every constraint that takes more than the form of a value to enforce, and so it is
withheld. Structured identifiers and what a constraint names itself are found in every
language.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from sdrag.detectors.language import find_language
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.texts import Texts
from sdrag.policy import Policy

__all__ = ["find_unreadable"]

_FORMS = frozenset(
    {
        "CODE", "COORDINATES", "CREDENTIAL", "CREDIT_CARD", "DOMAIN_NAME",
        "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "URL", "US_SSN",
    }
)  # fmt: skip
"""Types whose form is the same in every language."""

_logger = logging.getLogger("sdrag")


def find_unreadable(texts: Texts, policy: Policy) -> Mapping[tuple[int, str], str]:
    """
    Return which constraints can't be enforced on which texts, with the reason's code.

    Args:
        texts: Of a request.
        policy: For its `languages` and `on_other_language`.
    """
    if policy.on_other_language == "best_effort":
        return {}
    rules = [rule.id for rule in texts.constraints if _needs_language(parse(rule))]
    if not rules:
        return {}
    foreign = [
        index
        for index, text in enumerate(texts.all)
        if find_language(text.text) not in policy.languages
    ]
    if foreign and policy.on_other_language == "warn":
        _logger.warning(
            "%d texts are in a language that is not in the policy's `languages`, so "
            "constraints may not hold for them.",
            len(foreign),
        )
        return {}
    return {
        (index, name): "other-language"
        for index in foreign
        for name in texts.applied[index]
        if name in rules
    }


def _needs_language(parsed: ParsedConstraint) -> bool:
    if parsed.kind == "named":
        return not parsed.surely_names
    return parsed.people or parsed.meaning or not parsed.types <= _FORMS
