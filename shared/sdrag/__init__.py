"""
Disclosure control for retrieval-augmented generation.

The framework-neutral core. Use it through `langchain_sdrag` or `llamaindex_sdrag`.
Import from here what an application configures: the policy, principals, limits, the
state, the nouns, and the errors.
"""

from sdrag.configuration import warm_up
from sdrag.detectors import Detector
from sdrag.effects.limits import Limits
from sdrag.engine import Engine
from sdrag.errors import (
    ConstraintNotUnderstoodError,
    HostError,
    InputTooLargeError,
    InternalError,
    KeyRotatedError,
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
from sdrag.health import Health
from sdrag.options import Options
from sdrag.policy import Policy
from sdrag.principals import acting_as, current_principal, stream_as
from sdrag.privacy.audit import AuditEvent, AuditLog, log_event
from sdrag.privacy.log_privacy import RawTextFilter
from sdrag.privacy.open_telemetry import OpenTelemetrySink
from sdrag.state import State, open_state
from sdrag.vocabulary import Constraint, Decision, Passage, Principal, Span

__all__ = [
    "AuditEvent",
    "AuditLog",
    "Constraint",
    "ConstraintNotUnderstoodError",
    "Decision",
    "Detector",
    "Engine",
    "Explanation",
    "Health",
    "HostError",
    "InputTooLargeError",
    "InternalError",
    "KeyRotatedError",
    "Limits",
    "LocalLimitError",
    "MissingExtraError",
    "ModelError",
    "ModelReplyError",
    "ModelTimeoutError",
    "OpenTelemetrySink",
    "Options",
    "Passage",
    "Policy",
    "PolicyError",
    "Principal",
    "PromptSanitizationError",
    "RawTextFilter",
    "SdragError",
    "Span",
    "State",
    "UsageError",
    "WithheldError",
    "acting_as",
    "current_principal",
    "explain",
    "log_event",
    "open_state",
    "stream_as",
    "warm_up",
]
