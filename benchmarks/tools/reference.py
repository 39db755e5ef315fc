"""
Writes every page of the documentation that is made from the code.

    python benchmarks/tools/reference.py            # writes them
    python benchmarks/tools/reference.py --check    # fails where one is out of date

The meaning of a key of the policy is the docstring of its field. Each key stands in
`docs/reference/every-key.yaml` too. The page of the API names each object; mkdocstrings
fills in its docstring and signature.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
import yaml
from pydantic.fields import FieldInfo

from sdrag.policy import GUARDS, Policy, Section, policy_schema
from sdrag.policy.reading import sections_in
from sdrag.privacy.reasons import GROUPS, WARNED
from sdrag.studio.cli.app import app

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


_NOTHING = "Nothing."
"""What to do about a code that says that all is well."""


def reasons_page() -> str:
    """Return the page `docs/reference/reasons.md`."""
    lines = [
        "# Reason codes",
        "",
        "Every decision carries a code and no text. The arrow says what to do about",
        "it, or about the codes above it; without one, do nothing. The logger `sdrag`",
        "warns once of a code in bold. A code of the injection scan may name first",
        "where the instruction was hidden, as in `metadata:base64:override`.",
    ]
    for title, reasons in GROUPS.items():
        lines += ["", f"## {title}"]
        by_mend: dict[str, list[str]] = {}
        for code, reason in reasons.items():
            name = f"**`{code}`**" if code in WARNED else f"`{code}`"
            by_mend.setdefault(reason.mend, []).append(f"- {name}: {reason.happened}")
        for mend, codes in by_mend.items():
            if mend != _NOTHING:
                codes[-1] += f" → {mend}" if len(codes) == 1 else f"\n\n    → {mend}"
            lines += ["", *codes]
    return "\n".join(lines) + "\n"


def guards_page(page: str) -> str:
    """Return the page with the table of guards between its two marks."""
    begin, end = "<!-- guards: begin -->\n", "<!-- guards: end -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    head = "| section | stage | what it does | judge | sends text to a model |"
    lines = [head, "|---|---|---|---|---|"]
    lines += [
        f"| `{guard.section}` | {guard.stage} | {guard.does} |"
        f" {f'`{guard.judge}`' if guard.judge else ''} | {guard.sends or 'No.'} |"
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
            lines += [f"::: {getattr(module, name).__module__}.{name}", ""]
    return "\n".join(lines).rstrip() + "\n"


_EXAMPLE = re.compile(r"^Example: (.+)$", re.MULTILINE)
_SHARED = 3
"""An option that so many commands have in the same words is described once."""

_COMMANDS_HEAD = """\
# Commands

The command `sdrag` comes with the extra `cli`. It ends with 0 when all is well, with 1
when it found something wrong, and with 2 for a wrong call or file.
"""


def command_page() -> str:
    """Return the page `docs/reference/commands.md`."""
    commands = list(_commands_below("sdrag", typer.main.get_command(app)))
    rows = {name: list(_rows(name, command)) for name, command in commands}
    counts = Counter(row for each in rows.values() for row in each)
    shared = [row for row, count in counts.items() if count >= _SHARED]
    parts = [_COMMANDS_HEAD, "## Options of several commands\n", *shared]
    for name, command in commands:
        # The example of a docstring is set as code.
        help_text = _EXAMPLE.sub(r"```\n\1\n```", inspect.cleandoc(command.help))
        parts += [f"\n## `{name}`\n", help_text, ""]
        parts += [row for row in rows[name] if row not in shared]
    return "\n".join(parts).rstrip() + "\n"


def _commands_below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, below in sorted(getattr(command, "commands", {}).items()):
        yield from _commands_below(f"{name} {inner}", below)


def _rows(name: str, command: Any) -> Iterator[str]:
    """Yield a line for each argument and option."""
    context = typer.Context(command, info_name=name)
    for item in command.params:
        if not item.hidden and not item.name.endswith("_completion"):
            written, meaning = item.get_help_record(context)
            yield f"- `{written}`: {' '.join(meaning.split())}"


_POLICY_HEAD = """\
# Policy reference

