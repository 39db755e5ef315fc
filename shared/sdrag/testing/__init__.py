"""
Fakes for tests of applications that use sdrag: a product, not a by-product.

`Scripted` answers effects from plain functions. The models are handed what constraints
protect, and answer the prompts of redaction by it: one is right, one stumbles over the
form of its replies, and one obeys orders that are in what it reads.
"""

from sdrag.testing.exact import ExactModel
from sdrag.testing.fakes import Scripted, canary, toy_vectors, verbatim
from sdrag.testing.hijacked import HijackedModel
from sdrag.testing.stumbling import StumblingModel
from sdrag.testing.witness_words import Protected

__all__ = [
    "ExactModel",
    "HijackedModel",
    "Protected",
    "Scripted",
    "StumblingModel",
    "canary",
    "toy_vectors",
    "verbatim",
]
