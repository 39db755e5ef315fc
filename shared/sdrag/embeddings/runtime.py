"""
Trained networks, run by ONNX Runtime on the processor.

A graph says what is computed and names its weights. Those that begin with `minilm:` are
the published ones and are held once for all networks; the others are in a file beside
the graph. `benchmarks/networks/export.py` writes the graphs.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import onnxruntime
from safetensors.numpy import load

from sdrag.embeddings import read_packaged
from sdrag.errors import InternalError

_PUBLISHED = "minilm:"
_WORDS = "word_embeddings.weight.scale"
"""Scales of the table of words: only those of words that are read are widened."""


class Network:
    """
    A graph with its weights. Threads share it: nothing of a call stays on it.

    Args:
        graph: What is computed, without weights.
        weights: Those that are not the published ones, where there are any.

    Raises:
        InternalError: They are not those of the graph.
    """

    def __init__(self, graph: Traversable, weights: Traversable | None = None) -> None:
        model = read_packaged(graph)
        published = _load(files(__package__).joinpath("minilm.safetensors"))  # type: ignore[arg-type]
        named = {_PUBLISHED + name: row for name, row in published.items()}
        named |= _load(weights) if weights else {}  # type: ignore[arg-type]
        held = {name: row for name, row in named.items() if _names(model, name)}
        options = onnxruntime.SessionOptions()
        options.add_external_initializers([*held], [*held.values()])
        options.intra_op_num_threads = count_threads()
        # Threads that spin while they wait take the processor from other processes.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False  # it keeps what the largest text took
        options.log_severity_level = 4  # an error is raised, and quotes no text
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise InternalError(
                f"The weights are not those of {graph.name}.",
                hint="Install sdrag again.",
            ) from error
        self._held = held  # the session reads them where they are

    def run(self, **inputs: Any) -> list[Any]:
        """Compute the outputs of the graph, in their order."""
        outputs: list[Any] = self._session.run(None, inputs)
        return outputs


def count_threads() -> int:
    """
    Return how many threads a network has; 0 is one for each processor.

    One process of several on the same processors says so by `OMP_NUM_THREADS`, a number
    or, for nested regions, a list of which the first counts.
    """
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() else 0


def _names(model: bytes, weights: str) -> bool:
    """Say whether a graph has weights of a name, which is field 8 of a tensor."""
    return bytes([8 << 3 | 2, len(weights)]) + weights.encode() in model


@cache
def _load(path: Traversable) -> dict[str, Any]:
    """Return weights: whole numbers as they are, others as numbers of 32 bits."""
    weights = {}
    for name, row in load(read_packaged(path)).items():
        half = row.dtype == np.float16 and not name.endswith(_WORDS)
        wide = row.astype(np.float32) if half else row
        weights[name] = onnxruntime.OrtValue.ortvalue_from_numpy(wide)
    return weights
