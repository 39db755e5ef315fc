"""
Fine-tune an extractive model to return gold passages (section 4.1, DeBERTaV3 RepliQA).

The paper trains the model "to return the gold passage of an answer, rather than the
expected answer". The data are SQuAD-style files; the gold passage is `long_answer`, or
the sentence of the answer. Questions paired with another article's paragraph teach it
to decline.

    python benchmarks/tools/finetune_highlighter.py --data train.json --out model/ \
        --model microsoft/deberta-v3-base --epochs 2

`--tiny` trains a two-layer model from nothing with a tokenizer made of the data: it
learns little and proves that the script runs from data to a highlighter. Without
`--data` that is what is done, with a few questions of XQuAD where it is at hand.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import (
    AutoModelForQuestionAnswering,
    AutoTokenizer,
    BertConfig,
    BertForQuestionAnswering,
    PreTrainedTokenizerFast,
)

from benchmarks.suites.highlight import GoldQuestion, read_squad
from sdrag.effects.prompts import Label, untrusted
from sdrag.effects.steps import run
from sdrag.highlight.extractive import Extractive
from sdrag.highlight.protocol import Context
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage

LENGTH = 384
DATA = Path(os.environ.get("SDRAG_DATA", Path(__file__).parents[3] / "shared" / "data"))
XQUAD = DATA / "xquad" / "xquad.en.json"


def main() -> None:
    """Train, save, and highlight one question with what was trained."""
    options = parse()
    if options.data is None:
        options.data, options.tiny, options.limit = XQUAD, True, 24
        if not XQUAD.is_file():
            print(f"no XQuAD at {XQUAD}; pass --data")
            return
    random.seed(0)
    torch.manual_seed(0)
    data = read_squad(options.data)
    model, tokenizer = load(options, data)
    examples = list(pairs(data))[: options.limit]
    train(model, tokenizer, examples, options)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        model.save_pretrained(options.out)
        tokenizer.save_pretrained(options.out)
    show(model.eval(), tokenizer, data[0])


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, help="Nothing is kept without.")
    parser.add_argument("--model", default="microsoft/deberta-v3-base")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--limit", type=int, default=None)
    return parser.parse_args()


def load(options: argparse.Namespace, data: Sequence[GoldQuestion]) -> tuple[Any, Any]:
    """Load the model to start from, or make a tiny one."""
    if not options.tiny:
        tokenizer = AutoTokenizer.from_pretrained(options.model)
        return AutoModelForQuestionAnswering.from_pretrained(options.model), tokenizer
    tokenizer = tiny_tokenizer([f"{one.question} {one.context}" for one in data])
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=LENGTH,
    )
    return BertForQuestionAnswering(config), tokenizer


def tiny_tokenizer(texts: Sequence[str]) -> Any:
    """Train a small WordPiece tokenizer."""
    trained = BertWordPieceTokenizer()
    trained.train_from_iterator(texts, vocab_size=4_000, show_progress=False)
    names = ("unk", "sep", "pad", "cls", "mask")
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(trained.to_str()),
        **{f"{name}_token": f"[{name.upper()}]" for name in names},
    )


def pairs(data: Sequence[GoldQuestion]) -> Iterator[tuple[str, str, int, int]]:
    """Yield question, paragraph, start and end of the gold passage; -1 for none."""
    for one in data:
        start = one.context.find(one.gold) if one.gold else -1
        yield one.question, one.context, start, start + len(one.gold)
        if one.other is not None and random.random() < 0.25:
            yield one.question, one.other, -1, -1


def train(
    model: Any,
    tokenizer: Any,
    examples: list[tuple[str, str, int, int]],
    options: argparse.Namespace,
) -> None:
    """Train on the start and end of the gold passage."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    for epoch in range(options.epochs):
        random.shuffle(examples)
        losses = []
        for place in range(0, len(examples), options.batch):
            batch = encode(tokenizer, examples[place : place + options.batch])
            loss = model(**{key: value.to(device) for key, value in batch.items()}).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f}")
    model.to("cpu")


def encode(
    tokenizer: Any, examples: Sequence[tuple[str, str, int, int]]
) -> dict[str, torch.Tensor]:
    """Turn a batch into tokens, with the gold passage as token numbers; 0 is none."""
    encoded = tokenizer(
        [one[0] for one in examples],
        [one[1] for one in examples],
        truncation="only_second",
        max_length=LENGTH,
        padding=True,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    offsets = encoded.pop("offset_mapping").tolist()
    starts, ends = [], []
    for index, (_, _, start, end) in enumerate(examples):
        inside = [
            token
            for token, side in enumerate(encoded.sequence_ids(index))
            if side == 1 and start >= 0
            if offsets[index][token][0] < end and start < offsets[index][token][1]
        ]
        starts.append(inside[0] if inside else 0)
        ends.append(inside[-1] if inside else 0)
    return {
        **encoded,
        "start_positions": torch.tensor(starts),
        "end_positions": torch.tensor(ends),
    }


def show(model: Any, tokenizer: Any, asked: GoldQuestion) -> None:
    """Highlight with what was trained."""
    highlighter = Extractive(model, tokenizer, margin=-1e9)
    context = Context((Passage("p", asked.context),), Label.NONE)
    proposal = run(highlighter(untrusted(asked.question), context), Scripted())
    print(f"{len(proposal.extracts)} extract of {len(proposal.extracts[0])} characters")


if __name__ == "__main__":
    main()
