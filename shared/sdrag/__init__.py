"""
Disclosure control for retrieval-augmented generation.

The framework-neutral core. Use it through `langchain_sdrag` or `llamaindex_sdrag`.
Import from here what a host configures and handles: the policy, who asks, limits, the
state, the nouns, and the errors.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdrag.detectors import Detector
    from sdrag.effects.runner import Limits
    from sdrag.errors import (
        ConstraintNotUnderstoodError,
        HostError,
        InputTooLargeError,
        InternalError,
        LocalLimitError,
        MissingExtraError,
        ModelError,
        ModelReplyError,
        ModelTimeoutError,
        PolicyError,
        PromptSanitizationError,
        SdragError,
        UsageError,
        WithheldError,
    )
    from sdrag.explanation import Explanation, explain
    from sdrag.guardrails.contradictions import on_contradiction
    from sdrag.policy import Policy
    from sdrag.principals import acting_as, current_principal, stream_as
    from sdrag.privacy.audit import AuditEvent, log_event
    from sdrag.privacy.audit_log import AuditLog
    from sdrag.privacy.open_telemetry import OpenTelemetrySink
    from sdrag.state import State, open_state
    from sdrag.vocabulary import Constraint, Decision, Passage, Principal, Span
    from sdrag.warming import warm_up

__all__ = [
    "AuditEvent",
    "AuditLog",
    "Constraint",
    "ConstraintNotUnderstoodError",
    "Decision",
    "Detector",
    "Explanation",
    "HostError",
    "InputTooLargeError",
    "InternalError",
    "Limits",
    "LocalLimitError",
    "MissingExtraError",
    "ModelError",
    "ModelReplyError",
    "ModelTimeoutError",
    "OpenTelemetrySink",
    "Passage",
    "Policy",
    "PolicyError",
    "Principal",
    "PromptSanitizationError",
    "SdragError",
    "Span",
    "State",
    "UsageError",
    "WithheldError",
    "acting_as",
    "current_principal",
    "explain",
    "log_event",
    "on_contradiction",
    "open_state",
    "stream_as",
    "warm_up",
]

_MODULES = {
    "AuditEvent": "sdrag.privacy.audit",
    "AuditLog": "sdrag.privacy.audit_log",
    "Constraint": "sdrag.vocabulary",
    "Decision": "sdrag.vocabulary",
    "Detector": "sdrag.detectors",
    "Explanation": "sdrag.explanation",
    "Limits": "sdrag.effects.runner",
    "OpenTelemetrySink": "sdrag.privacy.open_telemetry",
    "Passage": "sdrag.vocabulary",
    "Policy": "sdrag.policy",
    "Principal": "sdrag.vocabulary",
    "Span": "sdrag.vocabulary",
    "State": "sdrag.state",
    "acting_as": "sdrag.principals",
    "current_principal": "sdrag.principals",
    "explain": "sdrag.explanation",
    "log_event": "sdrag.privacy.audit",
    "on_contradiction": "sdrag.guardrails.contradictions",
    "open_state": "sdrag.state",
    "stream_as": "sdrag.principals",
    "warm_up": "sdrag.warming",
}
"""The module of each public name; the other public names are errors."""

if not TYPE_CHECKING:  # so that a type checker knows no name but those above

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: `import sdrag` is light."""
        if name not in __all__:
            raise AttributeError(f"module 'sdrag' has no attribute {name!r}")
        value = getattr(import_module(_MODULES.get(name, "sdrag.errors")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
