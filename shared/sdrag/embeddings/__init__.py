"""
The packaged all-MiniLM-L6-v2: embeddings with no API key, no download and no network.

ONNX Runtime runs it, as it runs the networks with trained layers. The published weights
are packed in eight bits: the cosine of a vector to the published one is some .999.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.errors import InternalError, require_extra
from sdrag.memo import Memo
from sdrag.text.folding import replace_surrogates
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from sdrag.embeddings.runtime import Network

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

DIMENSIONS = 384
_MOST_TOKENS = 256
"""With [CLS] and [SEP]; the published model was trained with no more."""
_logger = logging.getLogger("sdrag")
_loading = Lock()

_secret = secrets.token_bytes(32)
_vectors: Memo[bytes, Vector] = Memo(20_000)
"""Vectors by keyed hashes of texts; at most 30 MB."""


@lru_cache(maxsize=1)
def installed() -> bool:
    """Return True if the model, and what runs it, are installed."""
    needed = ("onnxruntime", "safetensors", "tokenizers")
    return all(map(importlib.util.find_spec, needed))


def has_network(feature: str, weights: Traversable) -> bool:
    """
    Return True if a trained network can be loaded; warn once where it cannot.

    Raises:
        InternalError: The extra `local` is installed and the file is missing: no other
            engine takes the network's place in silence.
    """
    if not installed():
        _warn(feature)
    elif not weights.is_file():
        raise InternalError(
            f"{feature} has no weights: a file of the package is missing.",
            hint="Install sdrag again.",
        )
    return installed()


def read_packaged(file: Traversable) -> bytes:
    """
    Read a file of a network if its hash is that in `SHA256SUMS`; callers keep it.

    Raises:
        InternalError: It is missing, or not the one that the package came with.
    """
    data = file.read_bytes() if file.is_file() else b""
    if hashlib.sha256(data).hexdigest() != _read_hashes().get(file.name):
        raise InternalError(
            f"The bytes of {file.name} are not those of the package.",
            hint="Install sdrag again.",
        )
    return data


@lru_cache(maxsize=1)
def _read_hashes() -> dict[str, str]:
    """Return the hashes by the names of files, which no two folders share."""
    lines = files("sdrag").joinpath("SHA256SUMS").read_text("ascii").splitlines()
    pairs = (line.split("  ", 1) for line in lines)
    return {path.rpartition("/")[2]: known for known, path in pairs}


@cache
def _warn(feature: str) -> None:
    _logger.warning(
        "%s is not used: the extra `local` is not installed. What only it finds rests"
        ' on the model alone. Run: pip install "sdrag[local]"',
        feature,
    )


@lru_cache(maxsize=1)
def load_tokenizer() -> Tokenizer:
    """Load the model's tokenizer; threads share it, so nothing may be set on it."""
    with require_extra("local", "The packaged MiniLM"):
        from tokenizers import Tokenizer  # noqa: PLC0415 -- extra
    coded = read_packaged(files(__name__).joinpath("tokenizer.json"))
    tokenizer: Tokenizer = Tokenizer.from_buffer(coded)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_network(graph: Traversable, weights: Traversable | None = None) -> Network:
    """
    Load a network that ships with the package, once a process.

    Raises:
        MissingExtraError: What runs it is not installed.
        InternalError: A file is not the one that the package came with.
    """
    with _loading:
        return _load(graph, weights)  # type: ignore[arg-type]


@cache
def _load(graph: Traversable, weights: Traversable | None) -> Network:
    with require_extra("local", "The packaged MiniLM"):
        from sdrag.embeddings.runtime import Network  # noqa: PLC0415 -- extra
    return Network(graph, weights)


def embed_texts(texts: Sequence[str]) -> Matrix:
    """
    Embed texts as rows of a (texts, 384) float32 matrix of unit length.

    Each is read alone, so its vector does not depend on the others. The vectors of
    recent texts are cached in this process, under keyed hashes.
    """
    keys = [_key(text) for text in texts]
    known = {key: _vectors.get(key) for key in keys}
    rows = {key: row for key, row in known.items() if row is not None}
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
    for key, (states, _) in zip(new, _read([*new.values()]), strict=True):
        rows[key] = to_unit_length(states.mean(axis=0))
        _vectors.put(key, rows[key])
    if not keys:
        return np.empty((0, DIMENSIONS), dtype=np.float32)
    return np.stack([rows[key] for key in keys])


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_secret, digest_size=16).digest()


@cache
def load_embedder(model: str) -> Callable[[Sequence[str]], Matrix]:
    """
    Return what embeds texts with another model of sentence-transformers.

    Args:
        model: A folder, or a name, which sentence-transformers may download.

    Raises:
        MissingExtraError: The extra `sentence-transformers` is not installed.
    """
    with require_extra("sentence-transformers", "Another embedding model"):
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 -- extra
    encode = SentenceTransformer(model).encode

    def embed(texts: Sequence[str]) -> Matrix:
        given = [*map(replace_surrogates, texts)]
        rows: Matrix = encode(given, normalize_embeddings=True, show_progress_bar=False)
        return rows

    return embed


def _read(texts: Iterable[str]) -> Iterator[tuple[Matrix, list[tuple[int, int]]]]:
    """Yield the states of each text's tokens, and their places; each is read alone."""
    for text in texts:
        coded = load_tokenizer().encode(replace_surrogates(text))
        # Of a text that is longer, its end is left out, but for [SEP].
        kept = [*range(len(coded.ids) - 1)][: _MOST_TOKENS - 1]
        ids = np.array([[*(coded.ids[at] for at in kept), coded.ids[-1]]])
        network = load_network(files(__name__).joinpath("minilm.onnx"))
        ((states,),) = network.run(ids=ids, mask=np.ones_like(ids, dtype=bool))
        yield states, [coded.offsets[at] for at in kept]


def to_unit_length(rows: Any) -> Any:
    """Return rows of unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def embed_tokens(texts: Sequence[str]) -> list[tuple[Matrix, tuple[Span, ...]]]:
    """
    Embed each token of each text in its context; each text is read alone.

    Gives, for each text, a (tokens, 384) float32 matrix of rows of unit length and the
    tokens' spans. What is beyond the model's 256 tokens is left out.
    """
    embedded: list[tuple[Matrix, tuple[Span, ...]]] = []
    for states, places in _read(texts):
        real = [at for at, (start, end) in enumerate(places) if start < end]
        spans = tuple(Span(*places[at]) for at in real)
        embedded.append((to_unit_length(states[real]), spans))
    return embedded
