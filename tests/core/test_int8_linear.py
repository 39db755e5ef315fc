"""Layers in whole numbers: near to what they replace, exact, and each row alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from sdrag.detectors.tagger import tagging  # noqa: E402 -- torch comes first
from sdrag.minilm import int8_linear, load_minilm  # noqa: E402
from sdrag.minilm.int8_linear import Int8Linear, put_int8  # noqa: E402

SHAPES = [(384, 384), (384, 1536), (1536, 384), (10, 3)]


def _linear(inputs, outputs):
    torch.manual_seed(inputs + outputs)
    return torch.nn.Linear(inputs, outputs).requires_grad_(requires_grad=False)


@pytest.mark.parametrize(("inputs", "outputs"), SHAPES)
def test_it_is_near_to_the_layer_it_replaces(inputs, outputs):
    """One percent of the largest output, for the shapes of MiniLM."""
    linear = _linear(inputs, outputs)
    states = torch.randn(50, inputs)

    expected, found = linear(states), Int8Linear(linear)(states)

    assert (found - expected).abs().max() < 0.02 * expected.abs().max()


@pytest.mark.parametrize(("inputs", "outputs"), SHAPES)
def test_every_processor_gives_the_same(inputs, outputs, monkeypatch):
    """Without the instructions the same products are added, and bit for bit."""
    linear = _linear(inputs, outputs)
    states = torch.randn(50, inputs)
    found = {}
    for fast in (True, False):
        monkeypatch.setattr(int8_linear, "_is_fast", lambda fast=fast: fast)
        found[fast] = Int8Linear(linear)(states)

    assert torch.equal(found[True], found[False])


def test_the_largest_numbers_are_added_without_an_error():
    """No sum is cut off where all numbers are as large as they can be."""
    linear = _linear(1536, 4)
    linear.weight.fill_(1.0)
    linear.bias.zero_()

    found = Int8Linear(linear)(torch.ones(2, 1536))

    assert found.flatten().tolist() == pytest.approx([1536.0] * 8, rel=1e-6)


def test_a_large_row_takes_nothing_from_a_small_one():
    """Each row has a scale of its own: no text makes another's coarse."""
    layer = Int8Linear(_linear(384, 384))
    small, large = torch.randn(3, 384), 1e4 * torch.randn(3, 384)

    together = layer(torch.cat([small, large]))

    assert torch.equal(together[:3], layer(small))
    assert torch.equal(together[3:], layer(large))


def test_a_row_of_zeros_gives_the_bias():
    """Nothing is divided by nothing."""
    linear = _linear(384, 8)

    assert torch.equal(Int8Linear(linear)(torch.zeros(1, 384))[0], linear.bias)


def test_all_layers_of_a_module_are_replaced():
    """Those within its parts too."""
    inner = torch.nn.Sequential(_linear(4, 4), torch.nn.GELU())
    module = torch.nn.ModuleList([_linear(4, 4), inner])

    put_int8(module)

    assert isinstance(module[0], Int8Linear)
    assert isinstance(inner[0], Int8Linear)


def test_the_embedding_model_keeps_its_own_layers():
    """The networks share its lower layers as they were published."""
    from sdrag.disclosure.local.scorer import scores  # noqa: PLC0415

    network, _ = scores._loaded()
    bert, _ = load_minilm()

    assert any(isinstance(part, Int8Linear) for part in network.lower.modules())
    assert not any(isinstance(part, Int8Linear) for part in bert.modules())


def test_the_tagger_is_read_as_it_was_trained():
    """In whole numbers its precision falls by a hundredth."""
    network, _ = tagging._NETWORK.loaded()

    assert not any(isinstance(part, Int8Linear) for part in network.modules())
