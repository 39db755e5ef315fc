"""
Examples in a file next to the policy: a policy of its own, which `sdrag check` runs.

It holds real text, so only its owner can read it, and it is never written unless
somebody was told so. What an earlier session wrote stays: examples are added.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import yaml

from sdrag.errors import PolicyError
from sdrag.policy import ConstraintSection, Policy
from sdrag.workbench.pinning import with_pins
from sdrag.workbench.refusals import RefusedError
from sdrag.workbench.requests import Pin

__all__ = ["examples_path", "save_examples"]

_ONLY_OWNER = 0o600
_HEAD = """\
# Examples that were pinned in `sdrag workbench`. They hold text of real documents:
# keep this file as you keep those. `sdrag check` runs it.
"""


def examples_path(policy_file: Path) -> Path:
    """Return where the examples of a policy are written."""
    return policy_file.with_name(f"{policy_file.stem}.examples.yaml")


def save_examples(path: Path, policy: Policy, pins: Sequence[Pin]) -> int:
    """
    Write a policy's constraints with their examples, and those that are pinned.

    Args:
        path: From `examples_path`. What it holds already is kept.
        policy: As it is in the editor.
        pins: Of its constraints.

    Returns:
        How many examples the file holds.

    Raises:
        RefusedError: It cannot be written, or something in it would be lost.
    """
    known = {rule.id for rule in policy.rules}
    if any(pin.constraint not in known for pin in pins):
        raise RefusedError(
            422, "An example belongs to no constraint. Remove it before you save."
        )
    merged = [_merged(rule, path) for rule in with_pins(policy, pins).constraints]
    _check_nothing_is_lost(path, known)
    said = policy.model_dump(mode="json", exclude_defaults=True)
    said["constraints"] = [
        rule.model_dump(mode="json", exclude_defaults=True) for rule in merged
    ]
    text = _HEAD + yaml.safe_dump(said, allow_unicode=True, sort_keys=False)
    _check_is_policy(text)
    _write(path, text)
    return sum(len(rule.examples) for rule in merged)


def _merged(rule: ConstraintSection, path: Path) -> ConstraintSection:
    """Return a constraint with what the file has of it, each example once."""
    earlier = [
        example
        for held in _held(path)
        if held.id == rule.id
        for example in held.examples
    ]
    return rule.model_copy(
        update={"examples": tuple(dict.fromkeys((*earlier, *rule.examples)))}
    )


def _held(path: Path) -> tuple[ConstraintSection, ...]:
    """Return the constraints of the file; none where it does not exist."""
    if path.is_symlink():
        raise RefusedError(409, f"{path.name} is a link. Move it away.")
    if not path.exists():
        return ()
    try:
        return Policy.read(path).constraints
    except PolicyError:
        raise RefusedError(
            409, f"{path.name} cannot be read as a policy. Move it away."
        ) from None


def _check_nothing_is_lost(path: Path, known: set[str]) -> None:
    lost = sum(len(rule.examples) for rule in _held(path) if rule.id not in known)
    if lost:
        raise RefusedError(
            409,
            f"{path.name} holds {lost} examples of constraints that the policy has no"
            " more. Move it away, or give the constraints their ids again.",
        )


def _check_is_policy(text: str) -> None:
    """Refuse to write what `sdrag check` could not read."""
    try:
        Policy.parse(text)
    except PolicyError:
        raise RefusedError(
            422, "The examples cannot be written as a policy. Save fewer of them."
        ) from None


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all; nobody else can read it at any time."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(partial, flags, _ONLY_OWNER), "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RefusedError(
            409, f"{path.name} cannot be written ({type(error).__name__})."
        ) from None
