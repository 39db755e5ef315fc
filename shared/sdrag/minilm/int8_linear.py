"""
Products of a network in whole numbers of eight bits.

Each output's weights have a scale of their own, and so has each token's vector when it
is read (LLM.int8, Dettmers et al. 2022, section 2.1.1: vector-wise quantization). So no
text changes what another one gives. The sums are exact: they do not depend on the order
in which a processor adds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch.nn import Linear, Module

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Int8Linear", "put_int8"]

_LARGEST = 127
_EXACT = 2**24 // _LARGEST**2
"""So many products of such numbers can be added in float32 without rounding."""
_INSTRUCTIONS = ("avx512_vnni", "avx_vnni", "amx_int8")


class Int8Linear(Module):
    """
    A linear layer that is read, and not trained, in whole numbers.

    Args:
        linear: What it computes nearly; not changed.
    """

    weight: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        numbers, scale = _whole(linear.weight.detach())
        kind = torch.int8 if _is_fast() else torch.float32
        self.register_buffer("weight", numbers.T.to(kind))
        self.register_buffer("scale", scale.T.contiguous())
        self.register_buffer("bias", linear.bias.detach())

    def forward(self, states: Tensor) -> Tensor:
        """Read vectors: (..., inputs) become (..., outputs)."""
        numbers, scale = _whole(states.flatten(0, -2))
        sums = _product(numbers, self.weight)
        read = torch.addcmul(self.bias, sums.mul_(scale), self.scale)
        return read.view(*states.shape[:-1], -1)


def put_int8(module: Module) -> None:
    """Put such layers in the place of all linear layers of a module."""
    for name, child in module.named_children():
        if isinstance(child, Linear):
            setattr(module, name, Int8Linear(child))
        else:
            put_int8(child)


def _whole(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows as whole numbers from -127 to 127, and what one counts for."""
    scale = rows.abs().amax(1, keepdim=True).clamp_min_(1e-12).div_(_LARGEST)
    return (rows / scale).round_(), scale


def _product(numbers: Tensor, weight: Tensor) -> Tensor:
    """Multiply exactly, and round once: both ways give the same."""
    if weight.dtype == torch.int8:
        return torch._int_mm(numbers.to(torch.int8), weight).float()  # noqa: SLF001
    starts = range(0, len(weight), _EXACT)
    parts = [numbers[:, at : at + _EXACT] @ weight[at : at + _EXACT] for at in starts]
    return torch.stack(parts).sum(0)


@lru_cache(maxsize=1)
def _is_fast() -> bool:
    """Say whether this processor adds such products without a wider detour."""
    capabilities = getattr(torch.cpu, "get_capabilities", dict)  # since torch 2.6
    able: dict[str, bool] = capabilities()
    return any(able.get(name) for name in _INSTRUCTIONS)
