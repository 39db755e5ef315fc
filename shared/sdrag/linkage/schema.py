"""
The entity schema of the insurance domain (CLAM, Table 4.1), and what replaces it.

A type has a weight, which says how severe its leak is, and a role, which says how its
values are compared: as names, numbers, dates, descriptions. A domain brings its own
types in the policy, `linkage.weights` and `linkage.roles`. Detectors have names of
their own for the same things, so a few synonyms are read as the table's types. Where a
policy has not the type but exactly one of the same role, it is read as that one.

A type that nobody has weighed counts `linkage.default_weight`; where the policy says
null there, it is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import EffectRunner, Embed
from sdrag.embeddings import embed_texts
from sdrag.errors import UsageError
from sdrag.policy import LinkageSection, Policy, PolicySource
from sdrag.policy.sections import ROLES, SYNONYMS, WEIGHTS, Role

DIRECT = frozenset({"NAME", "PATIENT_ID", "ADDRESS", "PHONE_NUMBER", "EMAIL"})
"""The direct identifiers of Table 4.1."""
_DIRECT_ROLES: frozenset[Role] = frozenset({"name", "number", "phone", "exact"})
_INSURANCE = "health insurance: patients and claimants"
_UNSAID = "not said; it is about people"

SettingsSource = LinkageSection | PolicySource | None


@dataclass(frozen=True, slots=True)
class Schema:
    """The types in force."""

    settings: LinkageSection = field(default_factory=LinkageSection)

    @property
    def weights(self) -> Mapping[str, float]:
        """By type, from 0 to 1."""
        given = self.settings.weights
        return WEIGHTS if given is None else given

    @property
    def domain(self) -> str:
        """What the documents are about, for a model."""
        table = _INSURANCE if self.settings.weights is None else _UNSAID
        return self.settings.domain or table

    def is_direct(self, name: str) -> bool:
        """Say whether a type identifies by itself: of another domain, by its role."""
        return name in DIRECT or (
            name not in WEIGHTS and self.role(name) in _DIRECT_ROLES
        )

    def role(self, name: str) -> Role:
        """Return how values of a type are compared."""
        return (self.settings.roles or {}).get(name) or ROLES.get(name, "description")

    def pool(self, name: str) -> str:
        """Return the name of the pool of types with which a type's forms are joined."""
        role = self.role(name)
        # What no plan may mask is joined with no other type.
        if role == "term" or name in self.settings.unmaskable:
            return name
        return "place" if role == "organisation" else role

    def weight(self, name: str) -> float:
        """
        Return a type's weight, from 0 to 1.

        Raises:
            UsageError: It has none, and the policy has no weight for such types.
        """
        if name in self.weights:
            return self.weights[name]
        if self.settings.default_weight is not None:
            return self.settings.default_weight
        # A model may call anything a type: only names that are known may be shown.
        known = name in ROLES or name in SYNONYMS
        raise UsageError(
            f"A type that was found has no weight{f': {name}' if known else ''}.",
            hint="Give it one in `linkage.weights`, or set `linkage.default_weight`.",
        )

    def canonical(self, name: str) -> str:
        """Return the schema's name for a type; the given one in capitals, if none."""
        upper = name.strip().upper()
        synonym = SYNONYMS.get(upper, upper)
        for known in (upper, synonym):
            if known in self.weights:
                return known
        role = ROLES.get(synonym)
        alike = [other for other in self.weights if role and self.role(other) == role]
        return alike[0] if len(alike) == 1 else upper


def read_settings(source: SettingsSource) -> LinkageSection:
    """
    Return the linkage section of a policy, a mapping or a path; defaults for nothing.

    A mapping is a policy where it has a key of one, else the section itself.
    """
    if source is None:
        return LinkageSection()
    if isinstance(source, LinkageSection):
        return source
    if isinstance(source, Mapping) and not set(source) & set(Policy.model_fields):
        return Policy.read({"linkage": dict(source)}).linkage
    return Policy.read(source).linkage


def local_runner() -> EffectRunner:
    """Return a runner that embeds with the packaged MiniLM and works locally."""
    port: Port[Embed, Sequence[Sequence[float]]] = Port(
        lambda effect: list(embed_texts(effect.items)), local=True
    )
    return PortRunner(Ports(embed=port))
