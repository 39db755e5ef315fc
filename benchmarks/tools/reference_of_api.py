"""
The reference of the public classes and functions.

The pages name each object. When the site is built, mkdocstrings fills in the docstring
and the signature.
"""

from __future__ import annotations

from importlib import import_module

__all__ = ["PACKAGES", "SHARED", "api_page"]

SHARED = "sdrag.wrapper_setup.Arguments"
"""What every wrapper of both frameworks takes; it is on the page of the core."""

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
    homes = [f"{getattr(module, name).__module__}.{name}" for name in module.__all__]
    for home in [*homes, SHARED] if package == "sdrag" else homes:
        name = home.rpartition(".")[2]
        lines += [f"::: {home}", "    options:", f"      heading: {name}"]
        lines += [f"      toc_label: {name}", ""]
    return "\n".join(lines).rstrip() + "\n"
