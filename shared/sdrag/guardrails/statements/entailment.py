"""
Does a text support a claim, contradict it, or not tell?

A small network decides, over the word pieces of both as the packaged MiniLM embeds
them: each piece of the claim is set against the pieces of the evidence that it is
closest to (decomposable attention, Parikh et al. 2016), and two narrow layers let it
attend to both texts. It was trained on claims written for this project: data, training
script and limits stand in benchmarks/claims/. It runs in NumPy, so only the embeddings
need the extra `local`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdrag.errors import InternalError
from sdrag.vocabulary import SCORE_DIGITS, Span

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[np.float32]]

_WEIGHTS = files(__package__).joinpath("entailment.safetensors")
_HEADS = 5
_LAYERS = 2
_SCALE = 8.0
"""Rows of unit length are this much larger in training."""
_MOST_PIECES = 256
"""Of evidence; what is further from its start is not read."""


class Pieces(NamedTuple):
    """The word pieces of a text, and a row of unit length for each: (pieces, 384)."""

    texts: tuple[str, ...]
    rows: Array

    @classmethod
    def join(cls, parts: Sequence[Pieces]) -> Pieces:
        """Join texts that were embedded one by one."""
        texts = tuple(text for part in parts for text in part.texts)
        return cls(texts, np.vstack([part.rows for part in parts]))


class Verdict(NamedTuple):
    """The probabilities that evidence supports a claim, and that it contradicts it."""

    supported: float
    contradicted: float


def pieces_of(text: str, rows: Array, spans: Sequence[Span]) -> Pieces:
    """Return the pieces of a text, as `embed_tokens` gives them."""
    return Pieces(tuple(span.of(text).lower() for span in spans), rows)


def judge(claim: Pieces, evidence: Pieces) -> Verdict:
    """
    Judge a claim by evidence.

    Raises:
        InternalError: A probability is no number.
    """
    if not claim.texts or not evidence.texts:
        return Verdict(0.0, 0.0)
    weights = _load()
    logits = _run(
        weights,
        claim.rows,
        evidence.rows[:_MOST_PIECES],
        np.array(claim.texts)[:, None] == np.array(evidence.texts[:_MOST_PIECES]),
    )
    if not np.isfinite(logits).all():
        raise InternalError("The judge of claims gave something that is no number.")
    supported, contradicted, _ = _softmax(logits).astype(float).round(SCORE_DIGITS)
    return Verdict(float(supported), float(contradicted))


@lru_cache(maxsize=1)
def _load() -> Mapping[str, Array]:
    from safetensors.numpy import load  # noqa: PLC0415 -- comes with `local`

    read = load(_WEIGHTS.read_bytes())
    return {name: row.astype(np.float32) for name, row in read.items()}


def _run(weights: Mapping[str, Array], claim: Array, known: Array, same: Any) -> Array:
    """Return the logits of supported, contradicted and not told."""

    def linear(name: str, rows: Array) -> Array:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, rows: Array) -> Array:
        centred = rows - rows.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        scaled: Array = centred / deviation * weights[f"{name}.weight"]
        return scaled + weights[f"{name}.bias"]

    def attend(query: Array, both: Array) -> Array:
        key, value = (_split(part) for part in np.split(both, 2, axis=-1))
        reach = _split(query) @ key.transpose(0, 2, 1) / key.shape[-1] ** 0.5
        attended = (_softmax(reach) @ value).transpose(1, 0, 2)
        return attended.reshape(len(query), -1)

    close = claim @ known.T
    reach = close * weights["tau"] + same * weights["same"]
    aligned = _softmax(reach) @ known
    nearest = np.stack([close.max(1), same.max(1)], axis=1)
    features = [claim * _SCALE, (claim - aligned) * _SCALE, claim * aligned * 60.0]
    states = linear("inp", np.hstack([*features, nearest]))
    context = norm("pn", linear("pp", known * _SCALE))
    for at in range(_LAYERS):
        block = f"blocks.{at}"
        own = norm(f"{block}.n1", states)
        own = attend(linear(f"{block}.q", own), linear(f"{block}.kv", own))
        states = states + linear(f"{block}.o", own)
        asked = linear(f"{block}.cq", norm(f"{block}.n2", states))
        read = attend(asked, linear(f"{block}.ckv", context))
        states = states + linear(f"{block}.co", read)
        inner = _gelu(linear(f"{block}.ff.0", norm(f"{block}.n3", states)))
        states = states + linear(f"{block}.ff.2", inner)
    pieces = linear("tok", states)
    pooled = np.hstack([states.mean(0), states.max(0), pieces.max(0)])
    return linear("head.3", _gelu(linear("head.0", pooled)))


def _split(rows: Array) -> Array:
    """Part rows among the heads of attention: (heads, pieces, width)."""
    return rows.reshape(len(rows), _HEADS, -1).transpose(1, 0, 2)


def _softmax(rows: Array) -> Array:
    powers = np.exp(rows - rows.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True), dtype=np.float32)


def _gelu(rows: Array) -> Array:
    cubic = (rows + 0.044715 * rows**3) * (2.0 / np.pi) ** 0.5
    return np.asarray(0.5 * rows * (1.0 + np.tanh(cubic)), dtype=np.float32)
