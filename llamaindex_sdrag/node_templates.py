"""
The templates of nodes: what a host prints around texts and their metadata.

A template can hold words of its own, so it leaves as metadata does: constraints read
what it prints, and a template in which they find anything stays behind. The three of a
node stay together: the default ones take their place.

A template may name the fields that LlamaIndex fills, and ask for nothing else of them.
No field may stand inside a word: its parts would be read as two words, and be printed
as one where the field is empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter

from llama_index.core.schema import BaseNode, TextNode

__all__ = ["DEFAULT_TEMPLATES", "frame_of", "templates_of"]

_FIELDS: Mapping[str, frozenset[str]] = {
    "text_template": frozenset({"metadata_str", "content"}),
    "metadata_template": frozenset({"key", "value"}),
}
_SEPARATOR = "metadata_separator"
DEFAULT_TEMPLATES: Mapping[str, str] = {
    name: str(TextNode.model_fields[name].default) for name in (*_FIELDS, _SEPARATOR)
}
"""LlamaIndex's own, by the names of a node's fields."""
_MOST_CHARACTERS = 2_000
_BLANKS = (("", ""), (" ", "\t"))
"""What the fields hold when templates are read. Two blanks tell two orders apart."""
_WITHIN_A_WORD = re.compile(r"\w\{\w+\}(?:\{\w+\})*\w")


def templates_of(node: BaseNode) -> dict[str, str]:
    """Return the templates of a node by the names of its fields."""
    defaults = DEFAULT_TEMPLATES
    return {name: getattr(node, name, defaults[name]) for name in defaults}


def frame_of(node: BaseNode) -> str:
    """
    Return what is read of a node's templates before they may leave.

    Returns:
        What they print around fields that are empty, and around blank ones. Nothing for
        the default templates, and for those that may not leave whatever they say.
    """
    templates = templates_of(node)
    if templates == DEFAULT_TEMPLATES or not _may_leave(templates):
        return ""
    return "\n".join(_printed(templates, *blanks) for blanks in _BLANKS)


def _may_leave(templates: Mapping[str, str]) -> bool:
    if sum(map(len, templates.values())) > _MOST_CHARACTERS:
        return False
    return all(_is_plain(templates[name], known) for name, known in _FIELDS.items())


def _is_plain(template: str, known: frozenset[str]) -> bool:
    """Say whether a template only puts known fields between words."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError:  # a lone brace
        return False
    named = [part[1:] for part in parts if part[1] is not None]
    if any(name not in known or spec or kind for name, spec, kind in named):
        return False
    return _WITHIN_A_WORD.search(template) is None


def _printed(templates: Mapping[str, str], key: str, value: str) -> str:
    """Return what the templates print around two entries and a text."""
    entry = templates["metadata_template"].format(key=key, value=value)
    return templates["text_template"].format(
        metadata_str=templates[_SEPARATOR].join((entry, entry)), content=value
    )
