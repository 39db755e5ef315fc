"""
The reference of the policy file, made from the models that read it.

What each key means is the docstring of its field. Its example is taken from
`docs/reference/every-key.yaml`, which is a policy that `Policy.read` accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic.fields import FieldInfo

from sdrag.policy import Policy, Section, policy_schema
from sdrag.policy.reading import sections_in

__all__ = ["EXAMPLES", "Key", "keys", "policy_page"]

EXAMPLES = Path(__file__).parents[2] / "docs" / "reference" / "every-key.yaml"
_HEAD = """\
# Policy reference

Every key of a policy file. A policy is one YAML file, and every key has a default.
A key that is not in this list is an error. New to policies? Read
[Write a policy](../policy/index.md) first.

[every-key.yaml](every-key.yaml) is one file that sets every key. The examples on this
page are taken from it. `python benchmarks/tools/reference.py` makes this page from the
code.
"""
_OFF = "A policy without this section does not run this check."
_ONE_OF_MANY = {"constraints", "constraints.examples"}
"""Lists of sections; the reference shows the keys of one item."""


class Key(NamedTuple):
    """
    One key of the policy file.

    Args:
        path: Where it is, such as `disclosure.top_k`.
        kind: What it takes, in words.
        default: Its default as YAML; `None` where the key is required.
        meaning: What it says, from the docstring of its field.
        example: As it is written in `EXAMPLES`.
    """

    path: str
    kind: str
    default: str | None
    meaning: str
    example: Any


def keys() -> Iterator[tuple[str, str, list[Key]]]:
    """Yield each section: its path, what it is for, and its keys."""
    schema = policy_schema()
    written = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    yield from _section("", Policy, schema, schema, written)


def policy_page() -> str:
    """Return the page `docs/reference/policy.md`."""
    lines = [_HEAD]
    for path, purpose, found in keys():
        lines.append(_section_text(path, purpose))
        lines += [_key_text(key) for key in found]
    return "\n".join(lines).rstrip() + "\n"


def _section(
    path: str,
    section: type[Section],
    node: Mapping[str, Any],
    schema: Mapping[str, Any],
    written: Mapping[str, Any],
) -> Iterator[tuple[str, str, list[Key]]]:
    """Yield one section, and then those below it."""
    found, below = [], []
    inherited_last = sorted(
        section.model_fields.items(),
        key=lambda item: item[0] not in vars(section)["__annotations__"],
    )
    for name, field in inherited_last:
        inner = f"{path}.{name}".lstrip(".")
        value = node["properties"][name]
        nested = next(sections_in(field.annotation), None)
        if nested:
            example = written[name][0] if inner in _ONE_OF_MANY else written[name]
            below.append((inner, nested, example))
        else:
            kind = " or ".join(_kinds(value))
            default = _default(field)
            meaning = " ".join((field.description or "").split())
            found.append(Key(inner, kind, default, meaning, written[name]))
    yield path, str(node.get("description", "")), found
    for inner, nested, example in below:
        definition = schema["$defs"][nested.__name__]
        yield from _section(inner, nested, definition, schema, example)


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    value = field.get_default(call_default_factory=True)
    return _as_yaml(dict(value) if isinstance(value, Mapping) else value)


def _as_yaml(value: Any) -> str:
    """Write a value on one line, as it is written behind a key."""
    plain = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(
        plain, default_flow_style=True, width=1_000, allow_unicode=True, sort_keys=False
    )
    return text.strip().removesuffix("...").strip()


def _kinds(node: Mapping[str, Any]) -> Iterator[str]:
    """Say what a value may be, in words."""
    if "anyOf" in node:
        kinds = list(
            dict.fromkeys(kind for one in node["anyOf"] for kind in _kinds(one))
        )
        yield from _with_any_value(kinds)
    elif "enum" in node:
        yield _listed([f"`{_as_yaml(value)}`" for value in node["enum"]])
    elif "const" in node:
        yield f"`{_as_yaml(node['const'])}`"
    elif node["type"] == "array":
        items = " or ".join(_kinds(node["items"]))
        yield f"list of {_PLURAL.get(items, items.replace('mapping', 'mappings'))}"
    elif node["type"] == "object":
        values = " or ".join(_kinds(node["additionalProperties"]))
        yield f"mapping of names to {values}"
    elif node["type"] in _NUMBERS:
        yield _NUMBERS[node["type"]] + _bounds(node)
    else:
        yield _PLAIN[node["type"]]


_NUMBERS = {"integer": "whole number", "number": "number"}
_PLURAL = {"text": "texts", "value": "values"}
_PLAIN = {"string": "text", "boolean": "`true` or `false`", "null": "`null`"}


def _with_any_value(kinds: list[str]) -> list[str]:
    """Say `value` for texts, numbers and booleans together."""
    plain = {"text", "whole number", "number", "`true` or `false`"}
    if plain <= set(kinds):
        kinds = ["value", *(kind for kind in kinds if kind not in plain)]
    return sorted(kinds, key=lambda kind: kind.startswith("list of"))


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _bounds(node: Mapping[str, Any]) -> str:
    least, most = node.get("minimum"), node.get("maximum")
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    if least is not None:
        return f", at least {least:g}"
    if "exclusiveMinimum" in node:
        return f" above {node['exclusiveMinimum']:g}"
    return ""


def _section_text(path: str, purpose: str) -> str:
    if not path:
        return "\n## Top level\n\nThese keys are in no section.\n"
    lines = ["", f"## `{path}`", "", purpose]
    field = Policy.model_fields.get(path)
    if field is not None and field.default is None:
        lines += ["", _OFF]
    return "\n".join([*lines, ""])


def _key_text(key: Key) -> str:
    name = key.path.rpartition(".")[2]
    default = "none, the key is required" if key.default is None else f"`{key.default}`"
    return (
        f"### `{key.path}`\n\n{key.meaning}\n\n"
        f"- Type: {key.kind}\n"
        f"- Default: {default}\n"
        f"- Example: `{name}: {_as_yaml(key.example)}`\n"
    )
