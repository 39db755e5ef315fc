"""What the trained head of names finds."""

import re
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sdrag.detectors.local.learned import Learned

from ..support.properties import few
from ..support.tables import each_row

TEXTS = tomllib.loads(Path(__file__).with_name("learned.toml").read_text("utf-8"))
PLAIN = [re.sub(r"\[\[|\]\]", "", text) for text in TEXTS["texts"]]


def find(text):
    return {(text[c.start : c.end], c.type) for c in Learned(text).found}


@each_row("text", TEXTS["texts"])
def test_it_finds_names_and_addresses_of_the_world_and_nothing_else(text):
    """In frames and with values that it was not trained on."""
    marked = set(re.findall(r"\[\[(.+?)\]\]", text))

    assert {words for words, _ in find(re.sub(r"\[\[|\]\]", "", text))} == marked


@few
@given(st.permutations(PLAIN), st.integers(1, 5))
def test_a_sentence_is_read_by_itself(texts, count):
    """Other sentences around it, in any order, neither add a name nor take one."""
    alone = set().union(*map(find, texts[:count]))

    assert find("\n\n".join(texts[:count])) == alone
