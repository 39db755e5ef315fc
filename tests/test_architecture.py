"""What keeps the two packages one: the same names, files, arguments and exports."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN_TERMS = {
    "SelectiveDisclosureCompressor": "SelectiveDisclosurePostprocessor",
    "SelectiveDisclosureMiddleware": "guard_tool",
}
LLAMAINDEX_ALONE = {"SourceSeparator"}
"""LangChain's chains join documents themselves, by `separated_sources`, and its
middleware sees the thread itself."""
OWN_ARGUMENTS = {
    "AnswerGuard": {"return_report", "synthesizer"},
    "FilteredRetriever": {"translator", "factory"},
    "Restore": {"synthesizer"},
    "HighlightAndSummarize": {"return_sources", "streaming"},
    "SelectiveDisclosureMiddleware": {"name", "tools", "tool"},
    "separated_prompt": {"purpose"},
    "separated_sources": {"documents", "nodes"},
}
"""Arguments that one framework needs and the other has no use for."""


@pytest.fixture(scope="module")
def packages():
    pytest.importorskip("langchain_core")
    pytest.importorskip("llama_index")
    return (
        importlib.import_module("langchain_sdrag"),
        importlib.import_module("llamaindex_sdrag"),
    )


def _twin(name):
    return OWN_TERMS.get(name, name)


def test_both_packages_export_the_same_names(packages):
    """Only two hooks keep their framework's own term."""
    langchain, llamaindex = packages

    own = set(map(_twin, langchain.__all__)) | LLAMAINDEX_ALONE
    assert own == set(llamaindex.__all__)


def test_what_is_exported_is_what_is_there(packages):
    """Each name is found, is listed once and in order, and nothing else is."""
    for package in packages:
        assert sorted(package.__all__, key=str.lower) == sorted(
            set(package.__all__), key=str.lower
        )
        for name in package.__all__:
            assert getattr(package, name).__name__ == name
        with pytest.raises(AttributeError):
            package.NoSuchName  # noqa: B018 -- the access is what is tested


def test_twins_take_the_same_arguments(packages):
    """By name, kind and default; but for what one framework alone has a use for."""
    langchain, llamaindex = packages
    for name in langchain.__all__:
        own = {"self", *OWN_ARGUMENTS.get(name, ())}
        ours = _arguments(getattr(langchain, name), own)
        theirs = _arguments(getattr(llamaindex, _twin(name)), own)
        assert ours == theirs, name


def test_no_constructor_takes_more_than_nine_arguments(packages):
    """More would be more than a newcomer reads."""
    for package in packages:
        for name in package.__all__:
            taken = _arguments(getattr(package, name), {"self"})
            assert len(taken) <= 9, name


def _arguments(public, left_out):
    """Return the kind and the default of each argument that a user gives."""
    written = public.__init__ if inspect.isclass(public) else public
    parameters = inspect.signature(written).parameters.values()
    assert not any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
    return {p.name: (p.kind, p.default) for p in parameters if p.name not in left_out}


@pytest.mark.parametrize(
    ("package", "blocked", "extra"),
    [
        ("langchain_sdrag", "langchain_core", "langchain"),
        ("llamaindex_sdrag", "llama_index", "llamaindex"),
    ],
)
def test_a_missing_framework_is_one_clear_error(package, blocked, extra):
    """It names the command that mends it."""
    code = f"import sys; sys.modules[{blocked!r}] = None; import {package}"

    ended = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert f'pip install "sdrag[{extra}]"' in ended.stderr.splitlines()[-1]
