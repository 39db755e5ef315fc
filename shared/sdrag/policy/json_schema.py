"""
The JSON schema of a policy file, for editors and for the reference.

pydantic makes it of the sections; what each key means is taken from the `Args` of its
section, so that an editor shows the same words as the documentation.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args

from sdrag.policy.constraints import ConstraintSection
from sdrag.policy.document import Policy
from sdrag.policy.sections import Section

__all__ = ["described_keys", "policy_schema", "sections"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KEY = re.compile(r"^    (\w+): (.*)$")


def policy_schema() -> dict[str, Any]:
    """
    Return the JSON schema (draft 2020-12) of a policy file, as plain data.

    It accepts what `Policy.read` accepts in form. What only reading can tell, such as
    two constraints of one id, it does not know.
    """
    schema = Policy.model_json_schema()
    _describe(schema, Policy)
    bare = {"type": "string", "minLength": 1}
    item = {"anyOf": [bare, {"$ref": f"#/$defs/{ConstraintSection.__name__}"}]}
    schema["properties"]["constraints"]["items"] = item
    schema |= {"type": ["object", "array"], "items": item}  # a list: the constraints
    for section in sections():
        _describe(schema["$defs"][section.__name__], section)
    return {"$schema": _DIALECT, **schema, "title": "sdrag policy"}


def sections() -> tuple[type[Section], ...]:
    """Return the class of every section below the policy, each once."""
    found: dict[type[Section], None] = {}
    waiting: list[type[Section]] = [Policy]
    while waiting:
        for field in waiting.pop(0).model_fields.values():
            for section in _sections_in(field.annotation):
                if section not in found:
                    found[section] = None
                    waiting.append(section)
    return tuple(found)


def described_keys(section: type[Section]) -> dict[str, str]:
    """Return what each key of a section means, from the `Args` of its docstring."""
    _, _, listed = inspect.cleandoc(section.__doc__ or "").partition("\nArgs:\n")
    described: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if key := _KEY.match(line):
            name = key[1]
            described[name] = key[2]
        elif name:
            described[name] += f" {line.strip()}"
    return {name: said.strip() for name, said in described.items()}


def _describe(schema: dict[str, Any], section: type[Section]) -> None:
    """Give each key what it means, and the section its first sentence alone."""
    head = inspect.cleandoc(section.__doc__ or "").partition("\n\n")[0]
    schema["description"] = " ".join(head.split())
    meanings = described_keys(section)
    for key, value in schema["properties"].items():
        value.pop("title", None)
        if key in meanings:
            value["description"] = meanings[key]


def _sections_in(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections_in(inner)
