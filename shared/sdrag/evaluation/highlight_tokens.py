"""
The paper's token measures, and its comparison with the gold passage.

"Recall: proportion of tokens in the reference answer [that] are present in the model's
response. K-Precision: proportion of tokens in the model's response that are present in
the gold passage" (Highlight & Summarize, Table 2, after Adlakha et al.). Tokens are
lower-case words; a response without any has precision 0.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Relation", "holds", "k_precision", "recall", "relation", "tokens"]

_TOKEN = re.compile(r"\w+")
Relation = Literal["exact", "substring", "superstring", "other"]


def tokens(text: str) -> list[str]:
    """Cut a text into lower-case words."""
    return _TOKEN.findall(text.lower())


def k_precision(response: str, gold: str) -> float:
    """Give the share of the response's tokens that stand in the gold passage."""
    said, known = tokens(response), set(tokens(gold))
    return sum(token in known for token in said) / len(said) if said else 0.0


def recall(response: str, reference: str) -> float:
    """Give the share of the reference's tokens that stand in the response."""
    wanted, said = tokens(reference), set(tokens(response))
    return sum(token in said for token in wanted) / len(wanted) if wanted else 0.0


def holds(response: str, answer: str) -> bool:
    """Say whether an answer stands in a response, up to case and whitespace."""
    return " ".join(answer.lower().split()) in " ".join(response.lower().split())


def relation(response: str, gold: str) -> Relation:
    """Compare a response with the gold passage as strings (section 8.2, Figure 8)."""
    said, known = " ".join(response.split()), " ".join(gold.split())
    if said == known:
        return "exact"
    if said and said in known:
        return "substring"
    return "superstring" if known and known in said else "other"
