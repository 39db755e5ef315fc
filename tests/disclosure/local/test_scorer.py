"""The trained scorer: which words a constraint withholds, in texts of any length."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.local import scorer
from sdrag.disclosure.local.scorer import decide, score
from sdrag.errors import InternalError, UsageError

SAFE = (
    "At the fish market nobody looked up. One man held a stethoscope to the door and"
    " listened while another turned the dial. The shop opens at nine."
)


def test_a_text_is_scored_word_by_word() -> None:
    """There is a probability for each constraint and each whole word."""
    (found,) = score([SAFE], ["Keep back how the safe was opened", "Remove the name"])

    assert [span.of(SAFE) for span in found.words][:3] == ["At", "the", "fish"]
    assert "stethoscope" in [span.of(SAFE) for span in found.words]
    assert found.chances.shape == (2, len(found.words))
    assert ((found.chances >= 0) & (found.chances <= 1)).all()


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


@given(st.text(st.sampled_from(ODD + "abc .,"), max_size=40))
def test_whatever_the_script_words_stand_where_they_are_said_to(text: str) -> None:
    """Marks, halves of characters and what cannot be seen leave offsets exact."""
    (found,) = score([f"Start. {text}"], ["Hide it"])

    assert found.words[0].of(f"Start. {text}") == "Start"
    assert all(a.end <= b.start for a, b in pairwise(found.words))
    assert found.words[-1].end <= len(f"Start. {text}")


@pytest.mark.parametrize(
    ("graph", "read"),
    [
        ("scorer", lambda: score([SAFE], ["Hide it"])),
        ("gate", lambda: decide([(0, SAFE)], ["Hide it"])),
    ],
)
@pytest.mark.parametrize("chance", [np.nan, np.inf])
def test_a_chance_that_is_no_number_withholds(monkeypatch, graph, read, chance) -> None:
    """It would compare as harmless."""
    load = scorer._load

    def broken(name, loaded):
        network = load(name, loaded)
        if loaded != graph:
            return network
        return SimpleNamespace(
            run=lambda **given: [each * chance for each in network.run(**given)]
        )

    monkeypatch.setattr(scorer, "_load", broken)

    with pytest.raises(InternalError):
        read()


def test_a_constraint_too_long_to_be_read_is_refused() -> None:
    """None is read in part and enforced as if it were whole."""
    with pytest.raises(UsageError, match="fewer words"):
        score([SAFE], ["Hide " + "everything about the lock " * 200])


def test_weights_of_another_network_are_refused(monkeypatch, tmp_path) -> None:
    """A file that does not fit is no scorer."""
    from safetensors.numpy import save_file  # noqa: PLC0415 -- with the extra only

    other = tmp_path / "weights.safetensors"
    save_file({"bias": np.zeros(2, np.float32)}, other)
    monkeypatch.setitem(scorer._WEIGHTS, "scorer", other)

    with pytest.raises(InternalError, match="not those"):
        score([SAFE], ["Hide it"])