Every key of the policy file, with its type and default; an unknown key is an error.
[every-key.yaml](every-key.yaml) sets each once. [Write a policy](../policy.md) explains
them.
"""


def policy_page() -> str:
    """Return the page `docs/reference/policy.md`."""
    schema = policy_schema()
    Policy.read(EXAMPLES)
    examples = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    sections = _sections("", Policy, schema, schema, examples, {})
    return "\n\n".join([_POLICY_HEAD.rstrip(), *sections]) + "\n"


def _sections(
    path: str,
    section: type[Section],
    node: Mapping[str, Any],
    schema: Mapping[str, Any],
    examples: Mapping[str, Any],
    described: dict[type[Section], str],
) -> Iterator[str]:
    """Yield the text of one section, and then of those below it."""
    if missing := section.model_fields.keys() - examples.keys():
        sys.exit(f"{EXAMPLES} does not set {sorted(missing)} of `{path}`.")
    described[section] = path
    keys: list[str] = []
    below: list[tuple[str, type[Section], str]] = []
    inherited_last = sorted(
        section.model_fields.items(),
        key=lambda item: item[0] not in vars(section)["__annotations__"],
    )
    for name, field in inherited_last:
        nested = next(sections_in(field.annotation), None)
        if nested:
            below.append((f"{path}.{name}".lstrip("."), nested, _meaning(field)))
        else:
            kind = " or ".join(_kinds(node["properties"][name]))
            keys.append(_key(name, field, kind))
    yield "\n\n".join([*_section_head(path, node), "\n".join(keys)])
    for inner, nested, purpose in below:
        if nested in described:
            yield f"## `{inner}`\n\n{purpose} With the keys of `{described[nested]}`."
        else:
            definition = dict(schema["$defs"][nested.__name__])
            if path:  # the field says what the section is for, the class what it takes
                definition["description"] = f"{purpose} {definition['description']}"
            value = examples[inner.rpartition(".")[2]]
            merged = ChainMap(*value) if isinstance(value, list) else value
            yield from _sections(inner, nested, definition, schema, merged, described)


def _section_head(path: str, node: Mapping[str, Any]) -> list[str]:
    if not path:
        return ["## Top level"]
    field = Policy.model_fields.get(path)
    optional = field is not None and field.default is None
    purpose = str(node.get("description", ""))
    return [f"## `{path}`", f"{purpose} Off by default." if optional else purpose]


def _key(name: str, field: FieldInfo, kind: str) -> str:
    default = _default(field)
    given = {None: "required", "null": "optional"}.get(default, f"`{default}`")
    kind = kind.replace(" or `null`", "")
    return f"- **`{name}`** ({kind}; {given}): {_meaning(field)}"


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


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


_MOST_LISTED = 8
"""Of more values, what a key means says which there are."""


def _kinds(node: Mapping[str, Any]) -> Iterator[str]:
    """Say what a value may be, in words."""
    if "anyOf" in node:
        kinds = list(
            dict.fromkeys(kind for part in node["anyOf"] for kind in _kinds(part))
        )
        yield from _with_any_value(kinds)
    elif "enum" in node:
        values = [f"`{_as_yaml(value)}`" for value in node["enum"]]
        yield _listed(values) if len(values) <= _MOST_LISTED else "name"
    elif "const" in node:
        yield f"`{_as_yaml(node['const'])}`"
    elif node["type"] == "array":
        items = " or ".join(_kinds(node["items"]))
        yield (
            "list"
            if items == "text"
            else f"list of {items}{'' if items[-1] == '`' else 's'}"
        )
    elif node["type"] == "object":
        yield "mapping"
    elif node["type"] in {"integer", "number"}:
        yield f"{node['type']}{_bounds(node)}".removeprefix("number ")
    else:
        yield _PLAIN.get(node["type"], node["type"])


_PLAIN = {"string": "text", "null": "`null`"}


def _with_any_value(kinds: list[str]) -> list[str]:
    """Say `value` for texts, numbers and booleans together."""
    plain = {"text", "integer", "number", "boolean"}
    if plain <= set(kinds):
        kinds = ["value", *(kind for kind in kinds if kind not in plain)]
    return sorted(kinds, key=lambda kind: kind.startswith("list"))


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _bounds(node: Mapping[str, Any]) -> str:
    least, most = node.get("minimum"), node.get("maximum")
    if least is not None and most is not None:
        return f" {least:g} to {most:g}"
    if least is not None:
        return f" ≥ {least:g}"
    if "exclusiveMinimum" in node:
        return f" > {node['exclusiveMinimum']:g}"
    return ""


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
