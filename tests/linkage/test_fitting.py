"""Fit once, apply to a stream, follow the corpus as it changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Prompt
from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.linkage import Fitted, assess, fit
from sdrag.linkage.extractor import ModelExtractor
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Mention, Passage, Span

from ..support.scripted import Scripted, canary

WHO, FACT, TOWN = canary("who"), canary("fact"), canary("town")
PLAIN = {
    "resolution": {"meaning": False, "terms": False},
    "edge_threshold": 0.2,
    "max_chain_risk": 0.2,
}


def corpus() -> tuple[list[Passage], list[list[list[object]]]]:
    documents = [
        Passage("a", f"{WHO} came."),
        Passage("b", f"It was the {FACT}."),
        Passage("c", f"Seen in {TOWN}."),
    ]
    mentions: list[list[list[object]]] = [
        [[WHO, "", "NAME", 1.0]],
        [[FACT, "", "UNIQUE_FACT", 0.9]],
        [[TOWN, "", "LOCATION", 0.5]],
    ]
    return documents, mentions


def fitted() -> Fitted:
    documents, mentions = corpus()
    return fit(documents, PLAIN, mentions)


def test_an_id_that_holds_a_name_is_aliased():
    """Two ids stay two, and one stays one from call to call."""
    plan = fitted()
    (one,), (two,) = (plan.apply([Passage(f"{WHO} {n}", "x")]) for n in range(2))
    (again,) = plan.apply([Passage(f"{WHO} 0", "y")])
    assert WHO not in one.id + two.id
    assert one.id == again.id != two.id


FORMS = ["red kite", "Red Kite", "blue heron", "K 7719-203", "K7719203", "grey owl"]
entries = st.tuples(
    st.sampled_from(FORMS), st.just(""), st.just("UNIQUE_FACT"), st.just(1.0)
)
small = st.lists(st.lists(entries, max_size=3), min_size=1, max_size=5)

# A detector finds a form where it is marked, and nowhere else.
pieces = st.sampled_from([form for plain in FORMS for form in (plain, f"<{plain}>")])
written = st.lists(
    st.lists(pieces, max_size=3).map(lambda row: ". ".join(row) or "Closed."),
    min_size=1,
    max_size=5,
)


class Marked:
    """A detector that finds what stands between angle brackets."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        self.texts += texts
        yield from ()
        return try_each(self._found, texts)

    @staticmethod
    def _found(text: str) -> tuple[Mention, ...]:
        return tuple(
            Mention(Span(*match.span(1)), "UNIQUE_FACT", 0.9)
            for match in re.finditer("<([^>]*)>", text)
        )


class TestIncremental:
    """Following a change is as good as starting anew."""

    @given(small, small, st.integers(0, 4))
    def test_frequencies_and_graph_are_those_from_scratch(self, first, later, removed):
        """Risks, links and uniqueness, whatever is added and removed."""
        old = {f"a{n}": row for n, row in enumerate(first)}
        new = {f"b{n}": row for n, row in enumerate(later)}
        gone = [name for name in old if name == f"a{removed}"]
        update = fit(passages(old), PLAIN, entities=old).updated(
            passages(new), gone, entities=new
        )
        left = {k: v for k, v in (old | new).items() if k not in gone}
        scratch = assess(passages(left), left, PLAIN)
        followed = update.fitted.masked.assessment
        assert followed.links == scratch.links
        assert followed.document_risk == scratch.document_risk

    @given(small, small)
    def test_the_plan_holds_what_was_masked_and_meets_every_ceiling(self, first, later):
        """Stale are those earlier documents whose masked text is another."""
        old = {f"a{n}": row for n, row in enumerate(first)}
        new = {f"b{n}": row for n, row in enumerate(later)}
        plan = fit(passages(old), PLAIN, entities=old)
        update = plan.updated(passages(new), entities=new)
        before = {fold_text(f) for e in plan.masked.entities for f in e.forms}
        after = {fold_text(f) for e in update.fitted.masked.entities for f in e.forms}
        assert before <= after
        assert update.fitted.masked.plan.document_risk.max() <= 0.95 + 1e-9
        assert update.fitted.masked.plan.impossible_chains.size == 0
        texts = {d.id: d.text for d in update.fitted.masked.documents}
        changed = [d.id for d in plan.masked.documents if texts[d.id] != d.text]
        assert list(update.stale) == changed

    def test_only_changed_documents_are_detected(self):
        """The detector is given the new documents and no other."""
        detector = Marked()
        plan = fit([Passage("a", "One <red kite>.")], PLAIN, detector)
        plan.updated([Passage("b", "Two <grey owl>s.")], entities=detector)
        assert detector.texts == ["One <red kite>.", "Two <grey owl>s."]

    def test_only_new_forms_are_embedded(self):
        """What was compared by meaning before is not embedded again."""
        asked: list[str] = []

        def vectors(forms: Sequence[str]) -> list[list[float]]:
            asked.extend(forms)
            return [[1.0, 0.0] if "kite" in form else [0.0, 1.0] for form in forms]

        runner = Scripted(embed=vectors)
        old = {"a": [("red kite", "", "EVENT", 1.0), ("grey owl", "", "EVENT", 1.0)]}
        new = {"b": [("a red kite", "", "EVENT", 1.0)]}
        plan = fit(passages(old), entities=old, runner=runner)
        assert asked == ["red kite", "grey owl"]
        update = plan.updated(passages(new), entities=new, runner=runner)
        assert asked[2:] == ["a red kite"]
        resolved = update.fitted.masked.assessment.resolved
        assert {len(entity.forms) for entity in resolved.entities} == {1, 2}


