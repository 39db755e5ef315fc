"""Every Python example of the README and the docs runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from sdrag.disclosure.enforceable import not_understood
from sdrag.policy import Policy

ROOT = Path(__file__).parent.parent
# These pages run in tests of their own, which set up what they ask.
ELSEWHERE = {"migration.md", "recipes.md"}
PAGES = [
    ROOT / "README.md",
    *sorted(
        page for page in (ROOT / "docs").rglob("*.md") if page.name not in ELSEWHERE
    ),
]
_BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n *)?```(\w+)\n(.*?)```", re.DOTALL)
POLICY = "# policy.yaml\n"


def _blocks(page: Path) -> list[tuple[str, str, bool]]:
    return [
        (match.group(2), match.group(3), match.group(1) is None)
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def run_examples(page: Path) -> int:
    """Run a page's examples in one namespace; return how many there were."""
    namespace: dict[str, object] = {"__name__": "example"}
    ran = 0
    for language, code, runs in _blocks(page):
        if language == "yaml" and code.startswith(POLICY):
            Path("policy.yaml").write_text(code, encoding="utf-8")
        if language == "python":
            compiled = compile(dedent(code), page, "exec", dont_inherit=True)
            if runs:
                exec(compiled, namespace)  # noqa: S102 -- our own pages
            ran += 1
    return ran


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page's examples run in order; one that cannot says why, and must compile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")  # models are built, and not called

    assert run_examples(page) == page.read_text(encoding="utf-8").count("```python\n")


def test_the_readme_says_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's two examples print no name of a witness."""
    monkeypatch.chdir(tmp_path)
    run_examples(ROOT / "README.md")

    printed = capsys.readouterr().out
    assert printed.count("The witness, [person], saw a grey van.") == 2
    assert "Meyers" not in printed


def test_what_the_guide_calls_refused_is_refused() -> None:
    """Each example of the table needs a model, and each rewording does not."""
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    _, _, table = page.partition(
        "| reason | example | write instead |\n|---|---|---|\n"
    )
    rows = [line.split(" | ") for line in table.partition("\n\n")[0].splitlines()]

    assert len(rows) > 5
    for _, example, instead in rows:
        assert not_understood(Policy.read([example.removeprefix("| ")]))
        if instead.startswith("Hide"):
            assert not not_understood(Policy.read([instead.removesuffix(" |")]))


def test_every_promise_of_the_security_page_has_a_test_that_exists() -> None:
    """A promise names files of tests, and functions in them."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    section = page.partition("## Promises and their tests")[2].partition("\n## ")[0]
    for promise in re.findall(r"^- .*$", section, re.MULTILINE):
        named = re.findall(r"`([\w/]*test_\w+\.py)(?:::(test_\w+))?`", promise)
        assert named, promise
        for file, function in named:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert not function or f"def {function}(" in text, (file, function)
