"""The trained scorer: which words a constraint withholds, in texts of any length."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.disclosure import local
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.local.scorer import Scores, score, scores
from sdrag.engine.steps import Reply, run
from sdrag.errors import InternalError, UsageError
from sdrag.minilm import packaged_network
from sdrag.testing import Scripted, toy_vectors
from sdrag.vocabulary import Constraint, Passage

scored_module = import_module("sdrag.disclosure.local.scorer_locator")

SAFE = (
    "At the fish market nobody looked up. One man held a stethoscope to the door and"
    " listened while another turned the dial. The shop opens at nine."
)


def _withheld(texts: list[str], constraint: str) -> list[set[str]]:
    passages = [Passage(str(n), text, document_id="d") for n, text in enumerate(texts)]
    outcomes = run(
        LocalLocator().locate(passages, [Constraint("c", constraint)]),
        Scripted(embed=toy_vectors),
    )
    return [
        {finding.span.of(text) for finding in outcome.value}
        for text, outcome in zip(texts, outcomes, strict=True)
        if isinstance(outcome, Reply)
    ]


def test_a_text_is_scored_word_by_word() -> None:
    """There is a probability for each constraint and each whole word."""
    (found,) = score([SAFE], ["Keep back how the safe was opened", "Remove the name"])

    assert [span.of(SAFE) for span in found.words][:3] == ["At", "the", "fish"]
    assert "stethoscope" in [span.of(SAFE) for span in found.words]
    assert found.chances.shape == (2, len(found.words))
    assert ((found.chances >= 0) & (found.chances <= 1)).all()


@pytest.mark.parametrize(("text", "asked"), [("", ["Hide it"]), ("A text.", [])])
def test_nothing_to_read_is_read(text: str, asked: list[str]) -> None:
    """An empty text has no words, and no constraint no row."""
    (found,) = score([text], asked)

    assert found.chances.shape == (len(asked), len(found.words))


def test_what_tells_a_secret_goes_and_its_neighbours_stay() -> None:
    """A constraint without a type to look up is understood."""
    (withheld,) = _withheld([SAFE], "Keep back how the safe was opened")

    assert {"stethoscope", "listened", "dial"} <= withheld
    assert not {"fish", "market", "nine"} & withheld


def test_a_rare_word_withheld_in_one_passage_goes_from_all() -> None:
    """What was cut out of one sentence must not stand in the next."""
    first, second = _withheld(
        [SAFE, "The museum showed a stethoscope."], "Keep back how the safe was opened"
    )

    assert "stethoscope" in first
    assert "stethoscope" in second


def test_a_text_scores_the_same_on_every_thread() -> None:
    """Nothing of a request is kept on the network."""
    asked = ["Keep back how the safe was opened"]
    texts = [SAFE, SAFE * 3, "A single line."] * 3
    alone = [score([text], asked)[0].chances for text in texts]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: score([text], asked)[0].chances, texts))

    assert all(
        np.allclose(a, b, atol=2e-4) for a, b in zip(alone, together, strict=True)
    )


BLOCKS = ((0x300, 48), (0x900, 64), (0x1100, 32), (0x200B, 5), (0xD800, 4), (0xDC00, 4))
MORE_BLOCKS = ((0xFB00, 6), (0xFF10, 80), (0xE0020, 32))
ODD = "".join(
    chr(first + n) for first, count in (*BLOCKS, *MORE_BLOCKS) for n in range(count)
)


@settings(deadline=None)  # the first example loads the model
@given(st.text(st.sampled_from(ODD + "abc .,"), max_size=40))
def test_whatever_the_script_words_stand_where_they_are_said_to(text: str) -> None:
    """Marks, halves of characters and what cannot be seen leave offsets exact."""
    (found,) = score([f"Start. {text}"], ["Hide it"])

    assert found.words[0].of(f"Start. {text}") == "Start"
    assert all(a.end <= b.start for a, b in pairwise(found.words))
    assert found.words[-1].end <= len(f"Start. {text}")


@pytest.mark.parametrize("code", ["a7kd", "bx9063", "naïve-7", "हिन्दी", "K", "½"])
def test_what_is_no_plain_word_can_be_withheld(monkeypatch, code) -> None:
    """Codes, other scripts and initials tell as much as words and numbers do."""
    monkeypatch.setattr(scored_module, "score", _sure_of_everything)
    text = f"He said {code} to the guard."
    (withheld,) = _withheld([text], "Hide what was said")

    assert set(re.findall(r"[^\s-]+", code)) <= {
        part for one in withheld for part in one.split("-")
    }


@pytest.mark.parametrize(
    ("constraint", "word"),
    [
        ("Remove names of witnesses", "witness"),
        ("Hide the boxes", "box"),
        ("Conceal the parties", "party"),
        ("Keep back the address", "addresses"),
        ("Hide the sum", "sums"),
    ],
)
def test_a_word_of_the_constraint_is_no_secret(monkeypatch, constraint, word) -> None:
    """What the constraint says itself stays, in the singular and the plural."""
    monkeypatch.setattr(scored_module, "score", _sure_of_everything)

    (withheld,) = _withheld([f"Then the {word} mattered."], constraint)

    assert word not in withheld
    assert "mattered" in withheld


@pytest.mark.parametrize("document", ["d", "x"])
def test_a_planted_passage_hides_no_other(monkeypatch, document) -> None:
    """What a sentence gives away goes, however sure the scorer is of its neighbours."""
    monkeypatch.setattr(scored_module, "score", _sure_of_shouting)
    passages = [
        Passage("real", "The key lay under a flowerpot.", document_id="d"),
        *(
            Passage(f"p{n}", "FLOWERPOT FLOWERPOTS CHIMNEYS.", document_id=document)
            for n in range(5)
        ),
    ]
    outcomes = run(
        LocalLocator(sensitivity=0.5).locate(
            passages, [Constraint("c", "Conceal how they got in")]
        ),
        Scripted(embed=toy_vectors),
    )

    real = {f.span.of(passages[0].text) for f in outcomes[0].value}
    assert "flowerpot" in real


@pytest.mark.parametrize("chance", [np.nan, np.inf])
def test_a_chance_that_is_no_number_withholds(monkeypatch, chance) -> None:
    """It would compare as harmless."""
    network, tokenizer = scores._loaded()

    class Broken:
        def read(self, rows):
            return network.read(rows)

        def logits(self, states, *rest):
            return network.logits(states, *rest) * chance

    monkeypatch.setattr(scores, "_loaded", lambda: (Broken(), tokenizer))

    with pytest.raises(InternalError):
        score([SAFE], ["Hide it"])


def test_a_constraint_too_long_to_be_read_is_refused() -> None:
    """None is read in part and enforced as if it were whole."""
    with pytest.raises(UsageError, match="fewer words"):
        score([SAFE], ["Hide " + "everything about the lock " * 200])


def test_without_the_model_there_is_no_scorer(monkeypatch) -> None:
    """What runs it has to be there, not the weights alone."""
    monkeypatch.setattr(packaged_network, "installed", lambda: False)

    assert not scores.available()


def _sure_of_everything(texts, constraints):
    return [
        Scores(found.words, np.full_like(found.chances, 0.9))
        for found in score(texts, constraints)
    ]


def _sure_of_shouting(texts, constraints):
    return [
        Scores(found.words, np.array([chances] * len(constraints), np.float32))
        for text, found in zip(texts, score(texts, constraints), strict=True)
        if (
            chances := [
                0.99 if span.of(text).isupper() else 0.35 for span in found.words
            ]
        )
    ]


def test_a_scorer_that_fails_withholds(monkeypatch) -> None:
    """Where meaning cannot be judged, no passage is vouched for."""

    def broken(_texts, _constraints):
        raise InternalError("no scores")

    monkeypatch.setattr(
        import_module("sdrag.disclosure.local.scorer_locator"), "score", broken
    )

    assert _withheld([SAFE], "Keep back how the safe was opened") == []


def test_weights_of_another_network_are_refused(monkeypatch, tmp_path) -> None:
    """A file that does not fit is no scorer."""
    from safetensors.torch import save_file  # noqa: PLC0415 -- with the extra only
    from torch import zeros  # noqa: PLC0415

    other = tmp_path / "weights.safetensors"
    save_file({"bias": zeros(1)}, other)
    monkeypatch.setattr(scores._NETWORK, "weights", other)
    monkeypatch.setattr(scores._NETWORK, "_loaded", None)

    with pytest.raises(InternalError, match="not those"):
        score([SAFE], ["Hide it"])


def test_without_the_weights_it_is_an_error(monkeypatch, tmp_path) -> None:
    """A file of the package is missing: no other engine takes its place in silence."""
    monkeypatch.setattr(scores._NETWORK, "weights", tmp_path / "none.safetensors")

    with pytest.raises(InternalError, match="has no weights"):
        local.LocalLocator().identity  # noqa: B018 -- reading it is the test


def test_it_is_ready_in_a_moment() -> None:
    """It is small enough to come along."""
    assert scores.available()
    assert scores._NETWORK.weights.stat().st_size < 15_000_000


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_threshold_rises_with_the_sensitivity(one: float, other: float) -> None:
    """The thresholds decide alone, so a higher sensitivity never withholds less."""
    low, high = sorted((one, other))
    at_low, at_high = (
        scored_module.Thresholds.at(low),
        scored_module.Thresholds.at(high),
    )

    for reading in ("alone", "whole"):
        for name in ("least", "with_types", "share"):
            before = getattr(getattr(at_low, reading), name)
            after = getattr(getattr(at_high, reading), name)
            assert 0 < after <= before + 1e-12 < 1
    assert 0 <= at_high.plain <= at_low.plain
    assert 0 < at_high.plain_in_cued <= at_low.plain_in_cued


def test_a_higher_sensitivity_withholds_all_that_a_lower_one_does() -> None:
    """On text that must be understood, and on text with cues."""
    text = f"{SAFE} She had a written warning. He opened the safe with a stethoscope."
    rules = [
        Constraint("a", "Keep back how the safe was opened"),
        Constraint("b", "Withhold disciplinary records"),
        Constraint("c", "Remove the names and how old they are"),
    ]
    withheld: list[set[tuple[str, int]]] = []
    for sensitivity in (0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        steps = LocalLocator(sensitivity=sensitivity).locate(
            [Passage("p", text)], rules
        )
        (outcome,) = run(steps, Scripted(embed=toy_vectors))
        withheld.append(
            {
                (finding.constraint_id, place)
                for finding in outcome.value
                for place in range(finding.span.start, finding.span.end)
            }
        )

    assert all(low <= high for low, high in pairwise(withheld))
    assert withheld[0] < withheld[-1]


@pytest.mark.parametrize("sensitivity", [-0.1, 1.1, float("nan")])
def test_a_sensitivity_is_a_number_from_0_to_1(sensitivity: float) -> None:
    """Another one is refused when the locator is built."""
    with pytest.raises(UsageError, match="sensitivity"):
        LocalLocator(sensitivity=sensitivity)
