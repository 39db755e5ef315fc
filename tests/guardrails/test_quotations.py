"""What an answer has in quotation marks stands in what it cites, word for word."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_sdrag import AnswerGuard
from sdrag.guardrails.statements.claims import find_quotations, is_quoted_from

TABLE = tomllib.loads(Path(__file__).with_name("quotations.toml").read_text("utf-8"))
POLICY = {"citations": {"require": ["presence", "validity", "accuracy"]}}
WORDS = st.lists(st.sampled_from(["tea", "pier", "was", "4.5", "Hull"]), min_size=1)


@pytest.mark.parametrize("row", TABLE["row"])
def test_a_quotation_is_looked_up_before_its_citation_counts(row):
    """In any marks; a bracket inside is the source's, where a citation follows."""
    guard = AnswerGuard(policy=POLICY, return_report=True)
    given = {"question": "What?", "answer": row["answer"]}
    report = guard.invoke({**given, "context": [Document(TABLE[row["source"]])]})
    assert (report["status"] == "checked") is row["true"]


@given(WORDS, WORDS, WORDS, st.sampled_from(['""', "“”", "„“", "«»", "‘’"]))
def test_whatever_is_copied_is_found(before, quoted, after, marks):
    """A quotation of whole words is found, and so are its parts around an ellipsis."""
    text = " ".join((*before, *quoted, *after))
    stretch = " ".join(quoted)
    (span,) = find_quotations(f"He said {marks[0]}{stretch}{marks[1]}.")
    assert span.of(f"He said {marks[0]}{stretch}{marks[1]}.") == stretch
    assert is_quoted_from(stretch, [text])
    assert is_quoted_from(f"{before[0]} ... {after[-1]}", [text])
    assert not is_quoted_from(f"{stretch} zebra", [text])
    assert not is_quoted_from(f"[{stretch} zebra] ...", [text])
