"""
Writes every page of the documentation that is made from the code.

    python benchmarks/tools/reference.py            # writes them
    python benchmarks/tools/reference.py --check    # fails where one is out of date

The reference of the policy takes the meaning of a key from the docstring of its field,
and its example from `docs/reference/every-key.yaml`, which is a policy that
`Policy.read` accepts. The pages of the API name each object; mkdocstrings fills in its
docstring and signature.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
import yaml
from pydantic.fields import FieldInfo

from sdrag.cli.app import app
from sdrag.policy import GUARDS, Policy, Section, policy_schema
from sdrag.policy.reading import sections_in
from sdrag.privacy.reasons import GROUPS, WARNED

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "reference" / "every-key.yaml"
PACKAGES = {
    "sdrag": (
        "The core",
        "What both frameworks share: policy, principals, limits, state, audit, errors.",
    ),
    "langchain_sdrag": (
        "LangChain",
        "The wrappers for LangChain. Install them with the extra `langchain`.",
    ),
    "llamaindex_sdrag": (
        "LlamaIndex",
        "The wrappers for LlamaIndex. Install them with the extra `llamaindex`.",
    ),
}


def pages() -> dict[Path, str]:
    """Return the text of each page that is made, by its path."""
    reference, guards = DOCS / "reference", DOCS / "guides" / "guardrails.md"
    return {
        reference / "reasons.md": reasons_page(),
        guards: guards_page(guards.read_text("utf-8")),
        reference / "policy.md": policy_page(),
        reference / "commands.md": command_page(),
        reference / "api.md": api_page(),
    }


def reasons_page() -> str:
    """Return the page `docs/reference/reasons.md`."""
    lines = [
        "# Reasons",
        "",
        "Every decision carries a short code and no text. This page is made from",
        "`sdrag.privacy.reasons`: what each code says, and what to do about it. A code",
        "of the injection scan may have before it where the order was hidden, as in",
        "`metadata:base64:override`. Wrappers warn of the codes in bold, once each, on",
        "the logger `sdrag`.",
    ]
    for title, reasons in GROUPS.items():
        lines += ["", f"## {title}", "", "| code | what happened | what to do |"]
        lines += ["|---|---|---|"]
        for code, reason in reasons.items():
            name = f"**`{code}`**" if code in WARNED else f"`{code}`"
            lines.append(f"| {name} | {reason.happened} | {reason.mend} |")
    return "\n".join(lines) + "\n"


def guards_page(page: str) -> str:
    """Return the page with the table of guards between its two marks."""
    begin, end = "<!-- guards: begin -->\n", "<!-- guards: end -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    lines = ["| section | stage | what it does | judge |", "|---|---|---|---|"]
    lines += [
        f"| `{guard.section}` | {guard.stage} | {guard.does} |"
        f" {f'`{guard.judge}`' if guard.judge else ''} |"
        for guard in GUARDS
    ]
    return f"{before}{begin}{chr(10).join(lines)}\n{end}{after}"


def api_page() -> str:
    """Return the page `docs/reference/api.md`."""
    lines = ["# API", "", "Every public name, by the package to import it from.", ""]
    for package, (title, purpose) in PACKAGES.items():
        module = import_module(package)
        lines += [f"## {title}", "", f"`{package}`. {purpose}", ""]
        for name in module.__all__:
            home = f"{getattr(module, name).__module__}.{name}"
            lines += [f"::: {home}", "    options:", f"      heading: {name}"]
            lines += [f"      toc_label: {name}", ""]
    return "\n".join(lines).rstrip() + "\n"


_EXAMPLE = re.compile(r"^Example: (.+)$", re.MULTILINE)

_COMMANDS_HEAD = """\
# Command reference

Every command, argument and option. The command `sdrag` comes with the extra `cli`.
`python benchmarks/tools/reference.py` makes this page from the code.

A command ends with 0 when all is well, with 1 when it found something wrong, and with 2
for a wrong call or file. `--help` after any command shows the same as this page.
"""


def command_page() -> str:
    """Return the page `docs/reference/commands.md`."""
    commands = _below("sdrag", typer.main.get_command(app))
    return "\n".join(
        [_COMMANDS_HEAD, *(_text(name, command) for name, command in commands)]
    )


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, below in sorted(getattr(command, "commands", {}).items()):
        yield from _below(f"{name} {inner}", below)


def _text(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    # The examples of a docstring are set as code.
    help_text = _EXAMPLE.sub(
        r"For example:\n\n```\n\1\n```", inspect.cleandoc(command.help)
    )
    lines = [f"## `{name}`", "", help_text, ""]
    lines += ["```text", " ".join(usage.split()), "```", ""]
    for title, flags in (("argument", False), ("option", True)):
        rows = [
            _row(item, context)
            for item in command.params
            if item.opts[0].startswith("-") is flags and not item.hidden
        ]
        if rows:
            lines += [f"| {title} | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _row(item: Any, context: Any) -> str:
    written, meaning = item.get_help_record(context)
    shown = written.replace("|", "\\|")
    return f"| `{shown}` | {' '.join(meaning.split()).replace('|', chr(92) + '|')} |"


_POLICY_HEAD = """\
# Policy reference

Every key of a policy file. A policy is one YAML file, and every key has a default.
A key that is not in this list is an error. New to policies? Read
[Write a policy](../policy.md) first.

[every-key.yaml](every-key.yaml) is one file that sets every key. The examples on this
page are taken from it. `python benchmarks/tools/reference.py` makes this page from the
code.
"""
_OFF = "A policy without this section does not run this check."


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


def policy_page() -> str:
    """Return the page `docs/reference/policy.md`."""
    lines = [_POLICY_HEAD]
    schema = policy_schema()
    examples = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    for path, purpose, keys in _section("", Policy, schema, schema, examples):
        lines.append(_section_text(path, purpose))
        lines += [_key_text(key) for key in keys]
    return "\n".join(lines).rstrip() + "\n"


def _section(
    path: str,
    section: type[Section],
    node: Mapping[str, Any],
    schema: Mapping[str, Any],
    written: Mapping[str, Any],
) -> Iterator[tuple[str, str, list[Key]]]:
    """Yield one section, and then those below it."""
    keys, below = [], []
    inherited_last = sorted(
        section.model_fields.items(),
        key=lambda item: item[0] not in vars(section)["__annotations__"],
    )
    for name, field in inherited_last:
        inner = f"{path}.{name}".lstrip(".")
        value = node["properties"][name]
        nested = next(sections_in(field.annotation), None)
        if nested:
            value = written[name]
            items = value if isinstance(value, list) else [value]
            below.append((inner, nested, dict(ChainMap(*items))))
        else:
            kind = " or ".join(_kinds(value))
            default = _default(field)
            meaning = " ".join((field.description or "").split())
            keys.append(Key(inner, kind, default, meaning, written[name]))
    yield path, str(node.get("description", "")), keys
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
            dict.fromkeys(kind for part in node["anyOf"] for kind in _kinds(part))
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


def main() -> None:
    """Write the pages, or with `--check` name those that are out of date."""
    stale = [
        path
        for path, text in pages().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in sys.argv:
        sys.exit("\n".join(f"{path} is out of date." for path in stale) or None)
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages()[path], encoding="utf-8")


if __name__ == "__main__":
    main()
