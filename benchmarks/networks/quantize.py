"""
Whole numbers in place of the weights of MiniLM's layers, for products in eight bits.

A layer's inputs are divided, number by number, by what is large in them, and its
weights multiplied by it instead (Xiao et al. 2023, SmoothQuant). Then the weights are
rounded one after another, each making up for the errors of those before it on the
inputs that the layer really has (Frantar et al. 2023, GPTQ). Any two neighbours of a
column are at most 128 together, so that no processor's sum of two products overflows
sixteen bits: with and without VNNI the same numbers come out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import Linear, Module

from benchmarks.networks.layers import pad
from benchmarks.networks.scorer import GateNetwork, LateInteraction
from benchmarks.scorer.texts import Text, read_texts
from sdrag.embeddings import load_tokenizer
from sdrag.embeddings.windows import CLS, SEP
from sdrag.text.sentences import sentences

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

LEAST_GELU = 0.17
"""What is added to an activation's outputs, so that none is negative."""
_SMOOTHING = 0.6
"""How far inputs are evened out at the cost of weights (SmoothQuant's alpha)."""
_PAIR = 128
"""Two neighbouring weights of a column are at most so large together."""
_DAMPING = 0.01
_BLOCK = 128
_TEXTS = 220
_WHOLE = 40
"""Texts that the layers read for their inputs, and how many of them in one piece."""
_MOST_TOKENS = 254
_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class Inputs:
    """
    What a layer was given.

    Args:
        products: Of each two numbers, summed over tokens: (inputs, inputs).
        largest: Of each number: (inputs).
    """

    products: Tensor
    largest: Tensor


def record_inputs(
    minilm: BertModel, scorer: LateInteraction, gate: GateNetwork
) -> dict[int, Inputs]:
    """Let the networks read texts; return what each layer was given, by its id."""
    inputs: dict[int, Inputs] = {}

    def record(linear: Module, given: tuple[Tensor, ...]) -> None:
        rows = given[0].reshape(-1, given[0].shape[-1])
        new = Inputs(rows.T @ rows, rows.abs().amax(0))
        old = inputs.get(id(linear), new)
        inputs[id(linear)] = (
            new
            if old is new
            else Inputs(
                old.products + new.products, torch.maximum(old.largest, new.largest)
            )
        )

    linears = {
        linear
        for network in (minilm, scorer.bert, gate.bert)
        for linear in find_linears(network.encoder)
    }
    hooks = [linear.register_forward_pre_hook(record) for linear in linears]
    with torch.no_grad():
        _read(minilm, scorer, gate)
    for hook in hooks:
        hook.remove()
    return inputs


def find_linears(layers: Module) -> Iterator[Linear]:
    """Yield the linear layers of a part of a network."""
    return (part for part in layers.modules() if isinstance(part, Linear))


def _read(minilm: BertModel, scorer: LateInteraction, gate: GateNetwork) -> None:
    """Read constraints, whole texts and sentences, as the package does."""
    draw = random.Random(5)
    texts = draw.sample(read_texts(), _TEXTS)
    asked = [draw.choice(text.secrets[0].wordings) for text in texts]
    constraints = pad([load_tokenizer().encode(text).ids for text in asked])
    for bert in (minilm, scorer.bert):
        bert(input_ids=constraints[0], attention_mask=constraints[1])
    view = gate.view(gate.begin(*constraints), constraints[1])
    for text in texts[:_WHOLE]:
        ids, mask = pad([_encode(text.body)])
        scorer.bert(input_ids=ids, attention_mask=mask)
        minilm(input_ids=ids, attention_mask=mask)
    pairs = sorted(_pair(texts, draw), key=lambda pair: len(pair[1]))
    for at in range(0, len(pairs), _TOGETHER):
        numbers, rows = zip(*pairs[at : at + _TOGETHER], strict=True)
        ids, mask = pad(rows)
        scorer.bert(input_ids=ids, attention_mask=mask)
        minilm(input_ids=ids, attention_mask=mask)
        gate(gate.begin(ids, mask), mask, view.of(torch.tensor(numbers)))


