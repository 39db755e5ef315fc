"""
Graphs whose linear layers multiply whole numbers, and look up words in eight bits.

A function of a graph stands for each; what `quantize.py` puts beside the weights is
among its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.helper import make_function, make_node, make_opsetid

from benchmarks.networks.quantize import LEAST_GELU, name_smoothing, reads_activation

GROUP = 32
"""Numbers of a row of word embeddings that share a scale."""
LEAST = 1e-8
OPSET = 20
WORDS = "word_embeddings.weight"
_DOMAIN, _RUNTIME = "sdrag", "com.microsoft"


def name_weights(name: str, kind: int, shape: Sequence[int]) -> onnx.TensorProto:
    """Return weights that are in a file."""
    weights = onnx.TensorProto(name=name, data_type=kind, dims=shape)
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="weights")
    return weights


def multiply_whole_numbers(model: onnx.ModelProto) -> None:
    """Let the linear layers of MiniLM, and its table of words, take whole numbers."""
    held = {weights.name: weights for weights in model.graph.initializer}
    turned = {
        node.output[0]: node
        for node in model.graph.node
        if node.op_type == "Transpose" and node.input[0] in held
    }
    more: dict[str, onnx.TensorProto] = {}
    for node in model.graph.node:
        if node.op_type == "Gather" and node.input[0].endswith(WORDS):
            table = held[node.input[0]]
            rows, width = table.dims
            table.data_type = onnx.TensorProto.INT8
            name = f"{table.name}.scale"
            shape = [rows, width // GROUP]
            more[name] = name_weights(name, onnx.TensorProto.FLOAT16, shape)
            node.input.append(name)
            node.op_type, node.domain = "Words", _DOMAIN
        elif node.op_type == "MatMul" and node.input[1] in turned:
            turn = turned[node.input[1]]
            weights = held[turn.input[0]]
            name, _, kind = weights.name.rpartition(".")
            if kind != "weight" or not (".attention." in name or ".dense" in name):
                continue  # a head or a narrow pair, which are small
            if turn in model.graph.node:
                model.graph.node.remove(turn)
                width, count = weights.dims
                weights.data_type = onnx.TensorProto.INT8
                weights.dims[:] = [count, width]
            beside = {f"{weights.name}.scale": width, name_smoothing(name): count}
            node.op_type, node.domain = "Linear", _DOMAIN
            if reads_activation(name):
                beside[f"{name}.offset"] = width
                node.op_type = "LinearOfGelu"
            more |= {
                n: name_weights(n, onnx.TensorProto.FLOAT, [size])
                for n, size in beside.items()
            }
            node.input[:] = [node.input[0], weights.name, *beside]
    model.graph.initializer.extend(more.values())
    model.functions.extend([_LINEAR, _LINEAR_OF_GELU, _LOOK_UP])
    model.opset_import.extend([make_opsetid(_DOMAIN, 1), make_opsetid(_RUNTIME, 1)])


def _number(name: str, value: Any) -> onnx.NodeProto:
    tensor = onnx.numpy_helper.from_array(np.asarray(value))
    return make_node("Constant", [], [name], value=tensor)


def _function(
    name: str, inputs: Sequence[str], nodes: Sequence[onnx.NodeProto]
) -> onnx.FunctionProto:
    """Return a function of a graph, whose last node gives its output."""
    opset = [make_opsetid("", OPSET), make_opsetid(_RUNTIME, 1)]
    return make_function(_DOMAIN, name, inputs, nodes[-1].output, nodes, opset)


def _multiply(levels: int, zero: int) -> list[onnx.NodeProto]:
    """
    Return the nodes that multiply inputs in eight bits.

    Args:
        levels: Whole numbers between zero and the largest input of a token.
        zero: The whole number that stands for zero.
    """
    return [
        _number("levels", np.float32(levels)),
        _number("least", np.float32(LEAST)),
        _number("one", np.float32(1)),
        _number("zero", np.uint8(zero)),
        _number("last", np.array([-1])),
        make_node("ReduceMax", ["sizes", "last"], ["widest"], keepdims=1),
        make_node("Max", ["widest", "least"], ["range"]),
        make_node("Div", ["levels", "range"], ["finer"]),
        make_node("Mul", ["even", "finer"], ["fine"]),
        make_node("QuantizeLinear", ["fine", "one", "zero"], ["whole"]),
        make_node(
            "MatMulIntegerToFloat",
            ["whole", "weight", "one", "scale", "zero"],
            ["sums"],
            domain=_RUNTIME,
        ),
        make_node("Div", ["range", "levels"], ["coarser"]),
        make_node("Mul", ["sums", "coarser"], ["output"]),
    ]


_LINEAR = _function(
    "Linear",
    ["states", "weight", "scale", "smooth"],
    [
        make_node("Mul", ["states", "smooth"], ["even"]),
        make_node("Abs", ["even"], ["sizes"]),
        *_multiply(127, 128),
    ],
)
_LINEAR_OF_GELU = _function(
    "LinearOfGelu",
    ["states", "weight", "scale", "smooth", "offset"],
    [
        _number("lowest", np.float32(LEAST_GELU)),
        make_node("Add", ["states", "lowest"], ["positive"]),
        make_node("Mul", ["positive", "smooth"], ["even"]),
        make_node("Identity", ["even"], ["sizes"]),
        *_multiply(255, 0),
        make_node("Add", ["output", "offset"], ["moved"]),
    ],
)
"""What an activation gives is never below -.17, so no level is spent on less."""
_LOOK_UP = _function(
    "Words",
    ["table", "ids", "scale"],
    [
        _number("groups", np.array([0, 0, -1, GROUP])),
        _number("together", np.array([0, 0, -1])),
        _number("last", np.array([-1])),
        make_node("Gather", ["table", "ids"], ["whole"]),
        make_node("Cast", ["whole"], ["rows"], to=onnx.TensorProto.FLOAT),
        make_node("Reshape", ["rows", "groups"], ["grouped"]),
        make_node("Gather", ["scale", "ids"], ["half"]),
        make_node("Cast", ["half"], ["scales"], to=onnx.TensorProto.FLOAT),
        make_node("Unsqueeze", ["scales", "last"], ["each"]),
        make_node("Mul", ["grouped", "each"], ["scaled"]),
        make_node("Reshape", ["scaled", "together"], ["words"]),
    ],
)
