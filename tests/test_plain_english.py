"""The documentation is in short sentences and common words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .support.prose import figures, sentences, words

ROOT = Path(__file__).parents[1]
LONGEST, MEDIAN = 25, 15
"""Words a sentence: in the longest of a page, and in half of its sentences at most."""

AVOIDED = {
    "aforementioned": "say which one",
    "are told": "are reported, or say who gets to know",
    "as ever": "as before",
    "beside": "next to, or in addition to",
    "besides": "also",
    "caught out": "say what happens",
    "document by document": "for each document",
    "e.g.": "for example",
    "easily": "leave it out",
    "etc.": "name the others, or say `such as`",
    "hence": "so",
    "i.e.": "that is",
    "in order to": "to",
    "is told": "is reported, or say who gets to know",
    "leverage": "use",
    "nobody's": "say who may not",
    "obviously": "leave it out",
    "out of the box": "by default",
    "powerful": "say what it does",
    "robust": "say against what",
    "seamless": "say what stays the same",
    "simply": "leave it out",
    "stand in": "are in",
    "stands in": "is stored in, or is in",
    "thereby": "so",
    "thereof": "of it",
    "thus": "so",
    "upon": "on",
    "utilize": "use",
    "whereby": "by which",
    "whilst": "while",
}
"""Words that stop a reader, and what to write for each."""

PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if page.name not in {"CHANGELOG.md", "THIRD_PARTY_NOTICES.md"}
]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page):
    """At most 25 words, and 15 in half of them."""
    text = (ROOT / page).read_text(encoding="utf-8")

    long = [one for one in sentences(text) if words(one) > LONGEST]
    assert not long
    assert figures(text).median <= MEDIAN


@pytest.mark.parametrize("page", PAGES)
def test_words_are_common(page):
    """A word that stops a reader has a plainer one; the message says which."""
    prose = " ".join(sentences((ROOT / page).read_text(encoding="utf-8"))).lower()
    found = {
        word: instead
        for word, instead in AVOIDED.items()
        if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", prose)
    }

    assert not found


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "# A heading\n\nOne two three. Four five.\n",
            ["One two three.", "Four five."],
        ),
        ("- one two\n- three\n", ["one two", "three"]),
        ("| a b | c |\n|---|---|\n| d. E | f |\n", ["a b", "c", "d.", "E", "f"]),
        ("```python\ncode. More\n```\nText.\n", ["Text."]),
        ("See `a.b C` now. `x` is y.\n", ["See Code now.", "Code is y."]),
        ("Read [a page](a.md).\nsdrag runs.\n", ["Read a page.", "sdrag runs."]),
        ("<!-- not run: a. B -->\n", []),
    ],
)
def test_what_a_sentence_is(page, expected):
    """Headings and code are none; items and cells are."""
    assert list(sentences(page)) == expected


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November"
_DATE = re.compile(rf"\b(?:{_MONTHS}|December)\s+20\d\d\b")
_COMMAND = re.compile(r"\bsdrag (?:eval|bind|demo)\b|\bpython benchmarks/|\bmake \w+")
_FIGURE = re.compile(r"\|\s*\**-?\d+\.\d+")
_DEFAULTS = re.compile(
    r"^\|[^\n]*\| default \|.*?(?=^[^|]|\Z)", re.MULTILINE | re.DOTALL
)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_figures_name_their_command_and_their_date(page):
    """A table of figures can be made again, and the reader knows how old it is."""
    text = _DEFAULTS.sub("", (ROOT / page).read_text(encoding="utf-8"))
    hidden = _FENCE.sub(lambda code: code[0].replace("\n#", "\n "), text)
    _, *parts = _HEADING.split(hidden)

    incomplete = {
        (page, heading)
        for heading, below in zip(parts[::2], parts[1::2], strict=True)
        if len(_FIGURE.findall(below)) >= 4
        and not (_DATE.search(below) and _COMMAND.search(below))
    }
    assert not incomplete