def _pair(
    texts: Sequence[Text], draw: random.Random
) -> Iterator[tuple[int, list[int]]]:
    """Yield three sentences of each text, with its number."""
    for number, text in enumerate(texts):
        parts = [span.of(text.body) for span in sentences(text.body)]
        for part in draw.sample(parts, min(3, len(parts))):
            yield number, _encode(part)


def _encode(text: str) -> list[int]:
    ids = load_tokenizer().encode(text, add_special_tokens=False).ids
    return [CLS, *ids[:_MOST_TOKENS], SEP]


def quantize(
    name: str, linears: Mapping[str, Linear], inputs: Mapping[int, Inputs]
) -> dict[str, Any]:
    """
    Return whole numbers for one linear layer, and what makes numbers of them again.

    Args:
        name: Of the layer.
        linears: All layers by name: those that read the same are smoothed alike.
        inputs: What each was given.

    Returns:
        `weight` of shape (inputs, outputs) in eight bits, `weight.scale` (outputs), and
        `smooth` (inputs), by which inputs are multiplied; behind an activation
        `offset` (outputs) too, what its shifted inputs bring too much.
    """
    linear = linears[name]
    together = [linears[other] for other in _read_alike(name, linears)]
    largest = torch.stack([part.weight.detach().abs().amax(0) for part in together])
    largest = largest.amax(0)
    given = inputs[id(linear)]
    even = given.largest.clamp(min=1e-3) ** _SMOOTHING
    even = even / largest.clamp(min=1e-4) ** (1 - _SMOOTHING)
    weight = linear.weight.detach() * even
    neighbours = weight[:, 0::2].abs() + weight[:, 1::2].abs()
    scale = neighbours.amax(1) / (_PAIR - 2)
    whole = _round(weight / scale[:, None], given.products / even / even[:, None])
    packed = {
        f"{name}.weight": whole.T.to(torch.int8),
        f"{name}.weight.scale": scale,
        name_smoothing(name): 1 / even,
    }
    if reads_activation(name):
        packed[f"{name}.offset"] = -LEAST_GELU * (whole * scale[:, None]) @ (1 / even)
    return {key: np.ascontiguousarray(row.numpy()) for key, row in packed.items()}


def reads_activation(name: str) -> bool:
    """Say whether a layer reads what an activation gives: nothing far below zero."""
    return name.endswith(".output.dense") and ".attention." not in name


def name_smoothing(name: str) -> str:
    """Return the name of what a layer's inputs are multiplied by."""
    kept = name.rpartition(".")[0] if ".attention.self." in name else name
    return f"{kept}.smooth"


def _read_alike(name: str, linears: Mapping[str, Linear]) -> list[str]:
    return [n for n in linears if name_smoothing(n) == name_smoothing(name)]


def _round(weight: Tensor, products: Tensor) -> Tensor:
    """Round the columns of a matrix in turn; later ones make up for earlier errors."""
    weight, count = weight.clone(), weight.shape[1]
    damped = products + torch.eye(count) * _DAMPING * products.diag().mean()
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped.double()))
    upper = torch.linalg.cholesky(inverse, upper=True).float()
    whole = torch.zeros_like(weight)
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        errors = torch.zeros_like(weight[:, block])
        for at in range(block.start, block.stop):
            column = weight[:, at].round().clamp(-_PAIR + 1, _PAIR - 1)
            if at % 2:
                room = _PAIR - whole[:, at - 1].abs()
                column = torch.sign(column) * torch.minimum(column.abs(), room)
            whole[:, at] = column
            error = (weight[:, at] - column) / upper[at, at]
            rest = slice(at + 1, block.stop)
            weight[:, rest] -= error[:, None] * upper[at, rest]
            errors[:, at - start] = error
        weight[:, block.stop :] -= errors @ upper[block, block.stop :]
    return whole
