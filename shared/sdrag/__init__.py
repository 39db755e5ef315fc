"""
Disclosure control for retrieval-augmented generation.

The framework-neutral core. Use it through `langchain_sdrag` or `llamaindex_sdrag`;
import from here what a host configures: `Policy`, `Principal`, `acting_as`,
`stream_as`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdrag.errors import SdragError
    from sdrag.policy import Policy
    from sdrag.principals import acting_as, stream_as
    from sdrag.privacy.audit import AuditEvent
    from sdrag.vocabulary import Constraint, Passage, Principal

__all__ = [
    "AuditEvent",
    "Constraint",
    "Passage",
    "Policy",
    "Principal",
    "SdragError",
    "acting_as",
    "stream_as",
]

_HOMES = {
    "AuditEvent": "sdrag.privacy.audit",
    "Constraint": "sdrag.vocabulary",
    "Passage": "sdrag.vocabulary",
    "Policy": "sdrag.policy",
    "Principal": "sdrag.vocabulary",
    "SdragError": "sdrag.errors",
    "acting_as": "sdrag.principals",
    "stream_as": "sdrag.principals",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so `import sdrag` is light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sdrag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
