"""
The reference of the public classes and functions.

The pages name each object. When the site is built, mkdocstrings fills in the docstring
and the signature.
"""

from __future__ import annotations

from importlib import import_module

__all__ = ["PACKAGES", "api_page"]

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


def api_page(package: str) -> str:
    """Return the page of one package, such as `docs/reference/api/sdrag.md`."""
    title, purpose = PACKAGES[package]
    module = import_module(package)
    lines = [f"# API: {title}", "", purpose, ""]
    lines += [f"Import everything on this page from `{package}`.", ""]
    for name in module.__all__:
        home = getattr(module, name).__module__
        lines += [f"::: {home}.{name}", "    options:", f"      heading: {name}"]
        lines += [f"      toc_label: {name}", ""]
    return "\n".join(lines).rstrip() + "\n"
