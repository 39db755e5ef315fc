"""The policy: one YAML file that says what must not be disclosed, and to whom."""

from sdrag.policy.audiences import (
    applies,
    binds,
    metadata_of_any,
    nearest_attribute,
    nearest_role,
)
from sdrag.policy.constraint_sections import ConstraintSection, ExampleSection
from sdrag.policy.document import (
    Policy,
    PolicySource,
    check_not_empty,
    policy_schema,
)
from sdrag.policy.guards import GUARDS
from sdrag.policy.reading import MAX_POLICY_BYTES
from sdrag.policy.sections import (
    DisclosureSection,
    HighlightSection,
    LinkageSection,
    MetadataSection,
    ResolutionSection,
)
from sdrag.sections import Section

__all__ = [
    "GUARDS",
    "MAX_POLICY_BYTES",
    "ConstraintSection",
    "DisclosureSection",
    "ExampleSection",
    "HighlightSection",
    "LinkageSection",
    "MetadataSection",
    "Policy",
    "PolicySource",
    "ResolutionSection",
    "Section",
    "applies",
    "binds",
    "check_not_empty",
    "metadata_of_any",
    "nearest_attribute",
    "nearest_role",
    "policy_schema",
]
