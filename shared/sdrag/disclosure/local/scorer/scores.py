"""Words of a text with their probabilities, by the network that comes along."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from threading import Lock
from typing import TYPE_CHECKING, Any

from sdrag.disclosure.local.scorer.windows import Tokens, tokenized
from sdrag.errors import InternalError, UsageError
from sdrag.extras import needs
from sdrag.minilm import installed, load_minilm
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.disclosure.local.scorer.network import LateInteraction

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Scores", "available", "score"]

_WEIGHTS = files(__package__).joinpath("weights.safetensors")
_BATCH = 8
_MOST_ASKED = 510
"""So many tokens of a constraint the network can read."""

_loading = Lock()


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Confidential):
    """
    How surely each word is withheld.

    Args:
        words: Where the words of the text stand, in order.
        chances: Probabilities, of shape (constraints, words).
    """

    words: tuple[Span, ...]
    chances: Matrix


def available() -> bool:
    """Say whether the weights, and what runs them, are installed."""
    return _WEIGHTS.is_file() and installed()


def score(text: str, constraints: Sequence[str]) -> Scores:
    """
    Read a text for all constraints at once.

    Args:
        text: Of any length: it is read in windows that overlap.
        constraints: Their words.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A constraint is longer than the network can read.
        InternalError: The weights are not those of this network.
    """
    with needs("local", "The trained scorer"):
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load them
        import torch  # noqa: PLC0415
    network, tokenizer = _loaded()
    tokens = tokenized(text, tokenizer)
    sums = np.zeros((len(constraints), len(tokens.ids)), dtype=np.float32)
    times = np.zeros(len(tokens.ids), dtype=np.float32)
    if constraints and tokens.ids:
        with torch.inference_mode():
            asked = _asked(network, tokenizer, constraints)
            for window, chances in _read(network, tokenizer, tokens, asked):
                sums[:, window.start : window.stop] += chances
                times[window.start : window.stop] += 1
    return _words(text, tokens, np.divide(sums, np.maximum(times, 1), out=sums))


def _asked(
    network: LateInteraction, tokenizer: Any, constraints: Sequence[str]
) -> tuple[Tensor, Tensor]:
    coded = [tokenizer(text, verbose=False)["input_ids"] for text in constraints]
    if (longest := max(map(len, coded))) > _MOST_ASKED:
        raise UsageError(
            f"A constraint has {longest} tokens; {_MOST_ASKED} can be read.",
            hint="Say it in fewer words, or in several constraints.",
        )
    ids, mask = _padded(coded)
    return network(ids, mask), mask


def _read(
    network: LateInteraction,
    tokenizer: Any,
    tokens: Tokens,
    asked: tuple[Tensor, Tensor],
) -> Iterator[tuple[range, Matrix]]:
    """Yield each window with a probability for each constraint and token in it."""
    windows = list(tokens.windows())
    for at in range(0, len(windows), _BATCH):
        batch = windows[at : at + _BATCH]
        first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
        ids, mask = _padded(
            [[first, *tokens.ids[w.start : w.stop], last] for w in batch]
        )
        sentences, _ = _padded(
            [[-1, *_from_zero(tokens.sentences[w.start : w.stop]), -1] for w in batch],
            -1,
        )
        logits = network.logits(network(ids, mask), sentences, *asked)
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The scorer gave something that is no number.")
        for window, rows in zip(batch, logits.sigmoid(), strict=True):
            yield window, rows[:, 1 : 1 + len(window)].numpy()


def _from_zero(numbers: Sequence[int]) -> list[int]:
    return [number - numbers[0] for number in numbers]


def _padded(rows: Sequence[Sequence[int]], filler: int = 0) -> tuple[Tensor, Tensor]:
    """Return rows as one tensor, and 1 where a row has something."""
    import torch  # noqa: PLC0415 -- see score

    tensors = [torch.tensor(row) for row in rows]
    there = [torch.ones(len(row), dtype=torch.long) for row in rows]
    pad = torch.nn.utils.rnn.pad_sequence
    return (
        pad(tensors, batch_first=True, padding_value=filler),
        pad(there, batch_first=True),
    )


def _words(text: str, tokens: Tokens, chances: Matrix) -> Scores:
    """Join the tokens of a word; a word is as sure as its surest token."""
    import numpy as np  # noqa: PLC0415 -- see score

    starts: list[int] = []
    words: list[Span] = []
    for place, span in enumerate(tokens.spans):
        if words and words[-1].end == span.start and _joined(text, span.start):
            words[-1] = Span(words[-1].start, span.end)
        else:
            starts.append(place)
            words.append(span)
    if not words:
        return Scores((), chances)
    return Scores(tuple(words), np.maximum.reduceat(chances, starts, axis=1))


def _joined(text: str, place: int) -> bool:
    return _in_word(text[place - 1]) and _in_word(text[place])


def _in_word(character: str) -> bool:
    """Say whether words are made of it: letters, digits and the marks on them."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _loaded() -> tuple[LateInteraction, Any]:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> tuple[LateInteraction, Any]:
    with needs("local", "The trained scorer"):
        from safetensors.torch import load_file  # noqa: PLC0415 -- see score

        from sdrag.disclosure.local.scorer.network import (  # noqa: PLC0415
            LateInteraction,
        )
    transformer: Any = load_minilm()[0]
    network = LateInteraction(transformer.auto_model)
    with as_file(_WEIGHTS) as path:
        weights = {name: value.float() for name, value in load_file(path).items()}
    if weights.keys() != dict(network.trained()).keys():
        raise InternalError("The weights are not those of the scorer's network.")
    network.load_state_dict(weights, strict=False)
    # A copy of its own: a tokenizer keeps padding as state, and threads share it.
    return network.eval(), copy.deepcopy(transformer.tokenizer)