def passages(rows: dict[str, list[tuple[object, ...]]]) -> list[Passage]:
    return [
        Passage(name, ". ".join(str(entry[0]) for entry in row) or "Closed.")
        for name, row in rows.items()
    ]


class TestModelExtractor:
    """Two readings of every document (section 4.2.2)."""

    @staticmethod
    def answer(prompt: Prompt) -> str:
        text = prompt.messages[-1].content.text
        document = text.rpartition("Document:")[2]
        rows = [[WHO, WHO.lower(), "NAME", 0.9]] if WHO in document else []
        if FACT in document and (
            FACT in text.partition("Document:")[0] or WHO in document
        ):
            rows.append([FACT, "", "UNIQUE_FACT", 0.8])
        rows.append(["not in the text", "", "NAME", 1.0])
        return "Here it is: " + json.dumps({"entities": rows})

    def test_the_second_reading_knows_the_first(self):
        """A detail found elsewhere is found here too; names are not handed on."""
        runner = Scripted(complete=self.answer)
        documents = [Passage("a", f"{WHO}, {FACT}."), Passage("b", f"Some {FACT}.")]
        result = fit(documents, PLAIN, ModelExtractor(), runner=runner).masked
        types = {entity.type for entity in result.assessment.resolved.entities}
        assert types == {"NAME", "UNIQUE_FACT"}
        assert len(result.assessment.links) == 1
        (_, again) = [e for e in runner.effects if hasattr(e.items[0], "messages")]
        known = again.items[1].messages[-1].content.text.partition("Document:")[0]
        assert FACT in known
        assert WHO not in known

    def test_new_and_old_are_read_with_what_is_known_of_the_other(self):
        """A new document with the old one's details; an old one for the new one's."""
        runner = Scripted(complete=self.answer)
        old = [Passage("a", f"{WHO}, {FACT}."), Passage("o", f"Just {FACT} here.")]
        plan = fit(old[:1], PLAIN, ModelExtractor(), runner=runner)
        update = plan.updated([old[1]], entities=ModelExtractor(), runner=runner)
        known = runner.effects[-1].items[-1].messages[-1].content.text
        assert FACT in known.partition("Document:")[0]
        assert WHO not in known.partition("Document:")[0]
        assert len(update.fitted.masked.assessment.links) == 1

        plan = fit(
            [Passage("o", f"Just {FACT} here.")], PLAIN, ModelExtractor(), runner=runner
        )
        assert plan.found == {"o": ()}
        asked = len(runner.effects)
        update = plan.updated([old[0]], entities=ModelExtractor(), runner=runner)
        assert all(len(effect.items) == 1 for effect in runner.effects[asked:])
        assert len(update.fitted.masked.assessment.links) == 1
