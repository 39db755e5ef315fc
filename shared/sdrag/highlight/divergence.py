"""
How far the guessed questions are from the one that was asked, measured outside.

Section 9: "the H&S pipeline could monitor the similarity between the user's question
and the question guessed by the summarizer. If there is too much divergence, the system
could be programmed to refuse to answer". The asker's words meet the guesses here, in
an embedding, and never in a prompt. The paper found the link with answer quality weak
(Pearson 0.04), so the default is to answer; what the measure does catch is a
highlighter that was led to another subject altogether.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.engine.steps import Steps, embed, replied

__all__ = ["similarity"]


def similarity(question: str, guesses: Sequence[str]) -> Steps[float]:
    """
    Give the greatest cosine similarity of the question to a guess, from -1 to 1.

    No guess is no likeness: 0.

    Raises:
        SdragError: The texts could not be embedded.
    """
    held = [guess for guess in guesses if guess.strip()]
    if not held:
        return 0.0
    asked, *guessed = yield from embed([question, *held])
    vector = replied(asked)
    return max(float(vector @ replied(outcome)) for outcome in guessed)
