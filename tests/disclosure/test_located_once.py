"""What is withheld is a fact about a chunk: located once, for every question."""

from __future__ import annotations

import re
from shutil import copytree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.framework import local_embeddings
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

from ..support.properties import few

PERFORMER = PortRunner(Ports(embed=local_embeddings()))
NAMES = {"constraints": ["Remove names of witnesses"]}
_MARK = re.compile(r"\[[a-z-]+\]")


def engine(policy=NAMES, state=None, **options):
    return Engine(policy, state=state, **options)


def bound(passages, built):
    return run(bind(passages, built), PERFORMER)


def shown(passages, built, question=""):
    released = run(disclose(passages, Request(question), built), PERFORMER).passages
    return {one.id: one.text for one in released}


def chunks(*texts, document="d"):
    return [
        Passage(f"{document}-{n}", t, document_id=document) for n, t in enumerate(texts)
    ]


class TestTheRegister:
    """What one chunk says of a name is known in all others of its document."""

    def test_a_part_of_an_organisation(self):
        """Where it is no everyday word."""
        built = engine({"constraints": ["Names of customers and suppliers"]})
        bound(chunks("We signed with Pellucid Optics Court Ltd in May."), built)

        texts = shown(
            [Passage("later", "Then pellucid asked the court.", document_id="d")], built
        )

        assert texts["later"] == "Then [person] asked the court."


class TestOtherSplits:
    """A word hidden in one text of a document is hidden in all of them."""

    TEXT = (
        "The safe was opened with a stethoscope held to the door. Nobody heard the man "
        "from Toft. He had been told of it by Jonathan Crane, who left on 4 May 1961. "
        "Crane took a ferry. The weather was fine, and the harbour was quiet."
    )
    POLICY = {  # noqa: RUF012 -- never changed
        "constraints": [
            "Keep back how the safe was opened",
            "Remove names of witnesses",
            "Hide exact dates",
        ]
    }

    @pytest.fixture(scope="class")
    def in_sentences(self, tmp_path_factory):
        """The state that knows the sentences, and the words that they hide."""
        own = [span.of(self.TEXT) for span in sentences(self.TEXT)]
        state = tmp_path_factory.mktemp("bound") / "state.sqlite"
        built = engine(self.POLICY, state)
        bound(chunks(*own), built)
        return state, _hidden(own, built)

    @few
    @given(data=st.data())
    def test_overlaps_parents_and_windows(self, data, in_sentences, tmp_path_factory):
        """Cut at any place, overlapping or whole: met at a question."""
        state, hidden = in_sentences
        copy = tmp_path_factory.mktemp("met") / "bound"
        built = engine(self.POLICY, copytree(state.parent, copy) / state.name)
        words = self.TEXT.split(" ")
        start = data.draw(st.integers(0, len(words) - 4))
        end = data.draw(st.integers(start + 3, len(words)))
        window = Passage("w", " ".join(words[start:end]), document_id="d")

        seen = shown([window], built)["w"].split()

        assert not [w for w in seen if w.strip(".,") in hidden]

    def test_parents_bound_beside_children(self):
        """What only the parent's context gives away goes from the children too."""
        built = engine(self.POLICY)
        own = [span.of(self.TEXT) for span in sentences(self.TEXT)]
        parts = [*chunks(*own), Passage("parent", self.TEXT, document_id="d")]
        bound(parts, built)
        texts = shown(parts, built)

        children = _MARK.sub("", " ".join(texts[p.id] for p in parts[:-1]))
        parent = _MARK.sub("", texts["parent"])
        assert sorted(children.split()) == sorted(parent.split())


def _hidden(texts, built):
    """Return the words that some chunk hides and no chunk shows."""
    every = {w.strip(".,") for text in texts for w in text.split()}
    parts = chunks(*texts)
    seen = {
        w.strip(".,")
        for text in shown(parts, built).values()
        for w in _MARK.sub(" ", text).split()
    }
    return {word for word in every - seen if word}
