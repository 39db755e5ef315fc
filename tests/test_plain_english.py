"""The documentation is in short sentences and common words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .support.prose import Figures, figures, sentences, words

ROOT = Path(__file__).parents[1]
LONGEST, MEDIAN = 25, 15
"""Words a sentence: in the longest of a page, and in half of its sentences at most."""

LONGER = {
    "docs/guardrails.md": Figures(44, 17.5),
    "docs/highlight.md": Figures(44, 17),
    "docs/linkage.md": Figures(31, 18),
}
"""Pages that are over a bound. These figures may only go down."""

AVOIDED = {
    "aforementioned": "say which one",
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
    "leverage": "use",
    "obviously": "leave it out",
    "out of the box": "by default",
    "powerful": "say what it does",
    "robust": "say against what",
    "seamless": "say what stays the same",
    "simply": "leave it out",
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

FOUND = {
    ("docs/guardrails.md", "caught out"): 1,
    ("docs/highlight.md", "beside"): 2,
    ("docs/linkage.md", "document by document"): 1,
}
"""Where such words are yet, and how often. These figures may only go down."""


PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if page.name not in {"CHANGELOG.md", "THIRD_PARTY_NOTICES.md"}
]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page):
    """At most 25 words; a page that is not there yet gets no worse."""
    text = (ROOT / page).read_text(encoding="utf-8")
    most = LONGER.get(page, Figures(LONGEST, MEDIAN))
    measured = figures(text)

    long = [one for one in sentences(text) if words(one) > most.longest]
    assert not long
    assert measured.median <= most.median


@pytest.mark.parametrize("page", PAGES)
def test_words_are_common(page):
    """A word that stops a reader has a plainer one; the message says which."""
    prose = " ".join(sentences((ROOT / page).read_text(encoding="utf-8"))).lower()
    found = {
        (page, word): number
        for word in AVOIDED
        if (number := len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", prose)))
    }

    worse = {key[1]: AVOIDED[key[1]] for key in found if found[key] > FOUND.get(key, 0)}
    assert not worse


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


UNDATED = {
    ("docs/highlight.md", "Cuts that turn their source around"),
    ("docs/highlight.md", "Figures"),
    ("docs/linkage.md", "How risk is counted"),
    ("docs/linkage.md", "Links without a shared value"),
    ("docs/local-engine.md", "What no form gives away"),
    ("docs/sd-rag.md", "Experiments"),
    ("docs/sd-rag.md", "How to read the ranking figures"),
}
"""Sections with tables of figures that lack a command or a date; none may be added."""

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November"
_DATE = re.compile(rf"\b(?:{_MONTHS}|December)\s+20\d\d\b")
_COMMAND = re.compile(r"\bsdrag (?:eval|bind|demo)\b|\bpython benchmarks/|\bmake \w+")
_FIGURE = re.compile(r"\|\s*\**-?\d+\.\d+")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_figures_name_their_command_and_their_date(page):
    """A table of figures can be made again, and the reader knows how old it is."""
    text = (ROOT / page).read_text(encoding="utf-8")
    hidden = _FENCE.sub(lambda code: code[0].replace("\n#", "\n "), text)
    _, *parts = _HEADING.split(hidden)

    incomplete = {
        (page, heading)
        for heading, below in zip(parts[::2], parts[1::2], strict=True)
        if len(_FIGURE.findall(below)) >= 4
        and not (_DATE.search(below) and _COMMAND.search(below))
    }
    assert incomplete <= UNDATED
