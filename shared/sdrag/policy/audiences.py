"""
For whom and for what a constraint holds.

Doubt applies a rule. So a constraint with a `where` holds for every passage of which
the metadata does not say otherwise: a missing or empty value says nothing, and neither
does one that cannot be compared with what is listed, such as several values that are
written as one string. `unless` lifts a constraint, so there doubt lifts nothing, and
values are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from sdrag.text.decoding import decode
from sdrag.text.folding import fold, fold_text
from sdrag.text.nested import items_of
from sdrag.vocabulary import Constraint, Principal

if TYPE_CHECKING:
    from sdrag.policy.document import Policy

_LIST = re.compile(r"[,;|\[\]{}\n\u3001\u060c\u061b]|^\s*\(")
"""What a string holds that several values are joined or serialised to."""
_JOINTS = re.compile(r"[\s_-]+")


def applies(constraint: Constraint, metadata: Mapping[str, Any]) -> bool:
    """
    Say whether a constraint holds for a passage with this metadata.

    It does not hold where a key of its `where` has a value that can be compared with
    the listed ones and equals none of them. Strings are compared folded, numbers as
    numbers; of a list, one item is enough. A string that reads as a list, or that
    contains a listed value as a word, cannot be compared.
    """
    skip = constraint.where_missing == "skip"
    return all(
        _holds(metadata.get(key), listed, skip=skip)
        for key, listed in constraint.where.items()
    )


def binds(constraint: Constraint, principal: Principal | None) -> bool:
    """
    Say whether a constraint binds a principal; without one, everything binds.

    It does not bind one who has all attributes of an alternative of its `unless`.
    """
    if principal is None:
        return True
    return not any(
        attributes
        and all(
            _exempts(_attribute(principal, key), listed)
            for key, listed in attributes.items()
        )
        for attributes in constraint.unless
    )


def nearest_attribute(key: str) -> str:
    """Return what a key of an `unless` was probably meant to be, if it is none."""
    known = ("id", "tenant", "roles", "level")
    return (
        "" if key in known else next(iter(get_close_matches(key, known, 1, 0.75)), "")
    )


def nearest_role(policy: Policy, principal: Principal) -> tuple[str, str] | None:
    """
    Return a role that a constraint names, with its id, if a principal's is nearly it.

    Nearly means in another case or with a letter or two changed; a role that some
    constraint names is right.
    """
    named = {
        str(role): rule.id
        for rule in policy.rules
        for attributes in rule.unless
        for role in attributes.get("roles", ())
    }
    folded = {role.casefold(): role for role in named}
    for role in sorted(map(str, principal.roles - named.keys())):
        for near in get_close_matches(role.casefold(), folded, 1, 0.8):
            return folded[near], named[folded[near]]
    return None


def metadata_of_any(policy: Policy) -> dict[str, Any]:
    """
    Return metadata for which every constraint holds.

    For text of unknown origin: whatever may be forbidden in it is.
    """
    values: dict[str, Any] = {}
    for rule in policy.rules:
        for key, listed in rule.where.items():
            values.setdefault(key, []).extend(listed)
    return values


def _holds(value: Any, listed: Iterable[Any], *, skip: bool) -> bool:
    items = items_of(value)
    return any(_item_holds(item, listed, skip=skip) for item in items) or (
        not items and not skip
    )


def _item_holds(value: Any, listed: Iterable[Any], *, skip: bool) -> bool:
    kind = _kind(value)
    same = [one for one in listed if _kind(one) == kind]
    if kind == "string":
        text = str.__str__(value)
        if not fold_text(text):
            return "" in map(fold_text, same) or not skip
        return not same or _may_be_of(text, same)
    if kind:
        return value in same or not same
    return value is not None or not skip


def _may_be_of(value: str, listed: Iterable[str]) -> bool:
    """Say whether a string may hold one of the listed ones, or several values."""
    wanted = [word for item in listed for word in _policy_words(item)]
    return any(
        _LIST.search(normalize("NFKC", reading.strip()))
        or any(word == plain.text or any(plain.find(word)) for word in wanted)
        for reading in (value, decode(value).text)
        for plain in (fold(_plain(reading)),)
    )


def _plain(text: str) -> str:
    return _JOINTS.sub(" ", fold_text(text)).strip()


@lru_cache(maxsize=1024)
def _policy_words(listed: str) -> tuple[str, ...]:
    """For the policy's own words only; those of passages are not kept."""
    return _plain(listed), _plain(decode(listed).text)


def _kind(value: Any) -> str:
    """Return what a value can be compared with; nothing for what it cannot be."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    is_number = isinstance(value, (int, float)) and value == value  # noqa: PLR0124 -- NaN
    return "number" if is_number else ""


def _exempts(value: Any, listed: tuple[Any, ...]) -> bool:
    return any(_equals(item, entry) for item in items_of(value) for entry in listed)


def _equals(value: Any, listed: Any) -> bool:
    """Compare by type and value: neither `True` nor `1.0` is `1`."""
    if isinstance(value, str) and isinstance(listed, str):
        return str.__eq__(value, listed)
    return type(value) is type(listed) and bool(value == listed)


def _attribute(principal: Principal, key: str) -> Any:
    if key in {"id", "tenant", "roles", "level"}:
        return getattr(principal, key)
    return principal.attributes.get(key)
