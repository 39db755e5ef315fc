"""The policy: one YAML file that says what must not be disclosed, and to whom."""

from sdrag.policy.answer_sections import (
    CitationsSection,
    ContradictionsSection,
    GroundingSection,
    MonitoringSection,
)
from sdrag.policy.audiences import applies, binds, metadata_of_any
from sdrag.policy.constraints import ConstraintSection, ExampleSection
from sdrag.policy.document import Policy, PolicySource
from sdrag.policy.file import PolicyFile
from sdrag.policy.reloading import ReloadingPolicy
from sdrag.policy.sections import (
    AccessSection,
    ByRisk,
    CautionName,
    DisclosureSection,
    HighlightSection,
    InjectionSection,
    LinkageSection,
    MetadataSection,
    RelevanceSection,
    ResolutionSection,
    Section,
    StalenessSection,
    TracingSection,
)
from sdrag.policy.yaml_reading import MAX_POLICY_BYTES

__all__ = [
    "MAX_POLICY_BYTES",
    "AccessSection",
    "ByRisk",
    "CautionName",
    "CitationsSection",
    "ConstraintSection",
    "ContradictionsSection",
    "DisclosureSection",
    "ExampleSection",
    "GroundingSection",
    "HighlightSection",
    "InjectionSection",
    "LinkageSection",
    "MetadataSection",
    "MonitoringSection",
    "Policy",
    "PolicyFile",
    "PolicySource",
    "RelevanceSection",
    "ReloadingPolicy",
    "ResolutionSection",
    "Section",
    "StalenessSection",
    "TracingSection",
    "applies",
    "binds",
    "metadata_of_any",
]
