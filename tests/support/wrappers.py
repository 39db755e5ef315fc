"""Wrappers, built of arguments and of what their options take."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sdrag import Options

NAMES = frozenset(field.name for field in fields(Options))


def build(wrapper: Any, *args: Any, **given: Any) -> Any:
    """Call a wrapper's class; `audit=`, `limits=` and the like go into its options."""
    options = Options(**{name: given.pop(name) for name in NAMES & given.keys()})
    return wrapper(*args, **given, options=options)
