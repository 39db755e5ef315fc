"""No text is sent to a model; `authorize=` is given what the tags admit."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from sdrag.sections import Count, GuardSection, MetadataKey


class AccessSection(GuardSection):
    """Who may see which passage, by keys of its metadata; a key of null is not used."""

    tenant_key: MetadataKey | None = "tenant"
    """Holds the tenant, or a list of tenants."""
    roles_key: MetadataKey | None = "roles"
    """Holds a role, or a list of roles, any of which opens the passage."""
    level_key: MetadataKey | None = "level"
    """Holds the clearance that is needed."""
    uses_key: MetadataKey | None = "allowed_uses"
    """Holds the uses that a licence allows; a principal's attribute `use` names its
    use."""
    required: tuple[Literal["tenant", "roles", "level"], ...] = ()
    """Tags without which nobody sees a passage; the store can filter by them."""
    listed: tuple[Literal["tenant", "roles"], ...] = ("roles",)
    """Tags that may hold a list in the store; not every store can filter by one."""
    without_principal: Literal["deny", "public"] = "deny"
    """`public` shows untagged passages to everybody."""
    budget: Count = 200
    """The most passages asked of the store until enough are allowed."""

    @model_validator(mode="after")
    def _required_have_keys(self) -> Self:
        if any(getattr(self, f"{name}_key") is None for name in self.required):
            raise ValueError("a required tag needs its key")
        return self
